"""Small stores of all benchmarks with items."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.factories import make_job

OPTIONS: dict[str, dict[str, Any]] = {
    "mewl": {"task": "all", "split": "test"},
    "malevic": {"name": "pos1", "split": "val", "count": 1000},
    "kilogram": {"condition": "four", "contexts": 1},
    "iwisdm": {"benchmark": "high", "count": 1000},
    "icca": {"contexts": 1000},
}
# Without items of its own.
SCENES: dict[str, dict[str, Any]] = {"clevr": {"count": 1000, "objects": (6, 9)}}


@lru_cache(maxsize=16)
def episodes(name: str, count: int = 2) -> list[EpisodeRecord]:
    """A few episodes of a benchmark, from the fake renderer; of MEWL one of each task."""
    # Nine tasks.
    each = {"count": -(-count // 9)} if name == "mewl" else {}
    count = 9 * each["count"] if each else count
    specs = [dict(spec) for spec in islice(diorama.generate(name, **{**OPTIONS, **SCENES}[name], **each), count)]
    settings = settings_for("draft", *((96, 72) if name in SCENES else (32, 24)))
    return [make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), make_job(spec), settings) for spec in specs]


def eval_store(folder: Path, *names: str, episodes_each: int = 2) -> LanceStore:
    """A store with episodes of these benchmarks, by default of all."""
    store = LanceStore.create(str(folder / "eval.lance"), fsync=False)
    store.put([record for name in names or OPTIONS for record in episodes(name, episodes_each)])
    return store
