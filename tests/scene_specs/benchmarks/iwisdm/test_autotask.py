"""Tasks are drawn by the published procedure, without repeats, and never searched without an end."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from diorama.scene_specs.benchmarks.iwisdm import autotask
from diorama.scene_specs.benchmarks.iwisdm.answer_balance import split_has
from diorama.scene_specs.benchmarks.iwisdm.autotask import AutoTasks, DrawnTask
from diorama.scene_specs.benchmarks.iwisdm.autotask_config import (
    benchmark_limits,
    published_form,
    read_config,
    restrict_config,
)
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.published_tasks import (
    Limits,
    PublishedConfig,
    PublishedTasks,
    count_operators,
)
from diorama.scene_specs.errors import SpecError
from tests.marks import slow

LEVELS = ("low", "medium", "high", "single-frame")
CHOICES = ("all", "category", "location", "identity")
PAIRS = [(level, choice) for level in LEVELS for choice in CHOICES if (level, choice) != ("single-frame", "identity")]


def published(level: str, choice: str) -> PublishedTasks:
    limits = benchmark_limits(level, choice)
    return PublishedTasks(published_form(limits), Limits(limits.frames, limits.joins))


def drawn(way: PublishedTasks, count: int, seed: int = 5) -> list[DrawnTask]:
    rng = KeyedRng(seed, "drawn", "tasks")
    found: list[DrawnTask] = []
    while len(found) < count:
        task = way.draw(rng)
        found += [task] if task else []
    return found


@pytest.mark.parametrize(("level", "choice"), PAIRS)
def test_draws_obey_the_benchmark(level: str, choice: str) -> None:
    limits = benchmark_limits(level, choice)
    for task in drawn(published(level, choice), 4):
        assert limits.frames[0] <= task.frames <= limits.frames[1]
        assert limits.joins[0] <= count_operators(task.structure, "And", "Or") <= limits.joins[1]
        assert count_operators(task.structure, "Switch") == (level in ("medium", "high"))
        shown = sorted({*task.looks})
        assert (shown[0], shown[-1]) == (0, task.frames - 1)
        assert max((b - a for a, b in pairwise(shown)), default=1) <= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "choice", "count"),
    [
        ("low", "identity", 8),
        *slow(
            ("low", "all", 72), ("low", "category", 8), ("low", "location", 8),
            ("single-frame", "location", 8), ("single-frame", "category", 16),
        ),
    ],
)  # fmt: skip
def test_there_are_as_many_structures_as_the_published_code_can_draw(level: str, choice: str, count: int) -> None:
    """Counted with the published code's own comparison of tasks."""
    tasks = AutoTasks(published(level, choice).draw, 1, "all of them", "structure")
    with pytest.raises(SpecError, match=f"found {count} tasks that differ in operators; "):
        tasks.task(count)


def test_draws_that_only_repeat_tasks_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autotask, "MAX_DRAWS", 500)
    tasks = AutoTasks(published("single-frame", "all").draw, 1, "all of them")
    assert len({tasks.task(number) for number in range(48)}) == 48
    with pytest.raises(SpecError, match=r"found 48 tasks .*; 500 more draws repeated them"):
        tasks.task(48)


def test_published_configurations_ask_about_what_is_wanted() -> None:
    fields = published_form(benchmark_limits("single-frame")).model_dump(mode="json")
    both, one = (PublishedTasks(made, Limits((1, 1), (0, 0))) for made in (
        PublishedConfig.model_validate(fields), restrict_config(PublishedConfig.model_validate(fields), ["category"]),
    ))  # fmt: skip
    for way, words in ((both, {"GetCategory", "GetLocation"}), (one, {"GetCategory"})):
        found = drawn(way, 40)
        assert {name for task in found for name in words | {"GetLocation"} if name in str(task.structure)} == words
    with pytest.raises(SpecError, match="op_dict: found no 'GetViewAngle'"):
        restrict_config(PublishedConfig.model_validate(fields), ["view_angle"])


def test_published_frames_follow_from_the_probabilities() -> None:
    """medium-identity has eight objects in eight frames; medium-category, in seven or more with one constant or more.

    Without constants, all eight objects are new, and none of seven delays may be drawn: a rate of 2 ** -7. Each of one
    constant or one delay less doubles it.
    """
    shown = Counter(len({*task.looks}) for task in drawn(published("medium", "category"), 150))
    assert {7, 6} < {*shown} <= {4, 5, 6, 7, 8}
    assert shown[7] > shown[8] and shown[6] > shown[8]


def test_the_last_object_is_the_first_that_is_drawn() -> None:
    """A question's objects come from the last frame back in the order of its operators, but for swapped sides."""
    first = Counter(task.looks.index(5) for task in drawn(published("low", "category"), 100))
    # Swapping And and the comparison below it are independent.
    assert all(count > 10 for count in first.values()) and len(first) == 4
    for task in drawn(published("low", "category"), 50):
        assert max(task.looks[:2]) < min(task.looks[2:]) or min(task.looks[:2]) > max(task.looks[2:])


@pytest.mark.parametrize("unique", ["structure", "frames", "none"])
def test_tasks_differ_as_requested(unique: str) -> None:
    tasks = AutoTasks(published("low", "location").draw, 1, "some", unique)
    numbers = range(8 if unique == "structure" else 60)
    found = {str(tasks.task(number).task.data()) for number in numbers}
    assert (len(found) == len(numbers)) == (unique != "none")
    again = AutoTasks(published("low", "location").draw, 1, "some", unique)
    assert str(again.task(7).task.data()) in found


