"""Outlines of flat shapes, by name or by corners, and their area and self-intersections.

Corners are (x, y) at scale 1 about the object's origin. A circle has radius 1; square, rectangle and triangle have the
area 4: a square of edge 2, a rectangle of 4 x 1, a right isosceles triangle on a hypotenuse of 4, apex towards +y.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

Point = tuple[float, float]
_Corner = TypeVar("_Corner")

# A chord of a circle of radius 200 is within 0.001 of its arc, so no pixel center is missed.
CIRCLE_CORNERS = 1024
# Name of shapes that are given by their corners.
POLYGON = "polygon"


def _circle_points() -> tuple[Point, ...]:
    turns = [2 * math.pi * (k + 0.5) / CIRCLE_CORNERS for k in range(CIRCLE_CORNERS)]
    return tuple((round(math.cos(t), 12), round(math.sin(t), 12)) for t in turns)


FLAT_SHAPES: Mapping[str, tuple[Point, ...]] = MappingProxyType(
    {
        "circle": _circle_points(),
        "square": ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)),
        "rectangle": ((-2.0, -0.5), (2.0, -0.5), (2.0, 0.5), (-2.0, 0.5)),
        "triangle": ((-2.0, -1.0), (2.0, -1.0), (0.0, 1.0)),
    }
)


def edges(corners: Sequence[_Corner]) -> Iterator[tuple[_Corner, _Corner]]:
    """Yield the sides of a polygon as pairs of corners, from the last corner back to the first."""
    return zip(corners, (*corners[1:], corners[0]), strict=True)


def signed_area(corners: Sequence[Point]) -> float:
    """Return the area of a polygon, positive if its corners turn from +x to +y: clockwise on a screen with y down."""
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in edges(corners)) / 2


def turn_of(a: Point, b: Point, c: Point) -> float:
    """Return twice the signed area of a triangle: positive if its corners turn from +x to +y, 0 if they are in line."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def distance_to_edge(p: Point, a: Point, b: Point) -> float:
    """Return the distance of a point from the line between two points."""
    x, y = b[0] - a[0], b[1] - a[1]
    part = ((p[0] - a[0]) * x + (p[1] - a[1]) * y) / ((x * x + y * y) or 1.0)
    part = min(max(part, 0.0), 1.0)
    return math.dist(p, (a[0] + part * x, a[1] + part * y))


def _lies_between(a: Point, b: Point, p: Point) -> bool:
    """Return whether p, on the line through a and b, lies between them."""
    return min(a[0], b[0]) <= p[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= p[1] <= max(a[1], b[1])


def _segments_meet(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Return whether the segments ab and cd have a point in common."""
    ends = ((a, b, c), (a, b, d), (c, d, a), (c, d, b))
    turns = [turn_of(*corners) for corners in ends]
    if (turns[0] > 0) != (turns[1] > 0) and (turns[2] > 0) != (turns[3] > 0) and 0 not in turns:
        return True
    return any(turn == 0 and _lies_between(*corners) for turn, corners in zip(turns, ends, strict=True))


def crossing(corners: Sequence[Point]) -> tuple[int, int] | None:
    """Return two edges, as indices of their first corners, that meet without being neighbors or that fold back on each
    other; None for a simple polygon. An edge of length 0 folds back on its neighbor.
    """
    count = len(corners)
    for i in range(count):
        a, b = corners[i], corners[(i + 1) % count]
        after = corners[(i + 2) % count]
        folds = (a[0] - b[0]) * (after[0] - b[0]) + (a[1] - b[1]) * (after[1] - b[1]) > 0
        if a == b or (folds and turn_of(a, b, after) == 0):
            return (i, (i + 1) % count)
        for j in range(i + 2, count - (i == 0)):
            if _segments_meet(a, b, corners[j], corners[(j + 1) % count]):
                return (i, j)
    return None
