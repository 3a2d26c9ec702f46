"""What follows from the shapes, colors and areas of a MALeViC scene: labels, thresholds, sentences, the answer.

A second implementation of the published rules. It imports nothing of the generator, so the two share no mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from diorama.scene_specs.benchmarks.malevic.truth import Caption, Described, Truth
from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.tasks.copies import Copy, lines_of

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
_OPPOSITE = {"big": "small", "small": "big", "biggest": "smallest", "smallest": "biggest"}
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


class Judged(NamedTuple):
    """The label of an object, in the words of truth.Described."""

    size: str | None
    threshold: float | None = None
    distance: float | None = None
    vagueness: str = "same"


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
        return [rival.area for rival in self.objects if not self.by_set or rival.shape == item.shape]

    def label(self, item: Seen) -> Judged:
        """Return the label of an object."""
        areas = self.rivals(item)
        if self.kind == "sup1":
            known = not self.by_set or len(areas) > 2
            size = "biggest" if item.area == max(areas) else "smallest" if item.area == min(areas) else None
            return Judged(size if known else None)
        spread = max(areas) - min(areas)
        if not spread:
            return Judged("small")
        limit = max(areas) - self.k * spread
        big, usual = (item.area > int(value) for value in (limit, max(areas) - self.usual * spread))
        vagueness = "same" if big == usual else "different"
        return Judged("big" if big else "small", limit, abs(item.area - limit) / spread, vagueness)

    def may_ask(self, item: Seen) -> bool:
        """Return whether the set can ask about an object."""
        looks = [(shown.shape, shown.color) for shown in self.objects]
        if looks.count((item.shape, item.color)) > 1 or item.radius in self.ends:
            return False
        rivals, everything = self.rivals(item), [shown.area for shown in self.objects]
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
        return self.hardness != "very-hard" or big_in_scene == (self.label(item).size == "small")

    def sentence(self, item: Seen, word: str) -> str:
        """Return the sentence that calls an object `word`."""
        noun = "object" if self.kind == "pos" else item.shape
        return f"The {item.color} {item.shape} is {'the' if self.kind == 'sup1' else 'a'} {word} {noun}"

    def captions(self) -> list[Caption]:
        """Return the sentences that can be asked, as an item stores them."""
        askable = []
        for index, item in enumerate(self.objects):
            if (size := self.label(item).size) and self.may_ask(item):
                true, false = (self.sentence(item, word) for word in (size, _OPPOSITE[size]))
                askable.append(Caption(object=index, true=true, false=false))
        return askable


def contradictions(truth: Truth, objects: Sequence[Seen]) -> Iterator[str]:
    """Yield each claim of an item that does not follow from its objects.

    Args:
        objects: as shown, in the item's order.
    """
    kind, hardness, _ = RULES[truth.name]
    mean = truth.reference_k
    scene = Scene(kind, hardness, objects, truth.k, mean, (min(truth.rads), max(truth.rads)))
    off = abs(scene.k - mean)
    if not off <= _FARTHEST * truth.reference_sigma or (truth.variant == "static" and off):
        yield f"k is {scene.k:g}; expected a number near {mean}, or {mean} itself if the variant is static"
    for item in objects:
        terms = ((item.radius, truth.rads), (item.shape, truth.shapes), (item.color, truth.colors))
        for key, (value, known) in zip(("rads", "shapes", "colors"), terms, strict=True):
            if value not in known:
                yield f"{key}: {value} occurs; the item has {preview_json(known)}"
    shapes, most = len({item.shape for item in objects}), 1 if kind in ("sup1", "pos1") and not scene.by_set else 4
    if not 5 <= len(objects) <= 9 or shapes > most:
        yield f"the scene has {len(objects)} objects of {shapes} shapes"
    if len(truth.objects) != len(objects):
        yield f"{len(objects)} objects are shown, {len(truth.objects)} described"
        return
    for index, (item, claimed) in enumerate(zip(objects, truth.objects, strict=True)):
        yield from _differences(f"objects[{index}].", claimed, item._asdict() | scene.label(item)._asdict())
    captions = scene.captions()
    stored = [caption.model_dump() for caption in truth.captions]
    pairs = zip_longest(stored, (caption.model_dump() for caption in captions))
    yield from lines_of(Copy(f"captions[{index}]", *pair) for index, pair in enumerate(pairs))
    if truth.question:
        yield from _about_question(truth, scene, captions)


def _about_question(truth: Truth, scene: Scene, captions: list[Caption]) -> Iterator[str]:
    asked = [pair for pair in captions if truth.question in (pair.true, pair.false)]
    if not asked:
        yield f"question: {truth.question!r} is not among the sentences about this scene"
        return
    item = scene.objects[asked[0].object]
    label = scene.label(item)._asdict()
    word = str(label.pop("size"))
    true = truth.question == asked[0].true
    claims = {"answer": "yes" if true else "no", "adjective": word if true else _OPPOSITE[word], **label}
    yield from _differences("", truth, {"asked": asked[0].object, "options": ("yes", "no"), **claims})
    if truth.name == "set-pos-compositional":
        usual = (item.shape in ("circle", "rectangle")) == (claims["adjective"] == "big")
        if usual == (truth.split == "test-unseen"):
            yield f"question: {truth.question!r} has a pair of the other splits, not of {truth.split}"


def _differences(at: str, claimed: Truth | Described, derived: Mapping[str, Any]) -> Iterator[str]:
    return lines_of(Copy(f"{at}{key}", getattr(claimed, key), value, _NEAR) for key, value in derived.items())
