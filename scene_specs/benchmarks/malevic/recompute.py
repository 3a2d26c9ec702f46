"""What follows from the shapes, colors and areas of a MALeViC scene: labels, thresholds, sentences, the answer.

A second implementation of the published rules. It imports nothing of the generator, so the two share no mistake.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from diorama.scene_specs.language.diagnostics import preview_json

_TEST, _TRAINING, _COMPOSITIONAL = ("test",), ("train", "val"), ("train", "val", "test-seen", "test-unseen")
# Task, hardness and splits of each set.
RULES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    **{kind: (kind, "", _TRAINING + _TEST) for kind in ("sup1", "pos1", "pos", "set-pos")},
    **{f"{kind}-hard": (kind, "hard", _TEST) for kind in ("pos1", "pos", "set-pos")},
    **{f"generalization-{letter}": ("set-pos", "", _TRAINING) for letter in "BCDEFGH"},
    "sup1-hard": ("sup1", "hard", _TEST),
    "set-pos-very-hard": ("set-pos", "very-hard", _TEST),
    "set-pos-compositional": ("set-pos", "", _COMPOSITIONAL),
}
# What items may say of themselves.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "world": ("flat", "3d"), "variant": ("vague", "static"), "areas": ("published", "true"),
}  # fmt: skip
# Claims about a question.
_CLAIMS = ("answer", "asked", "adjective", "options", "threshold", "distance", "vagueness")
_OPPOSITE = {"big": "small", "small": "big", "biggest": "smallest", "smallest": "biggest"}
# What items keep of it if it is not as published: mean and standard deviation of k, size classes, words.
TERMS: Mapping[str, Any] = {
    "reference_k": 0.29, "reference_sigma": 0.066, "rads": [*range(30, 121, 10)],
    "shapes": ["triangle", "circle", "square", "rectangle"], "colors": ["red", "blue", "yellow", "green", "white"],
}  # fmt: skip
# Farther from the mean, in standard deviations, no generator of numbers with 53 bits draws k.
_FARTHEST = 8.5
# Stored numbers have four decimals.
_NEAR = 6e-5


class Seen(NamedTuple):
    """An object of a scene.

    Attributes:
        radius: size class.
        row: as published, the center, of a triangle the apex.
        column: as published, the center, of a triangle the apex.
    """

    shape: str
    color: str
    radius: int
    area: int
    row: int
    column: int
    turned: bool


class Scene(NamedTuple):
    """The objects of an item, and what decides their labels.

    Attributes:
        usual: mean of k.
        ends: smallest and largest size class.
    """

    kind: str
    hardness: str
    objects: Sequence[Seen]
    k: float
    usual: float = 0.29
    ends: tuple[int, int] = (30, 120)

    @property
    def by_set(self) -> bool:
        """Return whether only objects of one shape are compared."""
        return (self.kind, self.hardness) == ("sup1", "hard") or self.kind == "set-pos"

    def rivals(self, item: Seen) -> list[int]:
        """Return the areas that an object is compared with."""
        return [one.area for one in self.objects if not self.by_set or one.shape == item.shape]

    def label(self, item: Seen) -> dict[str, Any]:
        """Return size, threshold, distance and vagueness of an object, as an item stores them."""
        nothing = {"threshold": None, "distance": None, "vagueness": "same"}
        areas = self.rivals(item)
        if self.kind == "sup1":
            known = not self.by_set or len(areas) > 2
            size = "biggest" if item.area == max(areas) else "smallest" if item.area == min(areas) else None
            return {"size": size if known else None, **nothing}
        spread = max(areas) - min(areas)
        if not spread:
            return {"size": "small", **nothing}
        limit = max(areas) - self.k * spread
        big, usual = (item.area > int(value) for value in (limit, max(areas) - self.usual * spread))
        found = {"size": "big" if big else "small", "vagueness": "same" if big == usual else "different"}
        return {**found, "threshold": limit, "distance": abs(item.area - limit) / spread}

    def may_ask(self, item: Seen) -> bool:
        """Return whether the set can ask about an object."""
        looks = [(one.shape, one.color) for one in self.objects]
        if looks.count((item.shape, item.color)) > 1 or item.radius in self.ends:
            return False
        rivals, everything = self.rivals(item), [one.area for one in self.objects]
        if self.kind == "sup1":
            extreme = item.area in (max(rivals), min(rivals))
            single = extreme and rivals.count(max(rivals)) == rivals.count(min(rivals)) == 1
            inner = min(everything) < item.area < max(everything) and len(rivals) > 2
            return single and (inner or not self.by_set)
        if max(rivals) == min(rivals) or (self.kind == "set-pos" and len(rivals) < 3):
            return False
        ends = rivals if self.hardness else everything if self.kind == "set-pos" else []
        if ends and item.area in (max(ends), min(ends)):
            return False
        big_in_scene = item.area > int(max(everything) - self.k * (max(everything) - min(everything)))
        return self.hardness != "very-hard" or big_in_scene == (self.label(item)["size"] == "small")

    def sentence(self, item: Seen, word: str) -> str:
        """Return the sentence that calls an object `word`."""
        noun = "object" if self.kind == "pos" else item.shape
        return f"The {item.color} {item.shape} is {'the' if self.kind == 'sup1' else 'a'} {word} {noun}"

    def captions(self) -> list[dict[str, Any]]:
        """Return the sentences that can be asked, as an item stores them."""
        found = []
        for index, item in enumerate(self.objects):
            size = self.label(item)["size"]
            if self.may_ask(item):
                true, false = (self.sentence(item, word) for word in (size, _OPPOSITE[size]))
                found.append({"object": index, "true": true, "false": false})
        return found


def contradictions(task: Mapping[str, Any], objects: Sequence[Seen]) -> Iterator[str]:
    """Yield each claim of an item that does not follow from its objects. Raises KeyError or TypeError if one lacks.

    Args:
        objects: as shown, in the item's order.
    """
    kind, hardness, _ = RULES[task["name"]]
    terms = {key: task.get(key, usual) for key, usual in TERMS.items()}
    mean, spread = number_of(terms["reference_k"]), number_of(terms["reference_sigma"])
    scene = Scene(kind, hardness, objects, number_of(task["k"]), mean, (min(terms["rads"]), max(terms["rads"])))
    off = abs(scene.k - mean)
    if not off <= _FARTHEST * spread or (task["variant"] == "static" and off):
        yield f"k is {scene.k:g}; expected a number near {mean}, or {mean} itself if the variant is static"
    for item in objects:
        for key, value in (("rads", item.radius), ("shapes", item.shape), ("colors", item.color)):
            if value not in terms[key]:
                yield f"{key}: {value} occurs; the item has {preview_json(terms[key])}"
    shapes, most = len({item.shape for item in objects}), 1 if kind in ("sup1", "pos1") and not scene.by_set else 4
    if not 5 <= len(objects) <= 9 or shapes > most:
        yield f"the scene has {len(objects)} objects of {shapes} shapes"
    if len(task["objects"]) != len(objects):
        yield f"{len(objects)} objects are shown, {len(task['objects'])} described"
        return
    for index, (item, claimed) in enumerate(zip(objects, task["objects"], strict=True)):
        yield from _differences(f"objects[{index}].", claimed, {**item._asdict(), **scene.label(item)})
    captions = scene.captions()
    for index, (stored, found) in enumerate(zip_longest(task["captions"], captions)):
        if stored != found:
            yield f"captions[{index}]: stored {preview_json(stored)}, found {preview_json(found)}"
    if "question" in task:
        yield from _about_question(task, scene, captions)
    elif claims := [key for key in _CLAIMS if key in task]:
        yield f"{', '.join(claims)}: stored, but there is no question"


def number_of(value: Any) -> float:
    """Return a stored number. Raises TypeError for a text or a truth value."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"found {preview_json(value)}; expected a number")
    return float(value)


