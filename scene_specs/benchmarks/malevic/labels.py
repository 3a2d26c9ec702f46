"""What is big: thresholds, labels, and which objects a set may ask about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scene_specs.benchmarks.malevic.sets import Set
from scene_specs.benchmarks.malevic.shapes import CLASSES, Thing

# Mean and standard deviation of k, of the published sets.
K_MEAN, K_SD = 0.29, 0.066


@dataclass(frozen=True)
class Label:
    """size: the set's word for an object, None for one in between. threshold, distance: None where all compared areas
    are equal, and for superlatives. vague: whether k = 0.29 would give another word.

    distance: |area - threshold| / (greatest - least area).
    """

    size: str | None
    threshold: float | None = None
    distance: float | None = None
    vague: bool = False


def threshold(areas: Sequence[int], k: float) -> float:
    """Areas above it, rounded down, are big."""
    return max(areas) - k * (max(areas) - min(areas))


def is_big(area: int, limit: float) -> bool:
    """As published: the threshold is cut to an integer, and the comparison is strict."""
    return area > math.floor(limit)


def compared(which: Set, things: Sequence[Thing], thing: Thing) -> list[Thing]:
    """The objects that an object is compared with, itself among them."""
    return [one for one in things if one.shape == thing.shape] if which.by_set else list(things)


def label_of(which: Set, things: Sequence[Thing], thing: Thing, k: float) -> Label:
    """The word for one object of a scene."""
    if which.kind == "sup1":
        radii = [one.radius for one in things]
        ends = {max(radii): "biggest", min(radii): "smallest"}
        return Label(ends.get(thing.radius))
    areas = [one.area for one in compared(which, things, thing)]
    if max(areas) == min(areas):
        return Label("small")
    limit = threshold(areas, k)
    big = is_big(thing.area, limit)
    away = abs(thing.area - limit) / (max(areas) - min(areas))
    vague = big != is_big(thing.area, threshold(areas, K_MEAN))
    return Label("big" if big else "small", limit, away, vague)


def askable(which: Set, things: Sequence[Thing], thing: Thing, k: float) -> bool:
    """Whether the set may ask about an object: alone of its kind, of a middle class, and as hard as it should be."""
    alike = [one for one in things if one.color == thing.color and (which.one_shape or one.shape == thing.shape)]
    if len(alike) > 1 or not CLASSES[0] < thing.radius < CLASSES[-1]:
        return False
    label = label_of(which, things, thing, k)
    if which.kind == "sup1":
        radii = [one.radius for one in things]
        extremes = radii.count(max(radii)) == 1 == radii.count(min(radii))
        return extremes and label.size is not None
    if label.threshold is None:
        return False
    rivals = compared(which, things, thing)
    if which.by_set and len(rivals) < 3:
        return False
    if which.by_set and not which.hardness:
        return _between(thing, things)
    if which.hardness and not _between(thing, rivals):
        return False
    return which.hardness != "very-hard" or _contradicts(things, thing, label, k)


def _between(thing: Thing, things: Sequence[Thing]) -> bool:
    areas = [one.area for one in things]
    return min(areas) < thing.area < max(areas)


def _contradicts(things: Sequence[Thing], thing: Thing, label: Label, k: float) -> bool:
    """Whether an object would have the other word among all objects of the scene."""
    among_all = is_big(thing.area, threshold([one.area for one in things], k))
    return among_all != (label.size == "big")
