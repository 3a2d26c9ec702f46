"""One step of many layouts at once: candidate places of one object beside those already placed.

Candidates are uniform over the area. Where margins and relations leave only strips of it, they are drawn uniformly
from those strips instead, which is the same distribution with fewer tries wasted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Ground2:
    """The area (x0, x1), (y0, y1) and the deciding camera's right and front on the ground, unit length."""

    x: tuple[float, float]
    y: tuple[float, float]
    right: tuple[float, float]
    front: tuple[float, float]

    def along(self, axis: int, x: Floats, y: Floats) -> Floats:
        """Coordinate along right (axis 0) or front (axis 1)."""
        direction = self.right if axis == 0 else self.front
        return x * direction[0] + y * direction[1]

    def extent(self, axis: int) -> tuple[float, float]:
        """Least and greatest coordinate of the area along an axis."""
        direction = self.right if axis == 0 else self.front
        ends = [x * direction[0] + y * direction[1] for x in self.x for y in self.y]
        return (min(ends), max(ends))


@dataclass(frozen=True)
class Strips:
    """Free intervals of B layouts: start and length (B, G); total (B,)."""

    start: Floats
    length: Floats

    @property
    def total(self) -> Floats:
        # In sequence: the order of a plain sum is a processor's choice.
        summed: Floats = np.cumsum(self.length, axis=1)[:, -1]
        return summed

    def at(self, u: Floats) -> Floats:
        """(B, T) shares in [0, 1) of the total length -> coordinates (B, T)."""
        ends = np.cumsum(self.length, axis=1)
        reach: Floats = u * ends[:, -1:]
        passed = (reach[:, :, None] >= ends[:, None, :]).sum(axis=2)
        which = np.minimum(passed, self.length.shape[1] - 1)
        start: Floats = np.take_along_axis(self.start - (ends - self.length), which, axis=1)
        placed: Floats = start + reach
        return placed


def free_strips(low: Floats, high: Floats, taken: Floats, margin: float) -> Strips:
    """What is left of [low, high] (B,) when nothing may lie nearer than `margin` to any of `taken` (B, P)."""
    if margin <= 0 or not taken.shape[1]:
        return Strips(low[:, None], np.maximum(high - low, 0.0)[:, None])
    ordered = np.sort(taken, axis=1)
    start = np.concatenate([low[:, None], np.maximum(ordered + margin, low[:, None])], axis=1)
    end = np.concatenate([np.minimum(ordered - margin, high[:, None]), high[:, None]], axis=1)
    return Strips(start, np.maximum(end - start, 0.0))


def candidates(ground: Ground2, strips: tuple[Strips, Strips], u: Floats) -> tuple[Floats, Floats]:
    """x, y (B, T), 6 decimals, of draws u (B, T, 2)."""
    x = ground.x[0] + u[:, :, 0] * (ground.x[1] - ground.x[0])
    y = ground.y[0] + u[:, :, 1] * (ground.y[1] - ground.y[0])
    whole = (ground.x[1] - ground.x[0]) * (ground.y[1] - ground.y[0])
    narrow = (strips[0].total * strips[1].total < whole)[:, None]
    if narrow.any():
        across, deep = strips[0].at(u[:, :, 0]), strips[1].at(u[:, :, 1])
        x = np.where(narrow, across * ground.right[0] + deep * ground.front[0], x)
        y = np.where(narrow, across * ground.right[1] + deep * ground.front[1], y)
    return np.round(x, 6) + 0.0, np.round(y, 6) + 0.0
