"""The classic tasks: 200 trials of each are what the literature defines, and what their instructions say."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from typing import Any

import pytest

from diorama.scene_specs.benchmarks.iwisdm import Options
from diorama.scene_specs.benchmarks.iwisdm.classic_tasks import TASKS, read_settings
from diorama.scene_specs.benchmarks.iwisdm.generate import trial_specs
from diorama.scene_specs.benchmarks.iwisdm.verify import frames_of, verify_spec
from diorama.scene_specs.errors import SpecError

# docs/iwisdm.md has the result of 1000.
TRIALS = int(os.environ.get("DIORAMA_CLASSIC_TRIALS", "200"))
_CATEGORY, _IDENTITY, _LOCATION, _SIDE = "category", "identity", "location", "view_angle"
Row = list[dict[str, str]]


def made(task: Any, balanced: bool = False, count: int = TRIALS, **settings: object) -> list[Any]:
    texts = {name: str(value) for name, value in settings.items()}
    count = 61 if balanced else count
    return list(trial_specs(Options(task=task, settings=texts, seed=3, balanced=balanced, count=count)))


@cache
def trials(task: str) -> list[Any]:
    return made(task)


@pytest.mark.parametrize("task", TASKS)
def test_its_docstring_says_what_it_is_and_from_where(task: str) -> None:
    text = TASKS[task].__doc__ or ""
    assert any(f"({year})" in text for year in range(1860, 2025)), "no source"


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_second_evaluator_agrees(task: str) -> None:
    assert [verify_spec(spec) for spec in trials(task)] == [""] * TRIALS


def shown(spec: Any) -> tuple[Row, list[str], dict[int, Row]]:
    """Objects in the order they are shown, the answers that are due, and objects by frame."""
    frames = {k: list(map(dict, row)) for k, row in enumerate(frames_of(spec)) if row}
    due = [answer for answer in spec["task"]["answers"] if answer != "null"]
    return [item for row in frames.values() for item in row], due, frames


def truth(value: bool) -> str:
    return "true" if value else "false"


@pytest.mark.parametrize(
    ("task", "name", "matches"),
    [("dms", _IDENTITY, True), ("dnms", _IDENTITY, False), ("dmc", _CATEGORY, True), ("dnmc", _CATEGORY, False)],
)
def test_sample_delay_test(task: str, name: str, matches: bool) -> None:
    lengths: Counter[int] = Counter()
    for spec in trials(task):
        (sample, test), due, frames = shown(spec)
        assert due == [truth((sample[name] == test[name]) == matches)]
        assert sorted(frames) == [0, len(spec["frames"]) - 1]
        lengths[len(spec["frames"])] += 1
        if name == _CATEGORY:
            assert sample[_IDENTITY] != test[_IDENTITY]
    assert {*lengths} == {3, 4, 5, 6}


def test_delayed_response() -> None:
    for spec in trials("odr"):
        (cue,), due, frames = shown(spec)
        assert due == [cue[_LOCATION]] == [spec["task"]["answers"][-1]]
        assert [*frames] == [0]
        assert [frame["fixation"] for frame in spec["frames"]][-2:] == [True, False]


def test_abba() -> None:
    for spec in trials("abba"):
        (sample, *tests), due, _ = shown(spec)
        assert due == [truth(test[_IDENTITY] == sample[_IDENTITY]) for test in tests]
        assert due == ["false"] * (len(tests) - 1) + ["true"]
        assert len({test[_IDENTITY] for test in tests[:-1]}) == 1


def test_n_back() -> None:
    hits = 0
    for spec in trials("n-back"):
        items, due, _ = shown(spec)
        assert spec["task"]["answers"][:2] == ["null", "null"]
        assert due == [truth(a[_IDENTITY] == b[_IDENTITY]) for a, b in zip(items, items[2:], strict=False)]
        hits += due.count("true")
    assert 0.28 < hits / (6 * TRIALS) < 0.38


def test_dual_n_back() -> None:
    for spec in trials("dual-n-back"):
        items, due, _ = shown(spec)
        expected = [
            "; ".join(truth(a[name] == b[name]) for name in (_LOCATION, _CATEGORY))
            for a, b in zip(items, items[2:], strict=False)
        ]
        assert due == expected


def constants(operator: Any) -> list[str]:
    own = [operator["value"]] if operator["name"] == "CONST" else []
    return own + [value for child in operator["child"] for value in constants(child)]


def test_go_no_go() -> None:
    for spec in trials("go-no-go"):
        (item,), due, _ = shown(spec)
        (target,) = constants(spec["task"]["questions"][0]["operator"])
        assert due == [truth(item[_CATEGORY] == target)]


def test_contextual_decision_and_task_switching() -> None:
    for spec in trials("contextual-decision"):
        (cue, item), due, _ = shown(spec)
        assert due == [judged(cue, item, spec["task"]["questions"][0])]
    for spec in trials("task-switching"):
        items, due, _ = shown(spec)
        assert due == [judged(item, item, q) for item, q in zip(items, spec["task"]["questions"], strict=True)]


def judged(cue: dict[str, str], item: dict[str, str], question: Any) -> str:
    *places, category, side = constants(question["operator"])
    assert places == ["top left", "top right"]
    return truth(item[_CATEGORY] == category if cue[_LOCATION] in places else item[_SIDE] == side)


def test_ax_cpt_and_twelve_ax() -> None:
    for spec in trials("ax-cpt"):
        (cue, probe), due, _ = shown(spec)
        a, x = constants(spec["task"]["questions"][0]["operator"])
        assert a != x and cue[_CATEGORY] != x and probe[_CATEGORY] != a
        assert due == [truth((cue[_CATEGORY], probe[_CATEGORY]) == (a, x))]
    for spec in trials("12-ax"):
        (context, *pairs), due, _ = shown(spec)
        for question, cue, probe, answer in zip(spec["task"]["questions"], pairs[::2], pairs[1::2], due, strict=True):
            one, a, x, b, y = letters = constants(question["operator"])
            assert letters == constants(spec["task"]["questions"][0]["operator"])
            assert len({a, x, b, y}) == 4 and cue[_CATEGORY] not in (x, y) and probe[_CATEGORY] not in (a, b)
            pair = (a, x) if context[_LOCATION] == one else (b, y)
            assert answer == truth((cue[_CATEGORY], probe[_CATEGORY]) == pair)


def test_kinds_of_ax_cpt_trials_come_in_proportion() -> None:
    cases: list[tuple[Any, tuple[int, ...]]] = [
        ({}, (70, 10, 10, 10)),
        ({"ax": 20, "ay": 40, "bx": 40, "by": 0}, (20, 40, 40, 0)),
    ]
    for settings, expected in cases:
        kinds: Counter[tuple[bool, bool]] = Counter()
        for spec in made("ax-cpt", count=300, **settings):
            (cue, probe), _, _ = shown(spec)
            a, x = constants(spec["task"]["questions"][0]["operator"])
            kinds[cue[_CATEGORY] == a, probe[_CATEGORY] == x] += 1
        kinds_of_trials = ((True, True), (True, False), (False, True), (False, False))
        for kind, percent in zip(kinds_of_trials, expected, strict=True):
            assert abs(kinds[kind] - 3 * percent) <= 4 * (3 * percent * (1 - percent / 100)) ** 0.5


@pytest.mark.parametrize("share", [0, 50, 100])
@pytest.mark.parametrize("task", ["n-back", "dual-n-back"])
def test_lures_of_n_back(task: str, share: int) -> None:
    """Of the objects that match neither: those that match the object n - 1 or n + 1 before, where these may."""
    possible = lured = matches = asked = 0
    for spec in made(task, count=60, lures=share, length=12):
        items, due, _ = shown(spec)
        for at, answer in enumerate(due, 2):
            names = (_LOCATION, _CATEGORY) if "dual" in task else (_IDENTITY,)
            for name, one in zip(names, answer.split("; "), strict=True):
                asked, matches = asked + 1, matches + (one == "true")
                near = [items[k][name] for k in (at - 1, at - 3) if k >= 0]
                if one == "false":
                    assert items[at][name] != items[at - 2][name]
                    possible += any(value != items[at - 2][name] for value in near)
                    lured += items[at][name] in near
    assert abs(matches / asked - (0.3 if "dual" in task else 0.33)) < 4 * (0.25 / asked) ** 0.5
    assert abs(lured / possible - share / 100) <= (4 * (0.25 / possible) ** 0.5 if share == 50 else 0)


def test_many_lures_are_found() -> None:
    (spec,) = made("dual-n-back", count=1, length=60, n=20, lures=100, targets=0)
    assert {*spec["task"]["answers"]} == {"null", "false; false"}
    assert verify_spec(spec) == ""


def test_task_switching_has_one_category_and_one_side() -> None:
    for spec in trials("task-switching"):
        sets = {tuple(constants(question["operator"])[-2:]) for question in spec["task"]["questions"]}
        assert len(sets) == 1


def test_memory_scanning() -> None:
    sizes: Counter[int] = Counter()
    for spec in trials("memory-scanning"):
        (*items, probe), due, _ = shown(spec)
        names = [item[_IDENTITY] for item in items]
        assert len({*names}) == len(names)
        assert due == [truth(probe[_IDENTITY] in names)]
        sizes[len(names)] += 1
    assert {*sizes} == {2, 3, 4, 5}


def test_searches() -> None:
    for spec in trials("visual-search"):
        items, due, _ = shown(spec)
        (target,) = constants(spec["task"]["questions"][0]["operator"])
        assert due == [truth(target in [item[_CATEGORY] for item in items])]
        assert len({item[_LOCATION] for item in items}) == len(items) in (2, 3, 4)
    for spec in trials("search-and-report"):
        items, due, _ = shown(spec)
        (target,) = constants(spec["task"]["questions"][0]["operator"])
        assert due == [item[_LOCATION] for item in items if item[_CATEGORY] == target]


@pytest.mark.parametrize("task", [name for name in TASKS if name not in ("abba", "odr", "search-and-report")])
def test_answers_are_exactly_balanced_on_demand(task: str) -> None:
    counts = Counter(
        one for spec in made(task, balanced=True) for answer in spec["task"]["answers"] if answer != "null"
        for one in answer.split("; ")
    )  # fmt: skip
    assert {*counts} == {"true", "false"}
    assert abs(counts["true"] - counts["false"]) <= 1


def test_settings() -> None:
    spec = made("n-back", balanced=True, n="3", length="6", property="location", targets="50")[0]
    assert spec["task"]["answers"][:3] == ["null"] * 3 != spec["task"]["answers"][3:]
    assert read_settings("dms", {"delay": "2-5"}) == {"delay": (2, 5)}
    assert read_settings("dms", {"delay": "4"}) == {"delay": (4, 4)}
    assert read_settings("go-no-go", {"property": "location"}) == {"property": "location"}
    for task, wrong in [
        ("dms", {"delays": "2"}), ("dms", {"delay": "5-2"}), ("dms", {"delay": "x"}), ("dms", {"delay": "-"}),
        ("n-back", {"n": "2-3"}), ("n-back", {"n": "8"}), ("dms", {"property": "colour"}), ("dms", {"delay": "0-31"}),
        ("dual-n-back", {"property": "location"}), ("nothing", {}),
    ]:  # fmt: skip
        with pytest.raises(SpecError):
            read_settings(task, wrong)
