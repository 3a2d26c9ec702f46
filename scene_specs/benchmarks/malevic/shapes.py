"""MALeViC's shapes on the canvas of 1024 x 1024 units: exact areas in pixels, bounding boxes, objects of specs.

A size class r is half the edge of a square. Square (2r x 2r), rectangle (4r x r, upright or level) and triangle (right
isosceles on a hypotenuse of 4r, pointing down or right) have the area 4 r^2. A published circle has the pixels whose
centers are nearer than r to its own, about pi r^2; with `areas` "true" it has 4 r^2 pixels like the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from diorama.scene_specs.model.spec import ObjectData

Areas = Literal["published", "true"]

CANVAS = 1024
SHAPES = ("triangle", "circle", "square", "rectangle")
COLORS: Mapping[str, tuple[int, int, int]] = {
    "red": (255, 0, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0), "green": (0, 255, 0), "white": (255, 255, 255),
}  # fmt: skip
CLASSES = tuple(range(30, 121, 10))
# Of circles of 4 r^2 pixels: x and y of the center within its pixel, and the radius. A search on a grid of 1/32 pixel
# found the center from which pixel 4 r^2 + 1 is farthest beyond pixel 4 r^2; the radius is halfway between the two.
_TRUE: Mapping[int, tuple[float, float, float]] = {
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
# Offset of triangles: a diagonal through pixel centers would leave these pixels to rounding.
_ASIDE = 0.25


@dataclass(frozen=True)
class Object:
    """An object of a scene.

    Attributes:
        radius: size class.
        area: pixels on the canvas.
        row: as published, the center, of a triangle the apex.
        column: as published, the center, of a triangle the apex.
        turned: the second of two poses, a level rectangle or a triangle that points right.
    """

    shape: str
    color: str
    radius: int
    area: int
    row: float
    column: float
    turned: bool


@lru_cache
def _circle_pixels(radius: int) -> int:
    """Return the number of pixels of a published circle: those whose centers are nearer than the radius to its own."""
    return sum(2 * math.isqrt(radius * radius - 1 - y * y) + 1 for y in range(1 - radius, radius))


def area_of(shape: str, radius: int, areas: Areas = "published") -> int:
    """Return the number of pixels on the canvas."""
    if shape == "circle" and areas == "published":
        return _circle_pixels(radius)
    return 4 * radius * radius


def extent(shape: str, radius: int, turned: bool, areas: Areas = "published") -> tuple[int, int]:
    """Return width and height of an object's bounding box in pixels."""
    if shape == "circle":
        reach = radius if areas == "published" else math.ceil(_TRUE[radius][2]) + 1
        return (2 * reach, 2 * reach)
    if shape == "square":
        return (2 * radius, 2 * radius)
    long, short = 4 * radius, radius if shape == "rectangle" else 2 * radius
    return (short, long) if (shape == "rectangle") != turned else (long, short)


def anchor(shape: str, radius: int, turned: bool, areas: Areas = "published") -> tuple[float, float]:
    """Return the published (column, row) of an object relative to the corner of its box."""
    width, height = extent(shape, radius, turned, areas)
    return (2.0 * radius, 2.0 * radius) if shape == "triangle" else (width / 2, height / 2)


def circle_of(radius: int, areas: Areas) -> tuple[float, float, float]:
    """Return x and y of a circle's center within its pixel, and its radius in canvas units."""
    # Squared distances of pixel centers are at most r^2 - 1 inside, and at least r^2 outside.
    return (0.5, 0.5, math.sqrt(radius * radius - 0.5)) if areas == "published" else _TRUE[radius]


def object_data(item: Object, areas: Areas = "published") -> ObjectData:
    """Return an object as it is in specs on the stage `flat`, whose palette has these colors; without a name."""
    r, x, y = item.radius, item.column, item.row
    turn, size = 0.0, float(r)
    if item.shape == "circle":
        dx, dy, size = circle_of(r, areas)
        x, y = x + dx, y + dy
    elif item.shape == "rectangle":
        turn = 0.0 if item.turned else 90.0
    elif item.shape == "triangle":
        turn, x, y = (-90.0, x - r, y + _ASIDE) if item.turned else (0.0, x + _ASIDE, y - r)
    return {"shape": item.shape, "size": round(size, 6), "color": item.color, "location": [x, y], "rotation_deg": turn}


# Scenes on the stage `table` are prisms whose footprints have the areas of the flat shapes. The canvas becomes a square
# of the table, with its columns along the right of the camera and its rows towards it (the camera without jitter). All
# prisms have the same height, so none hides the top of another.
# Edge of the canvas on the table, and height of the prisms, in Blender units.
SIDE, HEIGHT = 6.2, 0.3
# Factor of all outlines, so that shapes that touch on the canvas have a gap here. It does not change labels.
SHRUNK = 0.95
UNIT = SIDE / CANVAS
# Directions on the ground, right of and towards the camera, which stands at (6.036, -5.251) without jitter.
_RIGHT = (5.251 / math.hypot(6.036, 5.251), 6.036 / math.hypot(6.036, 5.251))
_NEAR = (_RIGHT[1], -_RIGHT[0])


def on_table(item: Object) -> ObjectData:
    """Return an object as it is in specs on the stage `table`, without a name."""
    r, x, y = float(item.radius), item.column, item.row
    if item.shape == "triangle":
        x, y = (x - r, y) if item.turned else (x, y - r)
    across, towards = (x - CANVAS / 2) * UNIT, (y - CANVAS / 2) * UNIT
    size = math.sqrt(item.area * UNIT * UNIT * SHRUNK * SHRUNK / (math.pi if item.shape == "circle" else 4.0))
    # A level rectangle points right. The apex of a triangle, +y of its outline, points near, or right if turned.
    level = math.degrees(math.atan2(_RIGHT[1], _RIGHT[0]))
    turn = {"rectangle": 0.0 if item.turned else 90.0, "triangle": -90.0 if item.turned else 180.0}
    return {
        "shape": {"outline": item.shape, "height": round(HEIGHT / size, 6)},
        "size": round(size, 6),
        "color": item.color,
        "material": "rubber",
        "location": [
            round(across * _RIGHT[0] + towards * _NEAR[0], 6),
            round(across * _RIGHT[1] + towards * _NEAR[1], 6),
        ],
        "rotation_deg": round(level + turn.get(item.shape, 0.0), 6),
    }
