"""MALeViC's scenes on a table (the stage `table`): prisms of one height whose footprint has the area that counts.

The canvas becomes a square of the table, its columns along the camera's right and its rows towards it (the camera
without jitter). Everything is as high: nothing hides any of another's upper side, which is as large as its footprint.
"""

from __future__ import annotations

import math
from typing import Any

from scene_specs.benchmarks.malevic.shapes import CANVAS, Thing

# Edge of the canvas on the table, and height of everything, in Blender units.
SIDE, HEIGHT = 6.2, 0.3
# Every outline is smaller by this factor, so that what touches on the canvas has a gap here. Labels are the same.
SHRUNK = 0.95
UNIT = SIDE / CANVAS
# Of the camera, whose place without jitter is (6.036, -5.251): right, and towards it, on the ground.
_RIGHT = (5.251 / math.hypot(6.036, 5.251), 6.036 / math.hypot(6.036, 5.251))
_NEAR = (_RIGHT[1], -_RIGHT[0])


def footprint(area: float) -> float:
    """Area on the table, square Blender units, of an area on the canvas."""
    return area * UNIT * UNIT * SHRUNK * SHRUNK


def on_table(thing: Thing) -> dict[str, Any]:
    """An object of a spec on the stage `table`, without a name."""
    r, x, y = float(thing.radius), thing.column, thing.row
    if thing.shape == "triangle":
        x, y = (x - r, y) if thing.turned else (x, y - r)
    across, towards = (x - CANVAS / 2) * UNIT, (y - CANVAS / 2) * UNIT
    size = math.sqrt(footprint(thing.area) / (math.pi if thing.shape == "circle" else 4.0))
    # A level rectangle runs along right; a triangle's apex, +y of its outline, points near, or right where turned.
    level = math.degrees(math.atan2(_RIGHT[1], _RIGHT[0]))
    turn = {"rectangle": 0.0 if thing.turned else 90.0, "triangle": -90.0 if thing.turned else 180.0}
    return {
        "shape": {"outline": thing.shape, "height": round(HEIGHT / size, 6)},
        "size": round(size, 6),
        "color": thing.color,
        "material": "rubber",
        "location": [
            round(across * _RIGHT[0] + towards * _NEAR[0], 6),
            round(across * _RIGHT[1] + towards * _NEAR[1], 6),
        ],
        "rotation_deg": round(level + turn.get(thing.shape, 0.0), 6),
    }
