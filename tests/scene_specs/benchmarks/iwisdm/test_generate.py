"""Trials of the benchmarks: the invariants of the published ones (I1 to I15), balance, conditions, distractors."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from diorama.scene_specs.benchmarks.iwisdm import Options
from diorama.scene_specs.benchmarks.iwisdm.constraints import TargetAnswer
from diorama.scene_specs.benchmarks.iwisdm.frame_plan import Constraint, FramePlan, object_term, with_described
from diorama.scene_specs.benchmarks.iwisdm.generate import trial_specs
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.reader import read
from diorama.scene_specs.benchmarks.iwisdm.stimuli import (
    DEFAULT,
    LOCATIONS,
    VIEW_ANGLES,
    Stimuli,
    read_stimuli,
    view_of,
)
from diorama.scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES as PROPERTY_NAMES
from diorama.scene_specs.benchmarks.iwisdm.task_graph import (
    PlacedTask,
    TaskGraph,
    both,
    const,
    different,
    exists,
    get,
    same,
    select,
)
from diorama.scene_specs.benchmarks.iwisdm.trial import make_trial
from diorama.scene_specs.benchmarks.iwisdm.verify import frames_of, verify_spec
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.reading.source import parse_episode
from tests.marks import slow

COUNT = 80
PROPERTIES = {"location", "category", "identity"}
BENCHMARKS = [
    *((level, choice) for level in ("low", "medium", "high") for choice in ("all", "category", "location", "identity")),
    *(("single-frame", choice) for choice in ("all", "category", "location")),
]
WITH_CONDITION = [pair for pair in BENCHMARKS if pair[0] in ("medium", "high")]
FRAMES = {"low": 6, "medium": 8, "high": 9, "single-frame": 1}
JOINS = {"low": (1, 1), "medium": (1, 1), "high": (1, 2), "single-frame": (0, 0)}
KINDS = {"true": "boolean", "false": "boolean", **dict.fromkeys(LOCATIONS, "location")}


def made(level: Any, choice: Any, count: int = COUNT, stimuli: Stimuli = DEFAULT, **options: Any) -> list[Any]:
    return list(trial_specs(Options(benchmark=level, properties=choice, count=count, **options), stimuli))


@cache
def trials(level: str, choice: str) -> list[Any]:
    return made(level, choice, seed=11, balanced=True, trials_per_task=1 if level != "single-frame" else 20)


@pytest.mark.alike
@pytest.mark.parametrize(("level", "choice"), BENCHMARKS)
def test_the_second_evaluator_agrees_and_the_spec_is_right(level: str, choice: str) -> None:
    """I2: the instruction, read on the objects, gives the answer."""
    for spec in trials(level, choice):
        assert verify_spec(spec) == ""
    for spec in trials(level, choice)[:5]:
        assert parse_episode(json.dumps(spec)).id == spec["id"]


@pytest.mark.parametrize(("level", "choice"), BENCHMARKS)
def test_invariants_of_the_form(level: str, choice: str) -> None:
    for spec in trials(level, choice):
        task, frames = spec["task"], spec["frames"]
        answers, text = task["answers"], task["instruction"]
        # I1, I4, and I6 for what is not "null".
        assert len(answers) == len(frames) == FRAMES[level]
        assert {*answers[:-1]} <= {"null"}
        kind = KINDS.get(answers[-1], "category")
        assert kind == "boolean" or (level == "high" and choice in ("all", kind))
        # I3.
        filled = [frame for frame in frames if frame.get("objects")]
        assert all(len(frame["objects"]) == 1 for frame in filled)
        assert len(filled) == text.count("observe")
        # I4.
        fewest, most = JOINS[level]
        assert fewest <= len(re.findall(" and | or ", text)) <= most
        assert text.count("if ") == (level in ("medium", "high"))
        # I5.
        assert filled and frames[0].get("objects") and frames[-1].get("objects")
        assert ("delay" in text) == (len(filled) < len(frames))
        # I7: what the level asks about, and nothing else.
        asked = {*re.findall(r"(\w+) of object", text)}
        assert asked <= (PROPERTIES if choice == "all" else {choice})
        # I12: the cross is there until the answer is due.
        assert [frame["fixation"] for frame in frames] == [True] * (len(frames) - 1) + [False]


@pytest.mark.parametrize(("level", "choice"), BENCHMARKS)
def test_both_sides_of_a_comparison_are_of_one_property_and_two_frames(level: str, choice: str) -> None:
    """I8."""
    side = r"(?:(\w+) of object (\d+)|(top left|top right|bottom left|bottom right|[a-z]+))"
    for spec in trials(level, choice):
        text = spec["task"]["instruction"]
        atoms = re.findall(rf"{side} (?:not )?equals {side}", text)
        assert len(atoms) == text.count("equals")
        for name, number, word, other_name, other_number, other_word in atoms:
            if word or other_word:
                (about,) = {name, other_name} - {""}
                values = LOCATIONS if about == "location" else spec["task"]["categories"]
                assert (word or other_word) in values
            else:
                assert name == other_name and number != other_number


@pytest.mark.parametrize(("level", "choice"), BENCHMARKS)
def test_answers_are_exactly_balanced(level: str, choice: str) -> None:
    due: dict[str, Counter[str]] = {}
    for spec in trials(level, choice):
        answer = spec["task"]["answers"][-1]
        due.setdefault(KINDS.get(answer, "category"), Counter())[answer] += 1
    for kind, counts in due.items():
        values = {"boolean": 2, "location": 4, "category": 8}[kind]
        least = min(counts.values()) if len(counts) == values else 0
        assert max(counts.values()) - least <= 1
    if level == "single-frame":
        # Every task on its own, too: its 20 trials are a multiple of two.
        per_task = Counter((spec["task"]["task"], spec["task"]["answers"][-1]) for spec in trials(level, choice))
        assert {*per_task.values()} == {10}


def test_truth_of_the_spec_says_what_the_frames_show() -> None:
    """I10, and the objects of `task` beside the frames."""
    for spec in trials("high", "all"):
        shown = [(index, item) for index, frame in enumerate(spec["frames"]) for item in frame.get("objects", ())]
        task = spec["task"]
        assert [index for index, _ in shown] == [one["frame"] for one in task["objects"]]
        for (_, item), one in zip(shown, task["objects"], strict=True):
            model = task["models"][one["object"]]
            assert item["shape"] == f"shapenet:{model}"
            assert model.split("/")[0] == task["categories"][one["category"]]
            assert item["place"].replace("_", " ") == one["location"]
        assert [one["number"] for one in task["objects"]] == [*range(1, len(shown) + 1)]


@pytest.mark.parametrize(("level", "choice"), [WITH_CONDITION[0], *slow(*WITH_CONDITION[1:])])
def test_conditions_matter_on_demand(level: str, choice: str) -> None:
    deciding = made(level, choice, seed=2, balanced=True, condition_matters=True)
    for spec in deciding:
        ((then, other),) = read(spec["task"]["instruction"], frames_of(spec)).branches
        assert then != other
        assert verify_spec(spec) == ""
    taken = Counter(bool(_taken(spec)) for spec in deciding)
    assert abs(taken[True] - taken[False]) <= COUNT // 10


def _taken(spec: Any) -> bool:
    ((then, _),) = read(spec["task"]["instruction"], frames_of(spec)).branches
    return bool(spec["task"]["answers"][-1] == then)


def test_conditions_of_the_published_kind_decide_half_of_the_trials() -> None:
    found = [read(spec["task"]["instruction"], frames_of(spec)).branches[0] for spec in trials("medium", "all")]
    assert 0.35 < sum(then != other for then, other in found) / COUNT < 0.65


def test_the_same_seed_gives_the_same_and_another_seed_something_else() -> None:
    """I15, and any trial alone is what it is among others."""
    assert made("medium", "all", 30, seed=11, balanced=True) == trials("medium", "all")[:30]
    assert made("medium", "all", 2, seed=11, balanced=True, first=17) == trials("medium", "all")[17:19]
    setup: Any = {"seed": 11, "trials_per_task": 3, "distractor_frames": 1}
    assert made("high", "all", 3, first=7, **setup) == made("high", "all", 12, **setup)[7:10]
    other = made("medium", "all", 30, seed=12, balanced=True)
    assert not [spec for spec in other if spec["frames"] in [one["frames"] for one in trials("medium", "all")]]


def test_equal_frames_have_equal_specs_whatever_the_trial() -> None:
    """So that a renderer which knows pictures by their content renders them once."""
    known: dict[tuple[str, str, int], set[str]] = {}
    for seed in (1, 2):
        for spec in made("low", "all", 250, seed=seed):
            for frame in spec["frames"]:
                for item in frame.get("objects", ()):
                    side = round(item["view"]["yaw_deg"] / 90) % 4
                    known.setdefault((item["shape"], item["place"], side), set()).add(json.dumps(item))
    assert max(map(len, known.values())) == 3
    assert sum(map(len, known.values())) < 0.9 * 2 * 250 * 4


def test_views_see_the_side_they_are_named_after_and_splits_have_their_own() -> None:
    for side, name in enumerate(VIEW_ANGLES):
        for split in ("train", "val"):
            yaw, elevation = view_of(split, "cars/#1", name, 0)
            assert round(yaw / 90) % 4 == side
            assert 20 <= elevation <= 38
    assert view_of("train", "cars/#1", "front", 0) != view_of("val", "cars/#1", "front", 0)


@pytest.mark.parametrize(("level", "choice"), [("low", "all"), ("medium", "category"), ("high", "location")])
def test_distractors(level: str, choice: str) -> None:
    """I14, and that texts stay readable."""
    specs = made(level, choice, 60, seed=5, balanced=True, distractor_frames=2, distractors=2)
    ignored = 0
    for spec in specs:
        task = spec["task"]
        assert verify_spec(spec) == ""
        by_frame: dict[int, list[Any]] = {}
        for one in task["objects"]:
            by_frame.setdefault(one["frame"], []).append(one)
            assert not (one["is_distractor"] and one["asked"])
        for shown in by_frame.values():
            ignored += sum(one["is_distractor"] for one in shown)
            if len(shown) == 2:
                assert shown[0]["location"] != shown[1]["location"]
                assert [one["is_distractor"] for one in shown] == [False, True]
                assert re.search(rf"observe object {shown[0]['number']} (with|at) ", task["instruction"])
                what = "location" if f"object {shown[0]['number']} at" in task["instruction"] else "category"
                assert shown[0][what] != shown[1][what]
                assert not [names for names in shown[0]["asked"].values() if what in names]
    assert ignored > 60


def test_a_frame_of_which_an_object_is_picked_gets_no_distractor() -> None:
    """Else its words could mean either: told apart by the task, or from the distractor."""
    task = TaskGraph.of(both(exists(select(0, const("category"))), same(get("location", 1), get("location", 2))))
    session = with_described(FramePlan(3, (PlacedTask(task, 2),)), 3, KeyedRng(1, "x", "y"))
    assert {*session.described} == {1, 2}
    for number in range(40):
        rng = KeyedRng(number, "x", "trial")
        trial = make_trial(session, [TargetAnswer(number % 2 == 0)], DEFAULT, rng)
        seen = [[{name: one.item.value(name) for name in PROPERTY_NAMES} for one in row] for row in trial.frames]
        assert read(trial.instruction, seen).answers == trial.answers
    with pytest.raises(SpecError, match="by another description"):
        make_trial(replace(session, described={0: "location"}), [None], DEFAULT, KeyedRng(1, "x", "y"))


def test_a_shape_that_is_no_model_is_refused() -> None:
    changed = copy.deepcopy(trials("single-frame", "all")[0])
    changed["frames"][0]["objects"][0]["shape"] = {"polygon": [[0, 0], [1, 0], [0, 1]], "height": 1}
    with pytest.raises(SpecError, match=r"found shape {'polygon'.*; expected shapenet:<category>/<model>"):
        verify_spec(changed)


def test_what_cannot_be_shown_or_said_is_refused() -> None:
    early, late = TaskGraph.of(get("location", 0)), TaskGraph.of(get("location", 3))
    wrong = [
        (FramePlan(3, (PlacedTask(late, 2),)), "outside the trial's 3"),
        (FramePlan(4, (PlacedTask(late, 2),)), "before its last object"),
        (FramePlan(4, (PlacedTask(early, 1),)), "amid a delay"),
        (FramePlan(2, (PlacedTask(early, 1),), fillers=(0,)), "a distractor fills"),
        (FramePlan(1, (PlacedTask(early, 0),), objects={0: 5}), "more than four"),
        (FramePlan(2, (PlacedTask(early, 0),), described={1: "location"}), "is not alone"),
    ]
    for session, problem in wrong:
        with pytest.raises(SpecError, match=problem):
            make_trial(session, [None], DEFAULT, KeyedRng(1, "x", "y"))
    place = object_term("location", 0, 0)
    impossible = FramePlan(1, (PlacedTask(early, 0),), tied=(Constraint(place, place, False),))
    with pytest.raises(SpecError, match="no objects fulfill"):
        make_trial(impossible, [TargetAnswer("top left")], DEFAULT, KeyedRng(1, "x", "y"))


def test_where_answers_cannot_all_be_had_the_later_is_left_to_what_is_shown() -> None:
    alike = TaskGraph.of(same(get("category", 0), get("category", 1)))
    apart = TaskGraph.of(different(get("category", 0), get("category", 1)))
    session = FramePlan(2, (PlacedTask(alike, 1), PlacedTask(apart, 1)))
    for first in (True, False):
        trial = make_trial(session, [TargetAnswer(first), TargetAnswer(first)], DEFAULT, KeyedRng(1, "x", str(first)))
        assert [one.value for one in trial.answered] == [first, not first]
        assert trial.answers == ("null", f"{str(first).lower()}; {str(not first).lower()}")


def test_answers_that_options_ask_for_are_not_left_open() -> None:
    single = Stimuli({"cars": ("#1",), "mugs": ("#1",), "boats": ("#1",)})
    options = [{"balanced": True, "foils": 1.0}, {"foils": 1.0}]
    for more in options:
        with pytest.raises(
            SpecError, match=r"low-identity-.*/00000[0-7]: no objects fulfill .* with the answer that is due"
        ):
            made("low", "identity", 8, single, **more)
    with pytest.raises(SpecError, match="no objects fulfill"):
        list(trial_specs(Options(task="dmc", count=4, balanced=True), single))
    # Without them, the answer is what the objects give.
    due = {spec["task"]["answers"][-1] for spec in trial_specs(Options(task="dmc", count=9), single)}
    assert due == {"false"}


def test_chained_tasks_are_answered_each_in_its_own_frame() -> None:
    for chain in (2, 3):
        shared = 0
        for spec in made("low", "all", 40, seed=5, balanced=True, chain=chain):
            task = spec["task"]
            due = [question["answer_frame"] for question in task["questions"]]
            assert len({*due}) == chain
            assert [k for k, answer in enumerate(task["answers"]) if answer != "null"] == sorted(due)
            assert verify_spec(spec) == ""
            shared += sum(len(one["asked"]) > 1 for one in task["objects"])
        assert shared >= 10


def test_foils_are_of_one_category() -> None:
    def alike(foils: float | None) -> float:
        pairs = []
        for spec in made("low", "identity", 120, seed=5, foils=foils):
            models = {one["number"]: spec["task"]["models"][one["object"]] for one in spec["task"]["objects"]}
            for a, b in re.findall(
                r"object (\d+) (?:not )?equals identity of object (\d+)", spec["task"]["instruction"]
            ):
                first, second = models[int(a)], models[int(b)]
                if first != second:
                    pairs.append(first.split("/")[0] == second.split("/")[0])
        return float(sum(pairs) / len(pairs))

    assert alike(None) < 0.25
    assert 0.35 < alike(0.5) < 0.65
    assert alike(1.0) == 1.0


def test_other_stimuli() -> None:
    stimuli = read_stimuli('{"mugs": ["#1", "a1b2"], "03001627": ["#1"]}')
    specs = made("low", "all", 30, stimuli, seed=1)
    shapes = {item["shape"] for spec in specs for frame in spec["frames"] for item in frame.get("objects", ())}
    assert shapes == {"shapenet:mugs/#1", "shapenet:mugs/a1b2", "shapenet:03001627/#1"}
    assert not [spec for spec in specs if verify_spec(spec)]
    for text in ('{"mugs": ["#1"]}', '{"mugs": [], "cups": ["#1"]}', '{"and": ["#1"], "cups": ["#1"]}', "[]", "{"):
        with pytest.raises(SpecError):
            read_stimuli(text)
    with pytest.raises(SpecError, match=r"mine\.json: invalid JSON: nested too deeply"):
        read_stimuli("[" * 100_000, "mine.json")
    # An answer that would read as another kind of answer, or as none; two words for one folder.
    for text in (
        '{"true": ["#1"], "cups": ["#1"]}',
        '{"null": ["#1"], "cups": ["#1"]}',
        '{"sofas": ["#1"], "couches": ["#1"]}',
    ):
        with pytest.raises(SpecError, match="found"):
            read_stimuli(text)
    with pytest.raises(SpecError):
        Stimuli({"cups": ("../x",), "mugs": ("#1",)})


def test_a_task_has_no_more_trials_than_it_has() -> None:
    stimuli = read_stimuli('{"mugs": ["#1"], "cups": ["#1"]}')
    # One frame: two models, four places, four sides, three views of each, two constants of one comparison.
    with pytest.raises(SpecError, match="repeated earlier trials only"):
        made("single-frame", "category", 400, stimuli, seed=1, trials_per_task=400)
