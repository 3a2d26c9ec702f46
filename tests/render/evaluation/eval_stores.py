"""Small stores of all benchmarks with items."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import diorama
from render.episode.make_record import make_record
from render.model.profiles import settings_for
from render.model.record import EpisodeRecord
from render.renderers.fake import FakeRenderer
from render.store.lance.lance_store import LanceStore
from scene_specs.language.spec import EpisodeSpec
from tests.factories import make_job

OPTIONS: dict[str, dict[str, Any]] = {
    "mewl": {"task": "all", "split": "test", "count": 1},
    "malevic": {"name": "pos1", "split": "val", "count": 2},
    "kilogram": {"condition": "four", "contexts": 1},
    "iwisdm": {"benchmark": "high", "count": 2},
    "icca": {"contexts": 1},
}


@lru_cache(maxsize=8)
def episodes(name: str) -> list[EpisodeRecord]:
    """A few episodes of a benchmark, from the fake renderer."""
    specs = [dict(spec) for spec in islice(diorama.generate(name, **OPTIONS[name]), 9 if name == "mewl" else 2)]
    settings = settings_for("draft", 32, 24)
    return [make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), make_job(spec), settings) for spec in specs]


def eval_store(folder: Path, *names: str) -> LanceStore:
    """A store with episodes of these benchmarks, by default of all."""
    store = LanceStore.create(str(folder / "eval.lance"), fsync=False)
    store.put([record for name in names or OPTIONS for record in episodes(name)])
    return store
