"""CLEVR episodes: each alone, uniform, and CoGenT as published."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.clevr import Options
from diorama.scene_specs.benchmarks.clevr.random_scenes import COGENT, clevr_spec
from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.language.vocabulary import COLORS, SHAPES
from diorama.scene_specs.model.spec import EpisodeSpec


def drawn(index: int = 0, **options: Any) -> EpisodeSpec:
    return clevr_spec(Options(count=0, **options), index)


@given(st.integers(0, 50), st.integers(0, 2**63 - 1), st.sampled_from([None, "A", "B"]))
def test_episodes_are_valid_and_their_ids_differ(index: int, seed: int, cogent: str | None) -> None:
    run = [drawn(number, objects=(0, 10), split="val", seed=seed, cogent=cogent) for number in range(index + 1)]
    assert not diagnostics_with_plugins(run[index])
    assert len({spec.id for spec in run}) == index + 1


def test_seed_split_and_index_change_what_is_drawn() -> None:
    base = drawn(objects=(10, 10)).frames
    others = [drawn(1, objects=(10, 10)), drawn(objects=(10, 10), split="val"), drawn(objects=(10, 10), seed=1)]
    assert all(other.frames != base for other in others)


def test_counts_and_attributes_are_uniform() -> None:
    specs = [drawn(index) for index in range(1600)]
    counts = Counter(len(spec.frames[0].objects) for spec in specs)
    assert set(counts) == set(range(3, 11))
    # Expected 200 each, standard deviation 13: five of them.
    assert all(abs(number - 200) < 66 for number in counts.values())
    objects = [item for spec in specs for item in spec.frames[0].objects]
    looks = Counter((item.shape, item.color, item.material, item.size) for item in objects)
    assert len(looks) == 96
    share = len(objects) / 96
    chi_squared = sum((number - share) ** 2 / share for number in looks.values())
    # 95 degrees of freedom: mean 95, standard deviation 13.8.
    assert chi_squared < 95 + 5 * 13.8


@pytest.mark.parametrize("condition", ["A", "B"])
def test_cogent_gives_exactly_its_pairs(condition: str) -> None:
    specs = [drawn(index, cogent=condition) for index in range(400)]
    seen = {(item.shape, item.color) for spec in specs for item in spec.frames[0].objects}
    assert seen == {(shape, color) for shape, color in product(SHAPES, COLORS) if color in COGENT[condition][shape]}


def test_cogent_has_ids_of_its_own() -> None:
    assert len({drawn(cogent=condition).id for condition in (None, "A", "B")}) == 3


@pytest.mark.parametrize(
    ("objects", "split"), [((5, 3), "train"), ((0, 11), "train"), ((-1, 3), "train"), ((3, 10), "../x"), ((3, 10), "")]
)
def test_wrong_arguments_are_named(objects: tuple[int, int], split: str) -> None:
    with pytest.raises(SpecError, match="found"):
        drawn(objects=objects, split=split)
