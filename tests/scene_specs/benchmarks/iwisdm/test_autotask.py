"""The space of tasks is counted exactly, gone through without repeats, and never searched without an end."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scene_specs.benchmarks.iwisdm.autotask import (
    AutoTasks,
    TaskSpace,
    assignment,
    count_assignments,
    count_delays,
    delay_lengths,
    frame_positions,
)
from scene_specs.benchmarks.iwisdm.autotask_config import AutoTaskConfig, benchmark, read_config
from scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from scene_specs.benchmarks.iwisdm.operator_trees import Structure
from scene_specs.language.errors import SpecError
from tests.marks import slow

USES = st.tuples(*(st.integers(0, 3) for _ in range(3))).filter(any)
LEVELS = ("low", "medium", "high", "single-frame")
CHOICES = ("all", "category", "location", "identity")
PAIRS = [(level, choice) for level in LEVELS for choice in CHOICES if (level, choice) != ("single-frame", "identity")]


@given(USES, st.integers(1, 5))
def test_ways_to_look_are_counted_as_by_listing_them(uses: tuple[int, ...], objects: int) -> None:
    groups = [list(permutations(range(objects), use)) for use in uses]
    listed = [way for way in product(*groups) if {frame for group in way for frame in group} == {*range(objects)}]
    assert count_assignments(uses, objects) == len(listed)
    numbers = range(len(listed)) if len(listed) < 300 else range(0, len(listed), len(listed) // 100)
    found = [assignment(uses, objects, number) for number in numbers]
    assert len({*found}) == len(found)
    assert {*found} <= {*listed}


@given(st.integers(0, 5), st.integers(0, 6), st.one_of(st.none(), st.integers(1, 3)))
def test_delays_are_counted_as_by_listing_them(gaps: int, count: int, longest: int | None) -> None:
    most = count if longest is None else longest
    listed = {way for way in product(range(most + 1), repeat=gaps) if sum(way) == count}
    assert count_delays(gaps, count, longest) == len(listed)
    assert {delay_lengths(gaps, count, longest, number) for number in range(len(listed))} == listed


def test_positions_have_the_delays_between_them() -> None:
    assert frame_positions((0, 2, 1)) == (0, 1, 4, 6)


def test_low_has_as_many_structures_as_the_published_code_can_draw() -> None:
    """Facts, "surprises": 8 for each property alone, 72 for all."""
    assert {choice: TaskSpace(benchmark("low", choice)).structures for choice in CHOICES} == {
        "all": 72, "category": 8, "location": 8, "identity": 8,
    }  # fmt: skip


def trees_by_hand(config: AutoTaskConfig, switch: bool) -> Counter[tuple[int, int]]:
    """Count of questions by (joints, constants), of one property whose comparisons may have a constant."""
    atoms = Counter({(0, 0): 2, (0, 1): 4 if config.constant else 0})
    joints: Counter[tuple[int, int]] = Counter()
    for (_, a), n in atoms.items():
        for (_, b), m in atoms.items():
            joints[1, a + b] += 2 * n * m
    questions = atoms + joints
    if not switch:
        return questions
    found: Counter[tuple[int, int]] = Counter()
    for three in product(questions.items(), repeat=3):
        key = (sum(j for (j, _), _ in three), sum(c for (_, c), _ in three))
        found[key] += three[0][1] * three[1][1] * three[2][1]
    return found


@pytest.mark.parametrize(("level", "choice"), [("low", "category"), ("medium", "location"), ("medium", "identity")])
def test_structures_are_as_many_as_counted_by_hand(level: str, choice: str) -> None:
    config = benchmark(level, choice)
    switch = level != "low"
    least, frames = config.joins[0], config.frames[0]
    fits = 0
    for (joints, constants), count in trees_by_hand(config, switch).items():
        selects = 2 * (joints + 1 + 2 * switch) - constants
        # All look at different frames, and every delay stands alone between two objects.
        if joints == least and selects <= frames <= 2 * selects - 1:
            fits += count
    assert TaskSpace(config).structures == fits


@pytest.mark.parametrize(("level", "choice"), [("low", "identity"), ("single-frame", "all")])
def test_every_number_is_another_task(level: str, choice: str) -> None:
    space = TaskSpace(benchmark(level, choice))
    assert len({space.task(number) for number in range(space.tasks)}) == space.tasks
    rng = KeyedRng(0, "every", "structure")
    drawn = (space.draw_with_structure(number, rng) for number in range(space.structures))
    assert len({task.structure for task in drawn}) == space.structures
    with pytest.raises(IndexError):
        space.task(space.tasks)


def count_of(structure: Structure, *names: str) -> int:
    return (structure[0] in names) + sum(count_of(child, *names) for child in structure[1:] if isinstance(child, tuple))


@pytest.mark.parametrize(("level", "choice"), PAIRS)
def test_draws_obey_the_configuration(level: str, choice: str) -> None:
    config = benchmark(level, choice)
    space = TaskSpace(config)
    rng = KeyedRng(5, level, choice)
    for drawn in (space.draw(rng) for _ in range(150)):
        assert config.frames[0] <= drawn.frames <= config.frames[1]
        assert config.joins[0] <= count_of(drawn.structure, "And", "Or") <= config.joins[1]
        assert count_of(drawn.structure, "Switch") == (level in ("medium", "high"))
        shown = sorted({*drawn.looks})
        assert (shown[0], shown[-1]) == (0, drawn.frames - 1)
        assert max((b - a for a, b in pairwise(shown)), default=1) <= 2


def test_nested_switches_and_joints() -> None:
    config = AutoTaskConfig(
        properties=("location",), roots=("IsSame", "And"), booleans=("IsSame", "And"), frames=(4, 20), joins=(2, 4),
        longest_delay=None, max_delays=2, max_depth=6, max_operators=24, switch_probability=0.6, max_switches=2,
    )  # fmt: skip
    space = TaskSpace(config)
    drawn = [space.draw(KeyedRng(number, "x", "nested")).structure for number in range(300)]
    assert {count_of(structure, "Switch") for structure in drawn} == {0, 1, 2}
    assert {count_of(structure, "And") for structure in drawn} == {2, 3, 4}


@pytest.mark.parametrize("unique", ["structure", "frames", "none"])
def test_a_space_is_exhausted_and_no_more(unique: str) -> None:
    space = TaskSpace(benchmark("low", "location"))
    size = {"structure": 8, "frames": 576, "none": 700}[unique]
    tasks = AutoTasks(space, 1, "all of them", unique, size)
    found = {json_of(tasks, number, unique) for number in range(size)}
    assert len(found) == (size if unique != "none" else len(found))
    if unique == "none":
        return
    with pytest.raises(SpecError):
        tasks.task(size)


def json_of(tasks: AutoTasks, number: int, unique: str) -> str:
    data = str(tasks.task(number).task.data())
    if unique != "structure":
        return data
    return "".join("n" if letter.isdigit() else letter for letter in data)


@pytest.mark.parametrize(("level", "choice"), PAIRS)
@pytest.mark.parametrize("unique", ["structure", "frames"])
@pytest.mark.timeout(180)
def test_asking_for_more_than_there_is_says_how_many_at_once(level: str, choice: str, unique: str) -> None:
    space = TaskSpace(benchmark(level, choice))
    size = space.structures if unique == "structure" else space.tasks
    with pytest.raises(SpecError, match=f"there are {size}"):
        AutoTasks(space, 1, "x", unique, size + 1)


def test_an_empty_space_says_so() -> None:
    config = benchmark("low", "identity").model_copy(update={"max_delays": 1})
    with pytest.raises(SpecError, match="no task fits the configuration"):
        AutoTasks(TaskSpace(config), 1, "x")


def test_a_configuration_is_read_and_refused() -> None:
    given = '{"properties": ["category"], "roots": ["IsSame"], "frames": [2, 5], "joins": [0, 0]}'
    assert read_config(given).frames == (2, 5)
    for text, problem in [
        (given.replace("[2, 5]", "[5, 2]"), "minimum 5 above maximum 2"),
        (given.replace("category", "colour"), "found property 'colour'"),
        (given.replace('"joins"', '"joints"'), r"joints: found \[0, 0\]: Extra inputs"),
        ("{", "invalid JSON"),
        ("[" * 100_000, "mine.json: invalid JSON: nested too deeply"),
    ]:
        with pytest.raises(SpecError, match=problem):
            read_config(text, "mine.json")
    with pytest.raises(SpecError, match="can't be asked about identity"):
        benchmark("single-frame", "identity")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"roots": ("Switch",)}, "roots: found operator 'Switch' (use switch_probability"),
        ({"roots": ("Select",)}, "roots: found operator 'Select'"),
        ({"booleans": ("GetCategory",)}, "booleans: found operator 'GetCategory'"),
        *slow(
            (
                {
                    "properties": ("category", "location", "identity", "view_angle"), "frames": (1, 64),
                    "joins": (0, 64), "max_depth": 6, "max_operators": 64, "max_switches": 3,
                    "switch_probability": 0.5, "constant": 0.3,
                },
                "more kinds of tasks than can be counted",
            ),
        ),
    ],
)  # fmt: skip
@pytest.mark.timeout(180)
def test_configurations_that_have_no_end_are_refused_soon(fields: dict[str, Any], said: str) -> None:
    usual = {"properties": ("category",), "roots": ("IsSame", "And", "Or"), "frames": (2, 6), "joins": (0, 2)}
    config = AutoTaskConfig.model_validate({**usual, **fields})
    with pytest.raises(SpecError) as failure:
        AutoTasks(TaskSpace(config), 0, "x")
    assert said in str(failure.value)
