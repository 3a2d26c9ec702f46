"""CLEVR episodes: each alone, uniform, and CoGenT as published."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scene_specs.benchmarks.clevr.random_scenes import clevr_spec, clevr_specs
from scene_specs.checks.semantics import spec_diagnostics
from scene_specs.language.errors import SpecError
from scene_specs.language.vocabulary import COGENT, COLORS, SHAPES


@given(st.integers(0, 50), st.integers(0, 2**63 - 1), st.sampled_from([None, "A", "B"]))
def test_an_episode_made_alone_is_the_one_of_the_run(index: int, seed: int, cogent: str | None) -> None:
    run = list(clevr_specs(index + 1, (0, 10), "val", seed, cogent))
    assert run[index] == clevr_spec(index, (0, 10), "val", seed, cogent)
    assert not spec_diagnostics(run[index])
    assert len({spec.id for spec in run}) == index + 1


def test_seed_split_and_index_change_what_is_drawn() -> None:
    base = clevr_spec(0, (10, 10), "train", 0).frames
    others = [clevr_spec(1, (10, 10)), clevr_spec(0, (10, 10), "val"), clevr_spec(0, (10, 10), seed=1)]
    assert all(other.frames != base for other in others)


def test_counts_and_attributes_are_uniform() -> None:
    specs = list(clevr_specs(1600, (3, 10)))
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
    specs = clevr_specs(400, (3, 10), "train", 0, condition)
    seen = {(item.shape, item.color) for spec in specs for item in spec.frames[0].objects}
    assert seen == {(shape, color) for shape, color in product(SHAPES, COLORS) if color in COGENT[condition][shape]}


def test_cogent_has_ids_of_its_own() -> None:
    assert len({clevr_spec(0, cogent=condition).id for condition in (None, "A", "B")}) == 3


@pytest.mark.parametrize(
    "arguments", [((5, 3), "train"), ((0, 11), "train"), ((-1, 3), "train"), ((3, 10), "../x"), ((3, 10), "")]
)
def test_wrong_arguments_are_named(arguments: tuple[tuple[int, int], str]) -> None:
    with pytest.raises(SpecError, match="found"):
        clevr_spec(0, *arguments)
