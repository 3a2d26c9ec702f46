"""MALeViC's shapes on the canvas of 1024 x 1024 units: exact areas in pixels, where they may lie, how a spec has them.

A size class r is half a square's edge. Square (2r x 2r), rectangle (4r x r, upright or level) and triangle (right
isosceles on a hypotenuse of 4r, pointing down or right) have the area 4 r^2; a circle has the pixels whose centers
are nearer than r to its own, about pi r^2, in the published sets, or, with `areas` "true", 4 r^2 pixels as the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

Areas = Literal["published", "true"]

CANVAS = 1024
SHAPES = ("triangle", "circle", "square", "rectangle")
COLORS: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {"red": (255, 0, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0), "green": (0, 255, 0), "white": (255, 255, 255)}
)
CLASSES = tuple(range(30, 121, 10))
# Pixels of a circle of each class in the published sets; tests count them.
_CIRCLES = (2809, 5013, 7825, 11277, 15361, 20069, 25433, 31397, 37969, 45213)
# Of circles of 4 r^2 pixels: x and y of the center within its pixel, and the radius. A search on a grid of 1/32 pixel
# found the center from which pixel 4 r^2 + 1 is farthest beyond pixel 4 r^2; the radius is halfway between the two.
_TRUE: Mapping[int, tuple[float, float, float]] = MappingProxyType(
    {
        30: (0.0, 0.0, 33.830447),
        40: (0.03125, 0.03125, 45.132116),
        50: (0.15625, 0.15625, 56.42433),
        60: (0.3125, 0.3125, 67.708992),
        70: (0.28125, 0.21875, 78.974296),
        80: (0.0, 0.0, 90.257961),
        90: (0.15625, 0.15625, 101.569182),
        100: (0.0, 0.0, 112.833948),
        110: (0.0, 0.0, 124.122923),
        120: (0.46875, 0.34375, 135.384962),
    }
)
# A diagonal through centers of pixels would leave it to rounding whose they are: triangles lie this much aside.
_ASIDE = 0.25


@dataclass(frozen=True)
class Thing:
    """An object. row, column: as published: a circle's center, a rectangle's and a square's middle, a triangle's apex.

    turned: the second of the two poses: a level rectangle, a triangle that points right. area: pixels on the canvas.
    """

    shape: str
    color: str
    radius: int
    row: float
    column: float
    turned: bool
    area: int


def area_of(shape: str, radius: int, areas: Areas = "published") -> int:
    """Pixels on the canvas."""
    if shape == "circle" and areas == "published":
        return _CIRCLES[CLASSES.index(radius)]
    return 4 * radius * radius


def extent(shape: str, radius: int, turned: bool, areas: Areas = "published") -> tuple[int, int]:
    """Width and height of the box of whole pixels that an object is drawn in."""
    if shape == "circle":
        reach = radius if areas == "published" else math.ceil(_TRUE[radius][2]) + 1
        return (2 * reach, 2 * reach)
    if shape == "square":
        return (2 * radius, 2 * radius)
    long, short = 4 * radius, radius if shape == "rectangle" else 2 * radius
    upright = (shape == "rectangle") != turned
    return (short, long) if upright else (long, short)


def anchor(shape: str, radius: int, turned: bool, areas: Areas = "published") -> tuple[float, float]:
    """Published (column, row) of an object, from the corner of its box."""
    width, height = extent(shape, radius, turned, areas)
    return (2.0 * radius, 2.0 * radius) if shape == "triangle" else (width / 2, height / 2)


def circle_of(radius: int, areas: Areas) -> tuple[float, float, float]:
    """Of a circle: x and y of its center within its pixel, and its radius in canvas units."""
    # Between the farthest pixel's center that is in it, at r^2 - 1 at the most, and the nearest that is not, at r^2.
    return (0.5, 0.5, math.sqrt(radius * radius - 0.5)) if areas == "published" else _TRUE[radius]


def placed(thing: Thing, areas: Areas = "published") -> dict[str, Any]:
    """An object of a spec on the stage `flat`, without a name. That stage has the colors by these names."""
    r, x, y = thing.radius, thing.column, thing.row
    turn, size = 0.0, float(r)
    if thing.shape == "circle":
        dx, dy, size = circle_of(r, areas)
        x, y = x + dx, y + dy
    elif thing.shape == "rectangle":
        turn = 0.0 if thing.turned else 90.0
    elif thing.shape == "triangle":
        turn, x, y = (-90.0, x - r, y + _ASIDE) if thing.turned else (0.0, x + _ASIDE, y - r)
    return {
        "shape": thing.shape,
        "size": round(size, 6),
        "color": thing.color,
        "location": [x, y],
        "rotation_deg": turn,
    }
