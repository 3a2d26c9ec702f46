"""Exact geometry of the seven pieces, numbered as published: eight rotations, and both sides of the parallelogram.

One unit is a quarter of a small triangle's leg (see root2), x to the right, y up, corners counter-clockwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from diorama.scene_specs.benchmarks.kilogram.root2 import ZERO, Root2
from diorama.scene_specs.language.outlines import edges

Point = tuple[Root2, Root2]
Polygon = tuple[Point, ...]

PIECES: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7)
# In areas of a small triangle; the total is 16.
AREAS: Mapping[int, int] = MappingProxyType({1: 2, 2: 2, 3: 1, 4: 1, 5: 2, 6: 4, 7: 4})
PARALLELOGRAM = 2
# Eighths of a turn that map a piece to itself; 8 for pieces not listed.
_SYMMETRY: Mapping[int, int] = MappingProxyType({1: 2, 2: 4})

# A rotation by 45 degrees divides by sqrt(2); coordinates of the base forms are chosen so that they stay integers.
_LEGS = {3: Root2(4), 4: Root2(4), 5: Root2(0, 4), 6: Root2(8), 7: Root2(8)}
_BASE: Mapping[int, Polygon] = MappingProxyType(
    {
        1: ((ZERO, ZERO), (Root2(4), ZERO), (Root2(4), Root2(4)), (ZERO, Root2(4))),
        2: ((ZERO, ZERO), (Root2(4), ZERO), (Root2(8), Root2(4)), (Root2(4), Root2(4))),
        **{piece: ((ZERO, ZERO), (leg, ZERO), (ZERO, leg)) for piece, leg in _LEGS.items()},
    }
)


@dataclass(frozen=True)
class Tangram:
    """Seven placed pieces; polygons[k] is piece k + 1. name: its id in files."""

    name: str
    polygons: tuple[Polygon, ...]

    def floats(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        """Return (7 pieces, corners, xy) as floats, in legs of a small triangle."""
        return tuple(tuple((float(x) / 4, float(y) / 4) for x, y in one) for one in self.polygons)


def _over_root(value: Root2) -> Root2:
    """Divide by r = sqrt(2): (a + b r) / r = b + a / 2 r."""
    return Root2(value.b, value.a // 2)


def _eighth(point: Point) -> Point:
    """Rotate by 45 degrees counter-clockwise."""
    x, y = point
    return (_over_root(x - y), _over_root(x + y))


@lru_cache(maxsize=64)
def oriented(piece: int, eighths: int, mirrored: bool = False) -> Polygon:
    """Return a piece rotated by `eighths` times 45 degrees, with its first corner at the origin; mirrored first."""
    corners: Sequence[Point] = _BASE[piece]
    if mirrored:
        corners = [(x, -y) for x, y in reversed(corners)]
    for _ in range(eighths % 8):
        corners = [_eighth(point) for point in corners]
    return moved(tuple(corners), (-corners[0][0], -corners[0][1]))


def moved(polygon: Polygon, by: Point) -> Polygon:
    """Return a polygon shifted by a vector."""
    return tuple((x + by[0], y + by[1]) for x, y in polygon)


def mirrored_x(polygon: Polygon) -> Polygon:
    """Return a polygon reflected at x = 0, still counter-clockwise."""
    return tuple((-x, y) for x, y in reversed(polygon))


@lru_cache(maxsize=8)
def orientations(piece: int) -> tuple[Polygon, ...]:
    """Return all orientations of a piece: 2 of the square, 8 of a triangle, 4 of each side of the parallelogram."""
    turns = range(_SYMMETRY.get(piece, 8))
    sides = (False, True) if piece == PARALLELOGRAM else (False,)
    return tuple(oriented(piece, turn, side) for side in sides for turn in turns)


def double_area(polygon: Polygon) -> Root2:
    """Return twice the signed area, positive counter-clockwise."""
    total = ZERO
    for (x1, y1), (x2, y2) in edges(polygon):
        total = total + (x1 * y2 - x2 * y1)
    return total
