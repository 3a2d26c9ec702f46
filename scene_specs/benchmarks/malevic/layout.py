"""Overlap tests of objects, vectorized over scenes.

Polygons with axis-parallel and diagonal edges are disjoint exactly if their projections on x, y, x + y or x - y are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.benchmarks.malevic.shapes import CLASSES, SHAPES, Areas, area_of, circle_of, extent

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_CIRCLE = SHAPES.index("circle")
# Length of a unit of x + y, or x - y.
_DIAGONAL = math.sqrt(0.5)


def _outline_table(areas: Areas, rads: Sequence[int]) -> tuple[Floats, Floats, Floats]:
    """Return, by shape, size class and pose, low and high ends (4, R, 2, 4) along x, y, x + y, x - y from the corner
    of the box, and width and height of the box (4, R, 2, 2).
    """
    low, high = np.zeros((2, 4, len(rads), 2, 4))
    boxes = np.zeros((4, len(rads), 2, 2))
    for s, shape in enumerate(SHAPES):
        for c, radius in enumerate(rads):
            for turned in (False, True):
                width, height = extent(shape, radius, turned, areas)
                corners = np.array([[0, 0], [width, 0], [0, height], [width, height]], dtype=np.float64)
                if shape == "triangle":
                    corners = np.array([[0, 0], [0, height], [width, height / 2]] if turned else
                                       [[0, 0], [width, 0], [width / 2, height]], dtype=np.float64)  # fmt: skip
                x, y = corners.T
                along = np.stack([x, y, x + y, x - y])
                low[s, c, int(turned)], high[s, c, int(turned)] = along.min(axis=1), along.max(axis=1)
                boxes[s, c, int(turned)] = width, height
    return low, high, boxes


def _circle_table(areas: Areas, rads: Sequence[int]) -> Floats:
    """Return x and y of the center from the corner of the box, and the radius, (R, 3)."""
    rows = []
    for radius in rads:
        dx, dy, true_radius = circle_of(radius, areas)
        half = extent("circle", radius, False, areas)[0] / 2
        # Pixels of a published circle lie in the disc of radius r, which is smaller than its outline.
        rows.append((half + dx, half + dy, float(radius) if areas == "published" else true_radius))
    return np.array(rows)


class Canvas:
    """Tables of the shapes, for one way of measuring areas and R size classes."""

    def __init__(self, areas: Areas, rads: Sequence[int] = CLASSES) -> None:
        self._low, self._high, self.boxes = _outline_table(areas, rads)
        self._circles = _circle_table(areas, rads)
        self.areas = np.array([[area_of(shape, radius, areas) for radius in rads] for shape in SHAPES])

    def clear(self, shape: Ints, size: Ints, turned: Ints, x: Floats, y: Floats, gap: Floats) -> NDArray[np.bool_]:
        """Return for each scene, (S,) bool, whether no two of its n objects overlap or are nearer than `gap` (S, n, n).

        shape, size (index of the size class), turned, x and y (corners of boxes): (S, n).
        """
        first, second = np.triu_indices(shape.shape[1], 1)
        corner = np.stack([x, y, x + y, x - y], axis=-1)
        low, high = self._low[shape, size, turned] + corner, self._high[shape, size, turned] + corner
        apart = np.maximum(low[:, second] - high[:, first], low[:, first] - high[:, second])
        apart[..., 2:] *= _DIAGONAL
        room = apart.max(axis=-1)
        center = np.stack([x, y], axis=-1) + self._circles[size, :2]
        radius = self._circles[size, 2]
        round_ = shape == _CIRCLE
        both = round_[:, first] & round_[:, second]
        away = center[:, first] - center[:, second]
        discs = np.sqrt((away * away).sum(axis=-1)) - radius[:, first] - radius[:, second]
        room = np.where(both, discs, room)
        for disc, other in ((first, second), (second, first)):
            disc_only = round_[:, disc] & ~round_[:, other]
            beside = self._least_distance(center[:, disc], low[:, other], high[:, other]) - radius[:, disc]
            room = np.where(disc_only, np.maximum(beside, room), room)
        clear: NDArray[np.bool_] = (room >= gap[:, first, second]).all(axis=-1)
        return clear

    @staticmethod
    def _least_distance(center: Floats, low: Floats, high: Floats) -> Floats:
        """Return a lower bound of the distance of a point from a box or triangle: from its box, and from its sides."""
        x, y = center[..., 0], center[..., 1]
        along = np.stack([x, y, x + y, x - y], axis=-1)
        beyond = np.maximum(low - along, along - high)
        outside = np.maximum(beyond[..., :2], 0.0)
        from_box = np.sqrt((outside * outside).sum(axis=-1))
        nearest: Floats = np.maximum(from_box, beyond[..., 2:].max(axis=-1) * _DIAGONAL)
        return nearest
