"""What a task draws for an episode, and the spec (as JSON data) made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, permutations, product
from typing import Any, NamedTuple

import numpy as np

from diorama.scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, SHAPES, SIZES
from diorama.scene_specs.model.spec import EpisodeData, FrameData, ObjectData

# shape, color, material, size: the order of the published files.
Object = tuple[str, str, str, str]
Order = tuple[int, ...]

TYPES: tuple[str, ...] = ("shape", "color", "material", "size")
VALUES: Mapping[str, tuple[str, ...]] = dict(
    zip(TYPES, (SHAPES, tuple(COLORS), MEWL_MATERIALS, tuple(SIZES)), strict=True)
)
OBJECTS: tuple[Object, ...] = tuple(product(*(VALUES[kind] for kind in TYPES)))  # type: ignore[arg-type]
OBJECT_NUMBER: Mapping[Object, int] = {item: number for number, item in enumerate(OBJECTS)}
# The six orders in which three objects can stand along an axis.
ORDERS: tuple[Order, ...] = tuple(permutations(range(3)))


def index(rng: np.random.Generator, count: int) -> int:
    """Draw an integer from 0 to count - 1."""
    return int(rng.integers(count))


def object_with(rng: np.random.Generator, **fixed: str) -> Object:
    """Draw an object with the fixed attributes; every value of the others is equally likely."""
    draws = rng.random(len(TYPES)).tolist()
    shape, color, material, size = (
        fixed.get(kind) or VALUES[kind][int(u * len(VALUES[kind]))] for kind, u in zip(TYPES, draws, strict=True)
    )
    return (shape, color, material, size)


def in_order(order: Order, first: int, second: int) -> Order:
    """Return the order, with two members swapped if `first` does not come before `second`."""
    if order.index(first) < order.index(second):
        return order
    swap = {first: second, second: first}
    return tuple(swap.get(k, k) for k in order)


# The benchmark's axes. An order along the first runs from left to right, along the second from front to behind.
AXES: tuple[tuple[str, str], ...] = (("left", "right"), ("front", "behind"))
CONTEXTS = 6
QUESTION = "question"
_LETTERS = "abcdef"


class Image(NamedTuple):
    """One image of an episode.

    Attributes:
        names: of the objects in the published files, None for an object without a name.
        utterance: specs omit that of the query.
        pointed: index of the object that the hand points at.
        orders: of the objects from left to right and from front to behind; None if the layout is free.
    """

    objects: Sequence[Object]
    names: Sequence[str | None]
    utterance: str = ""
    pointed: int | None = None
    orders: tuple[Order, Order] | None = None


@dataclass(frozen=True)
class Draft:
    """Six contexts and the query, the map from words to meanings, the options in order, and the answer.

    Attributes:
        more: further keys of the spec's `task`.
    """

    images: Sequence[Image]
    words: dict[str, Any]
    options: Sequence[str]
    answer: str
    more: dict[str, Any] = field(default_factory=dict)


def orders_with(rng: np.random.Generator, *required: tuple[str, int, int]) -> tuple[Order, Order]:
    """Draw orders of three objects along both axes in which each (relation, subject, of) holds; one per axis."""
    orders = [ORDERS[index(rng, 6)], ORDERS[index(rng, 6)]]
    for relation, subject, of in required:
        for axis, (first, second) in enumerate(AXES):
            if relation in (first, second):
                pair = (subject, of) if relation == first else (of, subject)
                orders[axis] = in_order(orders[axis], *pair)
    return (orders[0], orders[1])


def holds(orders: tuple[Order, Order], relation: str, subject: int, of: int) -> bool:
    """Return whether `subject` stands in the relation to `of`, given the orders along both axes."""
    axis = 0 if relation in AXES[0] else 1
    before = orders[axis].index(subject) < orders[axis].index(of)
    return before == (relation == AXES[axis][0])


def _frame_data(image: Image, name: str) -> FrameData:
    objects: list[ObjectData] = [
        {"name": _LETTERS[k], "shape": shape, "color": color, "material": material, "size": size}
        for k, (shape, color, material, size) in enumerate(image.objects)
    ]
    frame: FrameData = {"name": name}
    if name != QUESTION:
        frame["utterance"] = image.utterance
    frame["objects"] = objects
    if image.pointed is not None:
        frame["pointer"] = {"target": _LETTERS[image.pointed]}
    if image.orders is not None:
        # Relations of neighbors imply all others, given the stage's margin between neighbors.
        frame["constraints"] = [
            {"relation": first, "subject": _LETTERS[a], "of": _LETTERS[b]}
            for (first, _), order in zip(AXES, image.orders, strict=True)
            for a, b in pairwise(order)
        ]
    frame["truth"] = {"names": list(image.names)}
    return frame


def spec_of(draft: Draft, episode: str, seed: int, split: str, task: str, number: int) -> EpisodeData:
    """Return the spec as JSON data, valid for diorama.scene_specs.model.spec.EpisodeSpec."""
    names = [f"context-{k}" for k in range(CONTEXTS)] + [QUESTION]
    truth = {"benchmark": "mewl", "name": task, "number": number, "words": draft.words}
    return {
        "version": 1,
        "id": episode,
        "seed": seed,
        "stage": "mewl",
        "split": split,
        "frames": [_frame_data(image, name) for image, name in zip(draft.images, names, strict=True)],
        "task": {**truth, "options": list(draft.options), "answer": draft.answer, **draft.more},
    }
