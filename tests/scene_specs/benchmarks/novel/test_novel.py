"""Episodes of `novel` against a judge that knows axes alone and shares no code with generator and proof; tampering."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import pytest

from diorama.scene_specs.benchmarks.novel.generate import TASKS, novel_spec
from diorama.scene_specs.benchmarks.novel.verify import verify_spec
from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.scene_specs.benchmarks.verdict import verdict

COUNT = 12


def parsed(name: str) -> tuple[str, dict[str, float]]:
    """Family and seed, and the axes of a shape's name."""
    thing, _, axes = name.partition("?")
    return thing, {axis: float(value) for axis, value in (pair.split("=") for pair in axes.split("&"))}


def far(one: str, other: str) -> float:
    """The largest difference on an axis; 9 for another family or seed."""
    (thing, axes), (thing2, axes2) = parsed(one), parsed(other)
    return max(abs(axes[axis] - axes2[axis]) for axis in axes) if thing == thing2 else 9.0


def judged(spec: Any) -> str:
    """The answer by positions on axes, from what the frames show and what the exemplars are called; "" if unclear."""
    task, shown = spec["task"], {frame["name"]: frame["objects"][0] for frame in spec["frames"]}
    called: dict[str, list[Any]] = {}
    for one in task["exemplars"]:
        called.setdefault(one["word"], []).append(shown[one["frame"]])
    choices = {name[-1].upper(): item for name, item in shown.items() if name.startswith("choice")}
    if task.get("asked") is None:
        query = choices["A"]["shape"]
        near = {word: min(far(query, item["shape"]) for item in items) for word, items in called.items()}
        best = [word for word in near if near[word] == min(near.values())]
        return best[0] if len(best) == 1 else ""
    items = called.get(task["asked"], [])
    (others,) = called.values()
    for key in ("color", "material", "size") if task["name"] == "shape-bias" else ():
        if len({item[key] for item in items}) == 1:
            return ""
    fits = [
        letter
        for letter, item in choices.items()
        if (min(far(item["shape"], one["shape"]) for one in others) < 0.13) == bool(items)
    ]
    return fits[0] if len(fits) == 1 else ""


@pytest.mark.alike
@pytest.mark.parametrize("task", TASKS)
def test_a_judge_of_axes_reaches_the_stored_answers(task: str) -> None:
    for number in range(COUNT):
        spec = novel_spec(7, "test", task, number)
        assert verify_spec(spec) == ""
        assert judged(spec) == spec["task"]["answer"]
        assert diagnostics_with_plugins(EpisodeSpec.model_validate(spec)) == []


def tampered(spec: Any, rng: random.Random) -> Any:
    """Change one fact of the truth or of an image."""
    spec = copy.deepcopy(spec)
    task, kind = spec["task"], rng.randrange(4)
    if kind == 0:
        task["answer"] = rng.choice([option for option in task["options"] if option != task["answer"]])
    elif kind == 1:
        rng.choice(task["choices"])["distance"] += 0.01
    elif kind == 2:
        item = rng.choice(spec["frames"])["objects"][0]
        item["shape"] = item["shape"].replace("/", "/1", 1)
    else:
        spec["frames"].pop(rng.randrange(len(spec["frames"])))
    return spec


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_tampering_is_found(task: str) -> None:
    rng = random.Random(1)
    for number in range(20):
        assert verify_spec(tampered(novel_spec(7, "val", task, number), rng))


@pytest.mark.parametrize(
    ("frame", "item", "task", "problem"),
    [
        ({"objects": []}, {}, {}, "exemplar-0: found 0 objects; expected one"),
        ({"objects": [{"shape": "invented:blob/1"}] * 2}, {}, {}, "exemplar-0: found 2 objects; expected one"),
        ({"random_objects": {"count": 3}}, {}, {}, "exemplar-0: found 1 object, random_objects; expected one"),
        ({"pointer": {"target": "x"}}, {}, {}, "exemplar-0: found 1 object, pointer; expected one"),
        ({"observers": [{"name": "Ann"}]}, {}, {}, "exemplar-0: found 1 object, observers; expected one"),
        ({"name": None}, {}, {}, "found frame-0"),
        ({}, {"color": [1, 2, 3]}, {}, "exemplar-0: found color [1, 2, 3]; expected a name"),
        ({}, {"material": {"name": "glass"}}, {}, "exemplar-0: found material {'name': 'glass'}; expected a name"),
        ({}, {"shape": "cube"}, {}, "exemplar-0: found shape 'cube'; expected an invented one"),
        ({}, {}, {"asked": None}, "found 1 possible answers"),
        ({}, {}, {"exemplars": []}, "exemplars"),
        ({}, {}, {"choices": []}, "choices"),
    ],
)
def test_what_no_generator_writes_is_refused(frame: Any, item: Any, task: Any, problem: str) -> None:
    spec: Any = novel_spec(7, "val", "shape-bias", 0)
    spec["frames"][0]["objects"][0] |= item
    spec["frames"][0] |= frame
    spec["task"] |= task
    assert problem in verdict(verify_spec, spec)


@pytest.mark.slow
def test_splits_keep_concepts_and_words_apart() -> None:
    words = {
        split: {word for task in TASKS for k in range(8) for word in novel_spec(3, split, task, k)["task"]["words"]}
        for split in ("train", "val", "test")
    }
    assert not words["train"] & words["val"] and not words["val"] & words["test"] and not words["train"] & words["test"]


@pytest.mark.slow
def test_answers_are_balanced() -> None:
    counts = Counter(novel_spec(5, "train", "few-exemplars", k)["task"]["answer"] for k in range(60))
    assert set(counts) == {"A", "B", "C", "D"} and max(counts.values()) < 28


def test_an_episode_depends_on_its_number_alone() -> None:
    assert novel_spec(3, "train", "shape-bias", 4) == novel_spec(3, "train", "shape-bias", 4)
    assert novel_spec(3, "train", "shape-bias", 4) != novel_spec(4, "train", "shape-bias", 4)
