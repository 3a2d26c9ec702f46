"""Thresholds, size labels, and the objects that a set can ask about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from diorama.scene_specs.benchmarks.malevic.sets import Set
from diorama.scene_specs.benchmarks.malevic.shapes import Object


class Label(NamedTuple):
    """The label of an object.

    Attributes:
        size: the set's word, None for an object that is neither biggest nor smallest.
        threshold: None if all compared areas are equal, and for superlatives.
        distance: |area - threshold| / (greatest - least area); None where the threshold is.
        vague: whether the mean of k would give another word.
    """

    size: str | None
    threshold: float | None = None
    distance: float | None = None
    vague: bool = False


def threshold(areas: Sequence[int], k: float) -> float:
    """Return the threshold; areas above it, rounded down, are big."""
    return max(areas) - k * (max(areas) - min(areas))


def is_big(area: int, limit: float) -> bool:
    """Return whether an area is big, as published: the threshold is rounded down, and the comparison is strict."""
    return area > math.floor(limit)


def compared(which: Set, objects: Sequence[Object], item: Object) -> list[Object]:
    """Return the objects that an object is compared with, including itself."""
    return [other for other in objects if other.shape == item.shape] if which.by_set else list(objects)


def label_of(which: Set, objects: Sequence[Object], item: Object, k: float) -> Label:
    """Return the label of an object in its scene."""
    if which.kind == "sup1":
        radii = [other.radius for other in compared(which, objects, item)]
        ends = {min(radii): "smallest", max(radii): "biggest"}
        return Label(None if which.by_set and len(radii) < 3 else ends.get(item.radius))
    areas = [other.area for other in compared(which, objects, item)]
    if max(areas) == min(areas):
        return Label("small")
    limit = threshold(areas, k)
    big = is_big(item.area, limit)
    away = abs(item.area - limit) / (max(areas) - min(areas))
    vague = big != is_big(item.area, threshold(areas, which.reference_k))
    return Label("big" if big else "small", limit, away, vague)


def askable(which: Set, objects: Sequence[Object], item: Object, k: float) -> bool:
    """Return whether the set can ask about an object: unique, of a middle size class, and as hard as required."""
    alike = [other for other in objects if other.color == item.color and (which.one_shape or other.shape == item.shape)]
    if len(alike) > 1 or not which.rads[0] < item.radius < which.rads[-1]:
        return False
    label = label_of(which, objects, item, k)
    if which.kind == "sup1":
        radii = [other.radius for other in compared(which, objects, item)]
        extremes = radii.count(max(radii)) == 1 == radii.count(min(radii))
        return extremes and label.size is not None and (not which.by_set or _is_between(item, objects))
    if label.threshold is None:
        return False
    rivals = compared(which, objects, item)
    if which.by_set and len(rivals) < 3:
        return False
    if which.by_set and not which.hardness:
        return _is_between(item, objects)
    if which.hardness and not _is_between(item, rivals):
        return False
    # A very hard object would have the other word if compared with all objects of the scene.
    big_in_scene = is_big(item.area, threshold([other.area for other in objects], k))
    return which.hardness != "very-hard" or big_in_scene != (label.size == "big")


def _is_between(item: Object, objects: Sequence[Object]) -> bool:
    areas = [other.area for other in objects]
    return min(areas) < item.area < max(areas)
