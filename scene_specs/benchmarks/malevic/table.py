"""MALeViC's scenes on a table (the stage `table`): prisms whose footprints have the areas of the flat shapes.

The canvas becomes a square of the table, with its columns along the right of the camera and its rows towards it (the
camera without jitter). All prisms have the same height, so none hides the top of another.
"""

from __future__ import annotations

import math

from diorama.scene_specs.benchmarks.malevic.shapes import CANVAS, Object
from diorama.scene_specs.language.spec_data import ObjectData

# Edge of the canvas on the table, and height of the prisms, in Blender units.
SIDE, HEIGHT = 6.2, 0.3
# Factor of all outlines, so that shapes that touch on the canvas have a gap here. It does not change labels.
SHRUNK = 0.95
UNIT = SIDE / CANVAS
# Directions on the ground, right of and towards the camera, which stands at (6.036, -5.251) without jitter.
_RIGHT = (5.251 / math.hypot(6.036, 5.251), 6.036 / math.hypot(6.036, 5.251))
_NEAR = (_RIGHT[1], -_RIGHT[0])


def footprint(area: float) -> float:
    """Return the area on the table, in square Blender units, of an area on the canvas."""
    return area * UNIT * UNIT * SHRUNK * SHRUNK


def on_table(item: Object) -> ObjectData:
    """Return an object as it is in specs on the stage `table`, without a name."""
    r, x, y = float(item.radius), item.column, item.row
    if item.shape == "triangle":
        x, y = (x - r, y) if item.turned else (x, y - r)
    across, towards = (x - CANVAS / 2) * UNIT, (y - CANVAS / 2) * UNIT
    size = math.sqrt(footprint(item.area) / (math.pi if item.shape == "circle" else 4.0))
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
