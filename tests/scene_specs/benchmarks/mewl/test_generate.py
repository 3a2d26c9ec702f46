"""The rules of each task, read off the specs themselves."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from diorama.render.compiler.compile import compile_episode
from diorama.scene_specs.benchmarks.mewl.generate import COUNTS, TASKS, mewl_spec
from diorama.scene_specs.benchmarks.mewl.lexicons import KNOWN, SPLITS
from diorama.scene_specs.benchmarks.mewl.view import SeenImage, learner_view
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.reading.source import parse_episode

SHAPES = ("cube", "sphere", "cylinder")
OTHER = {
    "left": ("front", "behind"),
    "right": ("front", "behind"),
    "front": ("left", "right"),
    "behind": ("left", "right"),
}
Looks = list[tuple[str, str, str, str]]


def looks(frame: Any) -> Looks:
    return [(o["shape"], o["color"], o["material"], o["size"]) for o in frame["objects"]]


def episodes(task: str, count: int = 60, **options: Any) -> list[Any]:
    return [mewl_spec(11, SPLITS[k % 3], task, k, **options) for k in range(count)]


def test_the_published_sizes() -> None:
    assert {split: 9 * count for split, count in COUNTS.items()} == {"train": 27_000, "val": 5_400, "test": 5_400}
    assert sorted(TASKS) == sorted(KNOWN)
    assert len(TASKS) == 9


@pytest.mark.alike
@pytest.mark.parametrize("task", TASKS)
def test_every_episode_reads_and_compiles(task: str) -> None:
    for spec in episodes(task, 6):
        parsed = parse_episode(json.dumps(spec))
        assert parsed.id == f"mewl/{spec['split']}/{task}/{spec['task']['number']:06d}"
        scene = compile_episode(parsed, settings_for("draft", 320, 240))
        assert len(scene.frames) == 7


@pytest.mark.parametrize("task", TASKS)
def test_an_episode_depends_on_nothing_but_its_key(task: str) -> None:
    row = [json.dumps(mewl_spec(3, "val", task, k)) for k in range(4)]
    assert json.dumps(mewl_spec(3, "val", task, 2)) == row[2]
    others = [mewl_spec(4, "val", task, 2), mewl_spec(3, "test", task, 2), mewl_spec(3, "val", task, 1)]
    assert all(other["frames"] != json.loads(row[2])["frames"] for other in others)


@pytest.mark.parametrize("task", TASKS)
def test_form(task: str) -> None:
    positions: Counter[int] = Counter()
    for spec in episodes(task):
        truth = spec["task"]
        assert [f["name"] for f in spec["frames"]] == [*(f"context-{k}" for k in range(6)), "question"]
        assert "utterance" not in spec["frames"][6]
        assert len({*truth["options"]}) == len(truth["options"]) == 5
        positions[truth["options"].index(truth["answer"])] += 1
        assert len({*truth["words"]}) == len(truth["words"])
        values = [json.dumps(value) for value in truth["words"].values()]
        assert len({*values}) == len(values)
        # Files are called by what a context says; only words for one attribute repeat.
        said = [frame["utterance"] for frame in spec["frames"][:6]]
        assert task in SINGLE or len({*said}) == 6
    assert len(positions) == 5


SINGLE = ("shape", "color", "material")


@pytest.mark.parametrize("task", SINGLE)
def test_shape_color_material(task: str) -> None:
    at = ("shape", "color", "material").index(task)
    for spec in episodes(task):
        words, contexts = spec["task"]["words"], spec["frames"][:6]
        assert all(len(f["objects"]) == 1 for f in spec["frames"])
        assert len({looks(f)[0] for f in spec["frames"]}) == 7
        assert {f["utterance"] for f in contexts} == {*words}
        assert all(words[f["utterance"]] == looks(f)[0][at] for f in contexts)
        assert words[spec["task"]["answer"]] == looks(spec["frames"][6])[0][at]
        assert {*words} <= {*spec["task"]["options"]}
        for other in range(4):
            pairs = {(f["utterance"], looks(f)[0][other]) for f in contexts}
            assert (len(pairs) == 3) == (other == at) or len({v for _, v in pairs}) < 3


def test_object() -> None:
    for spec in episodes("object"):
        words = {w: tuple(t) for w, t in spec["task"]["words"].items()}
        shown = []
        for frame in spec["frames"][:6]:
            said = frame["utterance"].split(" and ")
            assert {words[w] for w in said} == {*looks(frame)}
            assert len(said) == len(looks(frame)) == 3
            shown.append(frozenset(said))
        offered = [frozenset(option.split(" and ")) for option in spec["task"]["options"]]
        assert len({*shown, *offered}) == 11
        assert {words[w] for w in spec["task"]["answer"].split(" and ")} == {*looks(spec["frames"][6])}


def test_composite() -> None:
    for spec in episodes("composite"):
        words = spec["task"]["words"]
        pairs = []
        for frame in spec["frames"]:
            said = frame.get("utterance", spec["task"]["answer"]).split(" ")
            assert len(said) == 2
            assert all(words[w] in looks(frame)[0] for w in said)
            pairs.append(tuple(said))
        assert len({*pairs}) == 7
        assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == 3
        shown = sum(tuple(option.split(" ")) in pairs[:6] for option in spec["task"]["options"])
        assert shown == 2


def test_relation() -> None:
    for spec in episodes("relation"):
        words, view = spec["task"]["words"], learner_view(spec)
        assert len(words) == 3
        seen: dict[str, set[str]] = {}
        for image in view.images[:6]:
            assert len({item[:2] for item in image.objects}) == len(image.objects) == 3
            true = true_of(image, image.utterance)
            word = image.utterance.split(" ")[2]
            assert words[word] in true
            seen.setdefault(word, set()).update(true - {words[word]})
        assert seen == {w: {*OTHER[r]} for w, r in words.items()}
        query = view.query
        good = [o for o in view.options if words[o.split(" ")[2]] in true_of(query, o)]
        assert good == [spec["task"]["answer"]]


def true_of(image: SeenImage, text: str) -> set[str]:
    parts = text.split(" ")
    names = [[color, shape] for shape, color, *_ in image.objects]
    pair = [names.index(parts[:2]), names.index(parts[3:])]
    return {relation for relation, *who in image.relations if who == pair}


def test_bootstrap() -> None:
    for spec in episodes("bootstrap"):
        words = {w: tuple(t) for w, t in spec["task"]["words"].items()}
        view = learner_view(spec)
        pairs = []
        for frame, image in zip(spec["frames"], view.images, strict=True):
            first, relation, second = frame.get("utterance", spec["task"]["answer"]).split(" ")
            things = looks(frame)
            assert len({*things}) == 3
            assert (relation, things.index(words[first]), things.index(words[second])) in image.relations
            (stranger,) = {*things} - {words[first], words[second]}
            assert stranger not in words.values()
            pairs.append(frozenset((first, second)))
        offered = [frozenset(option.split(" ")[::2]) for option in spec["task"]["options"]]
        assert len({*pairs[:6], *offered}) == 11
        assert pairs[6] in offered


def test_number() -> None:
    for spec in episodes("number"):
        words = spec["task"]["words"]
        assert sorted(len(f["objects"]) for f in spec["frames"][:6]) == [1, 2, 3, 4, 5, 6]
        assert all(words[f["utterance"]] == len(f["objects"]) for f in spec["frames"][:6])
        assert words[spec["task"]["answer"]] == len(spec["frames"][6]["objects"])
        assert {*spec["task"]["options"]} < {*words}


def test_pragmatic() -> None:
    for spec in episodes("pragmatic"):
        words = spec["task"]["words"]
        assert len(words) == 6
        for frame in spec["frames"]:
            pointed = next(o for o in frame["objects"] if o["name"] == frame["pointer"]["target"])
            others = [o for o in frame["objects"] if o is not pointed]
            assert len(others) == 2
            alone = [
                pointed[k] for k in ("shape", "color", "material", "size") if all(o[k] != pointed[k] for o in others)
            ]
            assert alone == [words[frame.get("utterance", spec["task"]["answer"])]]


@pytest.mark.parametrize("task", TASKS)
def test_balanced_options_hold_nothing_that_is_wrong_at_first_sight(task: str) -> None:
    for plain, spec in zip(episodes(task, 9), episodes(task, 9, balanced=True), strict=True):
        assert spec["frames"] == plain["frames"]
        assert spec["task"]["answer"] == plain["task"]["answer"]
        assert {*spec["task"]["options"]} <= {*plain["task"]["options"]}
        said = [f["utterance"] for f in spec["frames"][:6]]
        if task in (*SINGLE, "composite"):
            assert len(spec["task"]["options"]) == 3
        if task in SINGLE:
            assert {*spec["task"]["options"]} == {*said}
        else:
            assert task == "number" or task == "pragmatic" or not {*spec["task"]["options"]} & {*said}


def test_words_of_different_splits_make_different_maps() -> None:
    for task in TASKS:
        maps = {
            split: {frozenset(mewl_spec(0, split, task, k)["task"]["words"]) for k in range(40)} for split in SPLITS
        }
        for one, two in combinations(SPLITS, 2):
            assert not maps[one] & maps[two]
