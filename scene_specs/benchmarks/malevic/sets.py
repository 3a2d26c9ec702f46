"""MALeViC's data sets: numbers of items, classes of queries, and sentences.

The class of an item is (shape, color, adjective, truth of the sentence). Item n of a split has class n modulo the
number of classes, so any run of that many items is balanced.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, Literal, NamedTuple

from diorama.scene_specs.benchmarks.malevic import Options
from diorama.scene_specs.benchmarks.malevic.shapes import CLASSES, COLORS, SHAPES
from diorama.scene_specs.benchmarks.malevic.truth import Truth
from diorama.scene_specs.errors import check_choice, located
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.language.validation import validated

Kind = Literal["sup1", "pos1", "pos", "set-pos"]
Hardness = Literal["", "hard", "very-hard"]

# Pairs in the training data of the compositional set; test-unseen has the others.
SEEN: Mapping[str, str] = {"circle": "big", "rectangle": "big", "square": "small", "triangle": "small"}
# Items with the unseen pair (LANTERN 2019), of 1000 training items and 125 validation items per shape and answer. A
# half is rounded up for triangles and rectangles, and down for the others.
GENERALIZATION: Mapping[str, tuple[float, float]] = dict(
    zip("BCDEFGH", ((8, 1), (16, 2), (32, 4), (64, 8), (128, 16), (256, 32), (500, 62.5)), strict=True)
)
# Options that each item keeps, if they are not the published ones; they are fields of Set, too.
TERMS = ("reference_k", "reference_sigma", "shapes", "colors", "rads")
RAW = "raw"
K_MEAN = 0.29
_MAIN = {"train": 16000, "val": 2000, "test": 2000}
_COMPOSITIONAL = {"train": 8000, "val": 1000, "test-seen": 1000, "test-unseen": 1000}


class Class(NamedTuple):
    """The query of an item: shape and color of its object, adjective and truth of its sentence."""

    shape: str
    color: str
    adjective: str
    true: bool


@dataclass(frozen=True)
class Set:
    """A data set.

    Attributes:
        kind: the task.
        hardness: of the published variants.
        splits: name -> number of items.
        base: the set with the same images but other questions.
        swapped: items with the unseen pair per shape and answer, in (train, val).
        rads: size classes, in order.
    """

    name: str
    kind: Kind
    splits: Mapping[str, int]
    hardness: Hardness = ""
    compositional: bool = False
    base: str = ""
    swapped: tuple[float, float] = (0, 0)
    reference_k: float = K_MEAN
    reference_sigma: float = 0.066
    shapes: tuple[str, ...] = SHAPES
    colors: tuple[str, ...] = tuple(COLORS)
    rads: tuple[int, ...] = CLASSES

    @property
    def one_shape(self) -> bool:
        """Return whether all objects of a scene have the same shape."""
        return self.kind in ("sup1", "pos1") and not self.by_set

    @property
    def by_set(self) -> bool:
        """Return whether an object is only compared with objects of its shape."""
        return self.kind == "set-pos" or (self.kind == "sup1" and bool(self.hardness))

    def terms(self) -> dict[str, Any]:
        """Return what is not as in the published sets."""
        own = {key: value for key in TERMS if (value := getattr(self, key)) != getattr(SETS[self.name], key)}
        return {key: [*value] if isinstance(value, tuple) else value for key, value in own.items()}


def _all_sets() -> dict[str, Set]:
    main: list[Kind] = ["sup1", "pos1", "pos", "set-pos"]
    sets = [Set(kind, kind, _MAIN) for kind in main]
    sets += [Set(f"{kind}-hard", kind, {"test": 2000}, "hard") for kind in main]
    sets.append(Set("set-pos-very-hard", "set-pos", {"test": 2000}, "very-hard"))
    sets.append(Set("set-pos-compositional", "set-pos", _COMPOSITIONAL, compositional=True))
    for letter, swapped in GENERALIZATION.items():
        splits = {"train": 8000, "val": 1000}
        sets.append(Set(f"generalization-{letter}", "set-pos", splits, "", True, "set-pos-compositional", swapped))
    return {which.name: which for which in sets}


SETS: Mapping[str, Set] = _all_sets()


def set_of(truth: Truth) -> Set:
    """Return the set of an item, by the terms that it keeps. Raises SpecError for a name or terms that no set has."""
    with located(path="task"):
        check_choice("set", truth.name, SETS)
        return set_by(truth.name, validated(Options, {key: getattr(truth, key) for key in TERMS}))


def set_by(name: str, options: Options) -> Set:
    """Return a set with the terms of options."""
    shapes = tuple(shape for shape in SHAPES if shape in options.shapes)
    colors = tuple(color for color in COLORS if color in options.colors)
    return replace(
        SETS[name], reference_k=options.reference_k, reference_sigma=options.reference_sigma, shapes=shapes,
        colors=colors, rads=tuple(sorted({*options.rads})),
    )  # fmt: skip


def classes(which: Set, split: str) -> list[Class]:
    """Return the classes of a split, in the order of item numbers."""
    return [
        Class(shape, color, adjective, true)
        for true, adjective, shape, color in product((True, False), adjectives(which), which.shapes, which.colors)
        if not which.compositional or (SEEN[shape] == adjective) != (split == "test-unseen")
    ]


def adjectives(which: Set) -> tuple[str, str]:
    """Return the two adjectives of a set, the smaller first."""
    return ("smallest", "biggest") if which.kind == "sup1" else ("small", "big")


def class_of(which: Set, split: str, number: int, seed: int = 0) -> tuple[Class, Class]:
    """Return the class of an item's image and that of its question, which differs only in generalization sets."""
    all_classes = classes(which, split)
    of_image = all_classes[number % len(all_classes)]
    # Rank of the item among those of its shape and answer.
    rank = number // len(all_classes) * len(COLORS) + list(COLORS).index(of_image.color)
    rank %= which.splits[split] // 8
    if not which.base or rank not in _swapped_ranks(which.name, split, of_image.shape, of_image.true, seed):
        return of_image, of_image
    return of_image, Class(of_image.shape, of_image.color, opposite(which, of_image.adjective), not of_image.true)


@lru_cache(maxsize=256)
def _swapped_ranks(name: str, split: str, shape: str, true: bool, seed: int) -> frozenset[int]:
    """Return the ranks, among the items of a shape and answer (an eighth of the split), that ask about the unseen pair.

    As published, each set has a sample of its own: sets are not nested.
    """
    rng = generator(seed, f"malevic/{name}/{split}/{shape}", f"swapped {true}")
    count = SETS[name].swapped[split != "train"]
    rounded = math.ceil(count) if shape in ("triangle", "rectangle") else math.floor(count)
    return frozenset(rng.permutation(SETS[name].splits[split] // 8)[:rounded].tolist())


def sentence(which: Set, shape: str, color: str, adjective: str) -> str:
    """Return the sentence as published, without a period."""
    if which.kind == "sup1":
        return f"The {color} {shape} is the {adjective} {shape}"
    return f"The {color} {shape} is a {adjective} {'object' if which.kind == 'pos' else shape}"


def opposite(which: Set, adjective: str) -> str:
    """Return the other adjective of the set."""
    small, big = adjectives(which)
    return big if adjective == small else small
