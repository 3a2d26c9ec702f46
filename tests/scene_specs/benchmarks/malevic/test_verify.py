"""Verification of items: what is intact passes, and each kind of tampering is refused with its reason."""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import diorama.scene_specs.benchmarks.malevic.verify as verification
from diorama.scene_specs.benchmarks.malevic import Options, recompute, truth
from diorama.scene_specs.benchmarks.malevic.generate import malevic_spec
from diorama.scene_specs.benchmarks.malevic.importing import import_published
from diorama.scene_specs.benchmarks.malevic.sets import SETS
from diorama.scene_specs.benchmarks.malevic.verify import verify_spec
from diorama.scene_specs.errors import SpecError
from tests.scene_specs.benchmarks.malevic.published_files import published
from tests.scene_specs.benchmarks.verdict import verdict

Spec = Any


@cache
def _made(name: str, number: int, **given: Any) -> Spec:
    return malevic_spec(Options(**{"seed": 5, "kept": "any", **given}), name, list(SETS[name].splits)[-1], number)


def item(name: str = "pos", number: int = 1, **given: Any) -> Spec:
    return deepcopy(_made(name, number, **given))


def task(spec: Spec) -> Spec:
    return spec["task"]


def shown(spec: Spec) -> Spec:
    return spec["frames"][0]["objects"]


def other(spec: Spec) -> Spec:
    """An object that the question is not about."""
    return task(spec)["objects"][task(spec)["asked"] - 1]


def put(where: Callable[[Spec], Spec], key: Any, value: Any) -> Callable[[Spec], None]:
    def change(spec: Spec) -> None:
        found = where(spec)
        assert found[key] != value
        found[key] = value

    return change


def flip(where: Callable[[Spec], Spec], key: str, *values: str) -> Callable[[Spec], None]:
    def change(spec: Spec) -> None:
        where(spec)[key] = values[values.index(where(spec)[key]) - 1]

    return change


def into_one_place(spec: Spec) -> None:
    """Both as shown and as described."""
    one, two = (k for k, seen in enumerate(shown(spec)) if seen["shape"] == "circle")
    for items, keys in ((shown(spec), ("location",)), (task(spec)["objects"], ("row", "column"))):
        for key in keys:
            items[two][key] = deepcopy(items[one][key])


def about_pink(spec: Spec) -> None:
    color = task(spec)["objects"][task(spec)["asked"]]["color"]
    for pair in task(spec)["captions"]:
        pair.update({side: pair[side].replace(color, "pink") for side in ("true", "false")})
    say(spec, task(spec)["question"].replace(color, "pink"))


def all_pink(spec: Spec) -> None:
    about_pink(spec)
    asked = task(spec)["asked"]
    task(spec)["objects"][asked]["color"] = shown(spec)[asked]["color"] = "pink"


def say(spec: Spec, sentence: str) -> None:
    task(spec)["question"] = spec["frames"][0]["utterance"] = sentence


def moved(by: float) -> Callable[[Spec], None]:
    def change(spec: Spec) -> None:
        shown(spec)[0]["location"][0] += by

    return change


def one_less(spec: Spec) -> None:
    shown(spec).pop()


def other_pair(spec: Spec) -> None:
    (pair,) = [one for one in task(spec)["captions"] if task(spec)["question"] in (one["true"], one["false"])]
    pair["true"], pair["false"] = pair["false"], pair["true"]


def renamed(**given: Any) -> Callable[[Spec], None]:
    """Id, split and task agree."""

    def change(spec: Spec) -> None:
        task(spec).update(given)
        spec["split"] = task(spec)["split"]
        spec["id"] = "malevic/{name}/{split}/{number:06d}".format(**task(spec))

    return change


def second(spec: Spec) -> Spec:
    return shown(spec)[1]


