"""What a task decides about an episode, and the spec (as JSON data) that this becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from scene_specs.benchmarks.mewl.things import ORDERS, TYPES, Order, Thing, in_order, index

# The benchmark's axes: members of an order along the first stand from left to right, along the second from front to
# behind.
AXES: tuple[tuple[str, str], ...] = (("left", "right"), ("front", "behind"))
CONTEXTS = 6
_LETTERS = "abcdef"


@dataclass(frozen=True)
class Image:
    """One picture of an episode.

    names: what the published files call each object, None for one without a name. pointed: index of the object that
    the hand points at. orders: of the objects from left to right, and from front to behind; None where it is free.
    """

    things: Sequence[Thing]
    names: Sequence[str | None]
    utterance: str | None = None
    pointed: int | None = None
    orders: tuple[Order, Order] | None = None


@dataclass(frozen=True)
class Draft:
    """Six contexts and the query, the map from words to concepts, the options in their order, and the answer."""

    images: Sequence[Image]
    words: dict[str, Any]
    options: Sequence[str]
    answer: str
    more: dict[str, Any] = field(default_factory=dict)


def orders_with(rng: np.random.Generator, *demanded: tuple[str, int, int]) -> tuple[Order, Order]:
    """Orders of three objects on both axes, drawn, in which each demanded (relation, subject, of) holds.

    At most one demand an axis.
    """
    orders = [ORDERS[index(rng, 6)], ORDERS[index(rng, 6)]]
    for relation, subject, of in demanded:
        for axis, (first, second) in enumerate(AXES):
            if relation in (first, second):
                pair = (subject, of) if relation == first else (of, subject)
                orders[axis] = in_order(orders[axis], *pair)
    return (orders[0], orders[1])


def holds(orders: tuple[Order, Order], relation: str, subject: int, of: int) -> bool:
    """Whether the subject stands so of the other object, in these orders."""
    axis = 0 if relation in AXES[0] else 1
    before = orders[axis].index(subject) < orders[axis].index(of)
    return before == (relation == AXES[axis][0])


def _frame(image: Image, name: str) -> dict[str, Any]:
    objects = [{"name": _LETTERS[k], **dict(zip(TYPES, thing, strict=True))} for k, thing in enumerate(image.things)]
    frame: dict[str, Any] = {"name": name}
    if image.utterance is not None:
        frame["utterance"] = image.utterance
    frame["objects"] = objects
    if image.pointed is not None:
        frame["pointer"] = {"target": _LETTERS[image.pointed]}
    if image.orders is not None:
        # Neighbors are enough: with the stage's margin between them, all others follow.
        frame["constraints"] = [
            {"relation": first, "subject": _LETTERS[a], "of": _LETTERS[b]}
            for (first, _), order in zip(AXES, image.orders, strict=True)
            for a, b in pairwise(order)
        ]
    frame["truth"] = {"names": list(image.names)}
    return frame


def spec_of(draft: Draft, episode: str, seed: int, split: str, task: str, number: int) -> dict[str, Any]:
    """The spec as JSON data; scene_specs.language.spec.EpisodeSpec takes it as it is."""
    names = [f"context-{k}" for k in range(CONTEXTS)] + ["question"]
    truth = {"benchmark": "mewl", "name": task, "number": number, "words": draft.words}
    return {
        "version": 1,
        "id": episode,
        "seed": seed,
        "split": split,
        "frames": [_frame(image, name) for image, name in zip(draft.images, names, strict=True)],
        "task": {**truth, "options": list(draft.options), "answer": draft.answer, **draft.more},
    }
