"""The convex hull of points in a plane."""

from __future__ import annotations

import numpy as np

from diorama.scene_specs.language.outlines import Point, turn_of
from diorama.scene_specs.rotation import Floats


def convex_hull(points: Floats) -> tuple[Point, ...]:
    """Return the convex hull of (N, 2) points, counter-clockwise (Andrew's monotone chain)."""
    ordered = [(x + 0.0, y + 0.0) for x, y in np.unique(np.round(points, 6), axis=0).tolist()]
    return tuple(_chain(ordered) + _chain(ordered[::-1])) if len(ordered) > 2 else tuple(ordered)


def _chain(points: list[Point]) -> list[Point]:
    """Return the hull of sorted points from the first up to the last, which is left out."""
    kept: list[Point] = []
    for point in points:
        while len(kept) > 1 and turn_of(kept[-2], kept[-1], point) <= 0:
            kept.pop()
        kept.append(point)
    return kept[:-1]