TAMPERED: dict[str, tuple[Callable[[Spec], None], str]] = {
    # The six that passed before.
    "label of another object": (flip(other, "size", "big", "small"), "size: found"),
    "no captions": (put(task, "captions", []), "captions[0]: found null"),
    "k": (put(task, "k", 0.9), "k is 0.9"),
    "threshold": (put(task, "threshold", 1.0), "threshold: found 1.0"),
    "two objects in one place": (into_one_place, "overlap"),
    "a sentence about a pink object": (about_pink, "The pink"),
    # Everything else that an item claims.
    "a pink object": (all_pink, "is 'pink'; expected red"),
    "a plausible k": (put(task, "k", 0.31), "threshold: found"),
    "answer": (flip(task, "answer", "yes", "no"), "answer: found"),
    "adjective": (flip(task, "adjective", "big", "small"), "adjective: found"),
    "object in question": (put(task, "asked", 9), "asked: stored 9"),
    "distance": (put(task, "distance", 2.0), "distance: found 2.0"),
    "vagueness": (flip(task, "vagueness", "same", "different"), "vagueness: found"),
    "threshold of another object": (put(other, "threshold", 5.0), "threshold: found 5.0"),
    "distance of another object": (put(other, "distance", 5.0), "distance: found 5.0"),
    "vagueness of another object": (flip(other, "vagueness", "same", "different"), "vagueness: found"),
    "size class": (put(other, "radius", 31), "radius: found 31"),
    "area": (put(other, "area", 1), "area: found 1"),
    "row": (put(other, "row", 3.0), "row: found 3.0"),
    "pose": (put(other, "turned", None), "turned: found null; allowed: true or false"),
    "color of an object": (put(other, "color", "black"), 'color: found "black"'),
    "shape of an object": (put(other, "shape", "cube"), 'shape: found "cube"'),
    "captions exchanged": (other_pair, "captions["),
    "question": (lambda spec: say(spec, "The red circle is a huge object"), "not among the sentences"),
    "utterance": (lambda spec: spec["frames"][0].update(utterance="?"), 'utterance: found "?"'),
    "options": (put(task, "options", ["no", "yes"]), "options: found"),
    "another set": (put(task, "name", "pos-hard"), "the id is"),
    "another split": (put(task, "split", "val"), 'split: found "test"; expected "val"'),
    "another number": (put(task, "number", 2), "the id is"),
    "a number that none is": (renamed(number=-1), "task.number: found -1; allowed: at least 0"),
    "a number as a text": (put(task, "number", "4"), 'task.number: found "4"; allowed: an integer'),
    "another variant": (
        put(task, "variant", "/../../evil"),
        'found "/../../evil"; allowed: "vague", "static"',
    ),
    "other areas": (put(task, "areas", "bogus"), "task.areas: found"),
    "another world": (put(task, "world", "bogus"), "task.world: found"),
    "another stage": (lambda spec: spec.update(stage="clevr"), 'stage: found "clevr"; expected'),
    "another canvas": (lambda spec: spec.update(canvas=[1024, 512]), "canvas: found [1024, 512]; expected"),
    "a red background": (lambda spec: spec["frames"][0].update(background=[255, 0, 0]), "background: found"),
    "k as a text": (lambda spec: task(spec).update(k=str(task(spec)["k"])), "allowed: a number"),
    "a shown size as a text": (lambda spec: second(spec).update(size=str(second(spec)["size"])), "expected a number"),
    "a split of another set": (renamed(split="test-unseen"), "set pos has train, val, test"),
    "split of the episode": (lambda spec: spec.update(split="train"), 'split: found "train"; expected'),
    "static with a sampled k": (put(task, "variant", "static"), "k is"),
    "shown size": (put(second, "size", 41.5), "no size class"),
    "an enormous size": (put(second, "size", 9000.0), "no size class"),
    "shown color": (put(second, "color", "black"), "is 'black'"),
    "shown shape": (put(second, "shape", "hexagon"), "is 'hexagon'"),
    "shown rotation": (put(second, "rotation_deg", 45.0), "turned by 45"),
    "shown elsewhere": (moved(1.0), "column: found"),
    "beyond the canvas": (moved(1000.0), "beyond the canvas"),
    "an object less": (one_less, "objects"),
}


@pytest.mark.parametrize("kind", TAMPERED)
def test_tampering_is_refused_with_its_reason(kind: str) -> None:
    change, reason = TAMPERED[kind]
    spec = item(number=4)
    assert verify_spec(spec) == ""
    change(spec)
    assert reason in verdict(verify_spec, spec)


def test_tampering_with_superlatives_and_prisms_is_refused() -> None:
    for given in ({}, {"world": "3d"}):
        spec = item("sup1", 7, **given)
        task(spec)["k"] = 0.9
        assert "k is 0.9" in verify_spec(spec)
        spec = item("sup1", 7, **given)
        task(spec)["objects"][task(spec)["asked"]]["size"] = None
        assert "size: found null" in verify_spec(spec)
        spec = item("sup1", 7, **given)
        shown(spec)[0]["size"] *= 1.01
        assert "no size class" in verify_spec(spec)


def test_the_seen_pairs_are_not_those_of_the_unseen_split() -> None:
    spec = item("set-pos-compositional", 3)
    assert spec["split"] == "test-unseen"
    for where in (spec, task(spec)):
        where["split"] = "test-seen"
    spec["id"] = spec["id"].replace("unseen", "seen")
    assert "a pair of the other splits" in verify_spec(spec)


@pytest.mark.alike
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("given", [{}, {"world": "3d"}, {"areas": "true"}, {"gap": 0.0, "variant": "static"}])
def test_intact_items_pass(name: str, given: Any) -> None:
    for number in (0, 13, 41, 79):
        assert verify_spec(item(name, number, **given)) == ""


@pytest.mark.parametrize(
    "lost", ["question", "answer", "k", "objects", "captions", "variant", "world", "areas", "number", "name"]
)
def test_an_item_that_lacks_something_is_an_error(lost: str) -> None:
    spec = item()
    del task(spec)[lost]
    with pytest.raises(SpecError, match=rf"task(\.{lost}: required key|: {lost}: missing|: options, .*: stored)"):
        verify_spec(spec)


def test_the_verification_shares_nothing_with_the_generator() -> None:
    for module in (verification, recompute, truth):
        tree = ast.parse(Path(str(module.__file__)).read_text())
        imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        own = {name for name in imported if name and name.startswith("diorama.scene_specs.benchmarks")}
        assert own <= {recompute.__name__, truth.__name__}


def imported(tmp_path: Path, name: str = "set-pos-compositional", letter: str = "B") -> Spec:
    file, questions = published(tmp_path, name, "val", range(1), images=False)
    questions = questions.rename(questions.with_name(f"val{letter}.json"))
    (found,) = import_published(file, questions=questions)
    return found.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (put(task, "name", "generalization-H"), "the id is malevic/published/generalization-B/val/000000"),
        (lambda spec: spec.update(id="malevic/published/x"), "the id is malevic/published/x"),
        (lambda spec: (task(spec).update(split="train"), spec.update(split="train")), "the id is"),
        (lambda spec: (task(spec).pop("question"), spec["frames"][0].pop("utterance")), "there is no question"),
    ],
)
def test_tampering_with_imported_items_is_refused(
    tmp_path: Path, change: Callable[[Spec], object], reason: str
) -> None:
    spec = imported(tmp_path)
    assert verify_spec(spec) == ""
    change(spec)
    assert reason in verdict(verify_spec, spec)


def test_the_splits_are_those_of_the_generator() -> None:
    assert {name: rule[2] for name, rule in recompute.RULES.items()} == {
        name: tuple(which.splits) for name, which in SETS.items()
    }
