"""Free ground between two objects: discs, or convex outlines where they are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from render.geometry.shapenet.repair import convex_hull

Floats = NDArray[np.float64]
Outline = Sequence[tuple[float, float]]


def difference(first: Outline | None, second: Outline | None) -> Floats:
    """(N, 2): where the second's origin may not be, seen from the first's, lest their outlines meet; counter-clockwise.

    The Minkowski difference of convex outlines; None is a point.
    """
    a = np.array(first or [(0.0, 0.0)])
    b = np.array(second or [(0.0, 0.0)])
    sums = (a[:, None, :] - b[None, :, :]).reshape(-1, 2)
    return np.array(convex_hull(sums))


def clearance(x: Floats, y: Floats, outline: Floats) -> Floats:
    """Distance of points from a convex outline (N, 2), counter-clockwise; negative inside. Shape of x."""
    ends = np.roll(outline, -1, axis=0)
    nearest = np.full(np.shape(x), np.inf)
    inside = np.ones(np.shape(x), dtype=bool)
    for (ax, ay), (bx, by) in zip(outline.tolist(), ends.tolist(), strict=True):
        ex, ey = bx - ax, by - ay
        length2 = max(ex * ex + ey * ey, 1e-18)
        px, py = x - ax, y - ay
        share = np.clip((px * ex + py * ey) / length2, 0.0, 1.0)
        qx, qy = px - share * ex, py - share * ey
        nearest = np.minimum(nearest, qx * qx + qy * qy)
        inside &= ex * py - ey * px >= 0
    distance = np.sqrt(nearest)
    return np.where(inside & (len(outline) > 2), -distance, distance)