def test_a_configuration_without_tasks_says_so() -> None:
    limits = Limits(frames=(9, 9), joins=(1, 1), longest=1)
    tasks = PublishedTasks(published_form(benchmark_limits("single-frame")), limits)
    with pytest.raises(SpecError, match="no task fits the configuration"):
        AutoTasks(tasks.draw, 1, "x").task(0)


def test_what_is_no_published_configuration_is_refused() -> None:
    for text, problem in [
        ('{"properties": ["category"], "roots": ["IsSame"], "frames": [2, 5], "joins": [0, 0]}', "op_dict"),
        ("{", "invalid JSON"),
        ("[" * 100_000, "mine.json: invalid JSON: nested too deeply"),
    ]:
        with pytest.raises(SpecError, match=problem):
            read_config(text, "mine.json")
    with pytest.raises(SpecError, match="can't be asked about identity"):
        benchmark_limits("single-frame", "identity")


def test_a_published_configuration_is_read_and_refused() -> None:
    data = published_form(benchmark_limits("high", "all")).model_dump(mode="json")
    # As in the published files: a Select may have another Select's property, or none.
    data["op_dict"]["Select"]["downstream"] = ["GetLoc", None]
    assert read_config(json.dumps(data)).root_ops
    changes: list[tuple[dict[str, Any], str]] = [
        ({"root_ops": ["Exist"]}, "root_ops"),
        ({"root_ops": []}, "root_ops"),
        ({"max_depth": 2, "root_ops": ["And"]}, "no operator of root_ops fits"),
        ({"colour": 1}, "colour"),
        ({"op_dict": {**data["op_dict"], "Or": {**data["op_dict"]["Or"], "n_downstream": 3}}}, "Or: expected"),
        ({"op_dict": {"Select": data["op_dict"]["Select"]}}, "op_dict: found no "),
        (_with(data, "And", sample_dist=[0, 0, 0, 0]), "And: expected a positive weight"),
    ]
    for change, problem in changes:
        with pytest.raises(SpecError, match=problem):
            read_config(json.dumps({**data, **change}), "theirs.json")


def _with(data: dict[str, Any], name: str, **limits: Any) -> dict[str, Any]:
    """The configuration with other limits of an operator."""
    return {**data, "op_dict": {**data["op_dict"], name: {**data["op_dict"][name], **limits}}}


def test_weights_belong_to_the_children_that_they_stand_beside() -> None:
    data = published_form(benchmark_limits("high", "all")).model_dump(mode="json")
    data |= {"root_ops": ["And"], "max_switch": 0, "compare_const_prob": 0}
    data = _with(data, "And", downstream=["Or", None, "IsSame", "NotSame"], sample_dist=[0, 0.5, 0.5, 0])
    config = read_config(json.dumps(data))
    found = {str(child[0]) for task in drawn(PublishedTasks(config, Limits()), 20) for child in tuples(task.structure)}
    assert found == {"IsSame"}


def tuples(tree: Any) -> list[tuple[Any, ...]]:
    return [child for child in tree[1:] if isinstance(child, tuple)]


@pytest.mark.parametrize(
    ("name", "limits", "problem"),
    [
        # Operators below operators without end, by the limits and by weights.
        ("And", {"downstream": ["And"], "min_depth": 1}, "no task fits the configuration"),
        ("And", {"downstream": ["And", "IsSame"], "sample_dist": [1, 0]}, "no task fits the configuration"),
        ("IsSame", {"downstream": ["CONST"]}, "IsSame: found a constant .*set compare_const_prob to 1"),
        (
            "IsSame",
            {"downstream": ["CONST", "And"], "sample_dist": [0.5, 0.5], "same_children_op": False},
            "a constant",
        ),
    ],
)
def test_published_configurations_without_tasks_say_so(
    name: str, limits: dict[str, Any], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autotask, "MAX_DRAWS", 50)
    data = {**published_form(benchmark_limits("high")).model_dump(mode="json"), "root_ops": [name], "max_switch": 0}
    config = read_config(json.dumps(_with({**data, "compare_const_prob": 0}, name, **limits)))
    with pytest.raises(SpecError, match=problem):
        AutoTasks(PublishedTasks(config, Limits()).draw, 1, "x").task(0)


@pytest.mark.parametrize(("level", "choice"), [("low", "category"), ("low", "all"), ("medium", "all")])
def test_held_out_structures_and_compositions(level: str, choice: str) -> None:
    structures = {task.structure for task in drawn(published(level, choice), 300)}
    for hold_out in ("structures", "compositions"):
        parts = {
            split: {one for one in structures if split_has(one, split, hold_out)} for split in ("train", "val", "test")
        }
        assert all(parts.values())
        assert not parts["train"] & parts["val"] and not parts["val"] & parts["test"]
    assert parts["train"] | parts["val"] | parts["test"] <= structures
    pairs = {split: {pair for one in part for pair in pairs_in(one)} for split, part in parts.items()}
    comparisons = {one for _, *two in pairs["train"] for one in two}
    for split in ("val", "test"):
        new = pairs[split] - pairs["train"]
        assert new and {one for _, *two in new for one in two} <= comparisons


def pairs_in(tree: Any) -> list[tuple[str, ...]]:
    found = [pair for child in tree[1:] if isinstance(child, tuple) for pair in pairs_in(child)]
    if tree[0] in ("And", "Or"):
        kinds = (next(str(side[0]) for side in child[1:] if side[0] != "CONST") + child[0] for child in tree[1:])
        found.append((tree[0], *sorted(kinds)))
    return found
