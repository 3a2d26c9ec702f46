"""The generator's episodes against a prover that knows only the rules; and that prover against the rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from diorama.scene_specs.benchmarks.mewl.generate import mewl_spec
from tests.scene_specs.benchmarks.mewl.brute_force import RULES, brute_force, lexicons, seen

EPISODES_A_TASK = 25
SEED = 2024

# utterance, objects, and where they stand from left to right and from front to back: "abc", "cab"; or who is pointed at
Image = tuple[str, str, str]


def frame(task: str, image: Image) -> Any:
    utterance, things, order = image
    objects: list[dict[str, str]] = []
    for name, thing in zip("abcdef", things.split(", "), strict=False):
        size, color, material, shape = thing.split()
        objects.append({"name": name, "shape": shape, "color": color, "material": material, "size": size})
    made: Any = {"utterance": utterance, "objects": objects}
    if task == "pragmatic":
        made["pointer"] = {"target": order}
    elif order:
        across, back = order.split()
        made["constraints"] = [
            {"relation": relation, "subject": one, "of": other}
            for relation, row in (("left", across), ("front", back))
            for one, other in pairwise(row)
        ]
    return made


def episode(task: str, contexts: Sequence[Image], query: Image, options: str, answer: str) -> Any:
    frames = [frame(task, image) for image in (*contexts, query)]
    return {"frames": frames, "task": {"name": task, "options": options.split(", "), "answer": answer}}


def one(*pairs: str) -> list[Image]:
    """Contexts "word: object" of tasks without relations."""
    return [(utterance, things, "") for utterance, things in (pair.split(": ") for pair in pairs)]


CUBE, BALL, ROD = "large red rubber cube", "small blue metal sphere", "large green glass cylinder"
OBJECTS = one(f"k and b and r: {CUBE}, {BALL}, {ROD}", f"k and b and x: {BALL}, {CUBE}, small gray glass cube")
LEFT: Image = ("red cube lo blue sphere", f"{CUBE}, {BALL}, {ROD}", "abc abc")
LEFT_ONLY: Image = ("red cube lo blue sphere", f"{CUBE}, {BALL}, {ROD}", "abc cba")
FRONT: Image = ("blue sphere fi red cube", f"{CUBE}, {BALL}, {ROD}", "acb cba")
FRONT_ONLY: Image = ("red cube fi blue sphere", f"{CUBE}, {BALL}, {ROD}", "abc abc")
KB: Image = ("k left b", f"{CUBE}, {BALL}, {ROD}", "acb cab")
SAME = "large red rubber"

# name -> (task, contexts, query, options, answer); each is followed by what makes the episode good: contexts added.
AMBIGUOUS: dict[str, tuple[str, list[Image], Image, str, str, list[Image]]] = {
    "shape: color fits as well": (
        "shape",
        one(f"cu: {CUBE}", f"ba: {BALL}", f"ro: {ROD}"),
        ("", "large blue rubber cube", ""),
        "cu, ba, ro, du, dy",
        "cu",
        one("cu: small green glass cube"),
    ),
    "shape: size fits as well": (
        "shape",
        one("cu: large red rubber cube", "ba: small red rubber sphere"),
        ("", "small blue glass cube", ""),
        "cu, ba, du",
        "cu",
        one("cu: small red rubber cube"),
    ),
    "color: no word for it": (
        "color",
        one("re: large red rubber cube", "re: small red glass sphere", "bl: small blue rubber cube"),
        ("", "large cyan rubber cube", ""),
        "re, bl, cy, du, dy",
        "cy",
        one("cy: small cyan metal cube", "re: large red metal cube"),
    ),
    "material: shape fits as well": (
        "material",
        one("ru: large red rubber cube", "me: small red metal sphere", "gl: small red glass cylinder"),
        ("", "large red rubber sphere", ""),
        "ru, me, gl, du, dy",
        "ru",
        one("gl: large blue glass cube"),
    ),
    "object: k and b are always together": (
        "object",
        OBJECTS,
        ("", f"{CUBE}, {ROD}, small gray glass cube", ""),
        "k and r and x, b and r and x",
        "k and r and x",
        one(f"k and r and y: {CUBE}, {ROD}, small cyan glass cube"),
    ),
    "composite: the first word may be the color": (
        "composite",
        one("cu ru: large red rubber cube", "ba me: small blue metal sphere", "ba ru: large blue rubber sphere"),
        ("", "large blue metal cube", ""),
        "cu me, ba me, cu ru",
        "cu me",
        one("cu ru: large green rubber cube"),
    ),
    "relation: left or front": (
        "relation",
        [LEFT, FRONT],
        ("", f"{CUBE}, {BALL}, {ROD}", "bca cab"),
        "blue sphere lo red cube, red cube lo blue sphere",
        "blue sphere lo red cube",
        [LEFT_ONLY, FRONT_ONLY],
    ),
    "relation: a word that no context used": (
        "relation",
        [LEFT_ONLY, LEFT],
        ("", f"{CUBE}, {BALL}, {ROD}", "bca cab"),
        "blue sphere fi green cylinder, red cube fi blue sphere",
        "red cube fi blue sphere",
        [("blue sphere fi red cube", f"{CUBE}, {BALL}, {ROD}", "abc bac"), FRONT_ONLY],
    ),
    "bootstrap: any pair that stands so": (
        "bootstrap",
        [KB],
        ("", f"{CUBE}, {BALL}, {ROD}", "acb cab"),
        "k front b, b front k",
        "k front b",
        [("b right k", f"{CUBE}, {BALL}, small cyan glass cube", "acb cab")],
    ),
    "bootstrap: b is either of two": (
        "bootstrap",
        [KB, ("k behind b", f"{CUBE}, {BALL}, {ROD}", "abc cba")],
        ("", f"{CUBE}, {BALL}, small gray glass cube", "abc abc"),
        "k left b, b left k, c left b",
        "k left b",
        [("k front b", f"{CUBE}, {BALL}, small cyan glass cube", "abc acb")],
    ),
    "number: two words that no context used": (
        "number",
        one(f"wa: {CUBE}", f"tu: {CUBE}, {BALL}", f"se: {ROD}, {ROD}, {ROD}, {ROD}, {ROD}, {ROD}"),
        ("", f"{CUBE}, {BALL}, {ROD}", ""),
        "wa, tu, tri, fo, se",
        "tri",
        one(f"tri: {BALL}, {BALL}, {ROD}"),
    ),
    "pragmatic: two attributes tell it apart": (
        "pragmatic",
        [("cu", f"{CUBE}, large blue rubber sphere, large blue rubber cylinder", "a")],
        ("", "small cyan metal cube, small cyan metal sphere, small cyan glass sphere", "a"),
        "cu, bo",
        "cu",
        [("cu", f"{CUBE}, large red rubber sphere, large red rubber cylinder", "a")],
    ),
    "pragmatic: the query is told apart by two named attributes": (
        "pragmatic",
        [("cu", f"{CUBE}, large red rubber sphere, large red rubber cylinder", "a")],
        ("", f"{CUBE}, large blue rubber sphere, large blue rubber cylinder", "a"),
        "cu, bo",
        "cu",
        [("bo", f"{BALL}, small blue rubber sphere, small blue glass sphere", "a")],
    ),
}

# Contexts that no lexicon fits.
IMPOSSIBLE: dict[str, tuple[str, list[Image]]] = {
    "shape": ("w", one(f"w: {CUBE}", f"w: {BALL}")),
    "object": ("w and x and y", one(f"w and x and y: {CUBE}, {BALL}, {ROD}", f"w and x and z: {CUBE}, {BALL}, {ROD}")),
    "composite": ("v w", one(f"v w: {CUBE}", f"w v: {CUBE}")),
    "relation": ("red cube lo blue sphere", [LEFT_ONLY, (LEFT_ONLY[0], LEFT_ONLY[1], "cba abc")]),
    "bootstrap": ("k left b", [KB, ("b left k", KB[1], KB[2])]),
    "number": ("w", one(f"w: {CUBE}", f"w: {CUBE}, {BALL}")),
    "pragmatic": ("w", [("w", f"{CUBE}, {CUBE}, {BALL}", "a")]),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_ambiguous_episode_and_what_makes_it_good(name: str) -> None:
    task, contexts, query, options, answer, missing = AMBIGUOUS[name]
    ambiguous = brute_force(episode(task, contexts, query, options, answer))
    assert not ambiguous.accepted
    assert len(ambiguous.picks) > 1, "not rejected for leaving the answer open"
    good = brute_force(episode(task, [*contexts, *missing], query, options, answer))
    assert good.accepted, good.reason


@pytest.mark.parametrize("task", IMPOSSIBLE)
def test_contexts_that_nothing_explains(task: str) -> None:
    utterance, contexts = IMPOSSIBLE[task]
    verdict = brute_force(episode(task, contexts, ("", *contexts[0][1:]), utterance, utterance))
    assert not verdict.accepted
    assert verdict.reason == "no lexicon fits the contexts"


def test_the_last_word_is_known_by_exclusion() -> None:
    count = [", ".join([CUBE] * number) for number in range(7)]
    contexts = [(f"w{number}", count[number], "") for number in (1, 2, 3, 5, 6)]
    spec = episode("number", contexts, ("", count[4], ""), "w1, w4, w6", "w4")
    assert brute_force(spec).accepted
    assert not brute_force(spec, exclusion=False).accepted


@pytest.mark.parametrize("task", RULES)
def test_generated_episodes_have_one_answer(task: str) -> None:
    for number in range(EPISODES_A_TASK):
        spec = mewl_spec(SEED, "test", task, number)
        verdict = brute_force(spec)
        assert verdict.accepted, f"{spec['id']}: {verdict.reason}"
        assert list(verdict.picks) == [(spec["task"]["answer"],)]


@pytest.mark.parametrize("task", RULES)
def test_stored_words_are_a_lexicon_that_fits(task: str) -> None:
    """If the true lexicon were not among those enumerated, accepting would mean nothing."""
    spec = mewl_spec(SEED, "test", task, 0)
    shown = seen(spec)
    found = []
    for rules in RULES[task](shown):
        for lexicon in lexicons(rules, shown):
            found.append({word: lexicon[word] for word in spec["task"]["words"]})
    stored = spec["task"]["words"].items()
    true = {word: tuple(value) if isinstance(value, list) else str(value) for word, value in stored}
    # A meaning is ("color", "red"), ("left",) or an object's four values: in MEWL's files only the value of the first.
    assert true in [{word: m if len(m) == 4 else m[-1] for word, m in lexicon.items()} for lexicon in found]


def test_words_of_one_utterance_are_checked_together() -> None:
    """k and b are the first and the second thing or the third and the fourth; never the first and the fourth."""
    four = f"{CUBE}, {BALL}, {ROD}, small gray glass cube"
    contexts = [("k left b", four, "abcd abcd"), ("k left b", four, "cdab abcd")]
    query = ("", four, "abcd cdab")
    verdict = brute_force(episode("bootstrap", contexts, query, "k front b, b front k", "k front b"))
    assert (verdict.accepted, verdict.picks) == (True, {("k front b",): 2})


@pytest.mark.parametrize(("third", "good"), [(ROD, True), ("small gray glass cube", False)])
def test_a_new_word_names_a_new_object(third: str, good: bool) -> None:
    contexts = [KB, ("b right k", f"{CUBE}, {BALL}, small cyan glass cube", "acb cab")]
    query = ("", f"{CUBE}, {BALL}, {third}", "acb cab")
    assert brute_force(episode("bootstrap", contexts, query, "k left b, n left b", "k left b")).accepted == good


def twins(spec: Any) -> list[Any]:
    """The episode with two of its words made alike, for each pair of a word of the answer and another one.

    Only contexts that stay as they are when the two words change places are kept, and an option is the answer with
    the other word. So where a lexicon picks the answer, the one with their meanings exchanged picks the other option.
    """
    task, made = spec["task"], []
    answer = task["answer"].split(" ")
    for place, word in enumerate(answer):
        others = {option.split(" ")[place] for option in task["options"]} - set(answer)
        for other in sorted(others - {"left", "right", "front", "behind"} if word in task["words"] else ()):
            frames = []
            for image in spec["frames"]:
                uttered = image.get("utterance", "").split(" ")
                together = task["name"] == "object" and word in uttered
                if (other in uttered) == (word in uttered) == together or not uttered[0]:
                    frames.append(image)
            twin = " ".join([*answer[:place], other, *answer[place + 1 :]])
            made.append({"frames": frames, "task": {**task, "options": sorted({*task["options"], twin})}})
    return made


@pytest.mark.parametrize("task", RULES)
def test_twin_words_are_rejected(task: str) -> None:
    for number in range(4):
        made = twins(mewl_spec(SEED, "val", task, number))
        assert made
        assert not any(brute_force(spec).accepted for spec in made)


@pytest.mark.parametrize("task", RULES)
def test_any_other_answer_is_rejected(task: str) -> None:
    spec = mewl_spec(SEED, "val", task, 0)
    for option in spec["task"]["options"]:
        verdict = brute_force({**spec, "task": {**spec["task"], "answer": option}})
        assert verdict.accepted == (option == spec["task"]["answer"])


def test_two_spellings_of_the_answer_are_two_answers() -> None:
    spec = mewl_spec(SEED, "test", "object", 0)
    again = " and ".join(reversed(spec["task"]["answer"].split(" and ")))
    assert not brute_force({**spec, "task": {**spec["task"], "options": [*spec["task"]["options"], again]}}).accepted


def test_an_image_that_leaves_a_relation_open() -> None:
    spec = mewl_spec(SEED, "test", "relation", 0)
    spec["frames"][0]["constraints"] = spec["frames"][0]["constraints"][1:]
    with pytest.raises(ValueError, match="nothing or too much says how"):
        brute_force(spec)
