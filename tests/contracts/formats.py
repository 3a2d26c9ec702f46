"""The formats that are held to the contracts of exports, and episodes that each takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import pytest

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export import format_of
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.contracts.members import EPISODES, members
from tests.factories import make_job
from tests.render.store.rendered import rendered
from tests.render.uses.export.helpers import SPLITS

# These take episodes of a benchmark only; `eval` takes those of several.
OF_BENCHMARKS = {name: name for name in ("acme", "iwisdm", "kilogram", "malevic", "mewl")}
OF_BENCHMARKS |= {"eval": "malevic", "iwisdm-stimuli": "iwisdm"}
FORMATS = [name for name in members("exports") if name in OF_BENCHMARKS or not format_of(name).from_files]
# Formats for any episode have tests of faults that need the names of their files.
PLAIN = [name for name in FORMATS if name not in OF_BENCHMARKS]
EACH = pytest.mark.parametrize("name", FORMATS, indirect=True)
_MORE = {"demo/f": "train", "demo/g": "val"}


@lru_cache(maxsize=16)
def all_records(name: str) -> list[EpisodeRecord]:
    """Seven episodes that a format takes, in the order of their ids."""
    if name not in OF_BENCHMARKS:
        keys = {**SPLITS, **_MORE}
        return [rendered(key, seed=number, split=split) for number, (key, split) in enumerate(keys.items())]
    benchmark = OF_BENCHMARKS[name]
    given = {**EPISODES[benchmark], **({} if benchmark == "kilogram" else {"count": 7})}
    specs = islice(diorama.generate(benchmark, **given), 7)
    made = (
        make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), make_job(spec), settings_for("draft", 64, 48))
        for spec in specs
    )
    return sorted(made, key=lambda record: record.episode_id)


def records(name: str) -> list[EpisodeRecord]:
    """The first five of them."""
    return all_records(name)[:5]


def store_of(folder: Path, chosen: Sequence[EpisodeRecord]) -> LanceStore:
    """A store of some episodes, put in another order than that of their ids."""
    store = LanceStore.create(str(folder), fsync=False)
    store.put(chosen[::-1])
    return store