def _about_question(task: Mapping[str, Any], scene: Scene, captions: list[dict[str, Any]]) -> Iterator[str]:
    asked = [pair for pair in captions if task["question"] in (pair["true"], pair["false"])]
    if not asked:
        yield f"question: {task['question']!r} is not among the sentences about this scene"
        return
    item = scene.objects[asked[0]["object"]]
    label = scene.label(item)
    word = label.pop("size")
    true = task["question"] == asked[0]["true"]
    claims = {"answer": "yes" if true else "no", "adjective": word if true else _OPPOSITE[word], **label}
    yield from _differences("", task, {"asked": asked[0]["object"], "options": ["yes", "no"], **claims})
    if task["name"] == "set-pos-compositional":
        usual = (item.shape in ("circle", "rectangle")) == (claims["adjective"] == "big")
        if usual == (task["split"] == "test-unseen"):
            yield f"question: {task['question']!r} has a pair of the other splits, not of {task['split']}"


def _differences(at: str, claimed: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    for key, value in found.items():
        stored = claimed[key]
        numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (stored, value))
        if not (math.isclose(stored, value, rel_tol=0.0, abs_tol=_NEAR) if numbers else stored == value):
            yield f"{at}{key}: stored {preview_json(stored)}, found {preview_json(value)}"
