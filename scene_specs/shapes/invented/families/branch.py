"""`branch`: a bowed trunk among six bent, ridged arms that get thicker, all of one surface."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.shapes.invented.surfaces import (
    Faces,
    Floats,
    bump,
    closed_grid,
    mix,
    rings,
    smoothed,
    strata,
    turn,
    twisted,
    upright,
)

AXES = {"reach": "how long the arms are", "bulbs": "how thick the arms end", "trunk": "how thick the trunk is"}
LARGEST = {"reach": 1.0, "bulbs": 1.0, "trunk": 1.0}
ROWS, COLUMNS, ARMS, _HOLE, _RINGS = 44, 48, 6, 6, 24


@lru_cache(maxsize=16)
def _trunk_surface(places: tuple[tuple[int, int], ...]) -> tuple[NDArray[np.intp], Faces]:
    """Return the vertices that a trunk with holes keeps, and the triangles of trunk and arms between those.

    Args:
        places: row and column of the middle of each arm's hole.
    """
    trunk = closed_grid(ROWS, COLUMNS)
    half, count = _HOLE // 2, 4 * _HOLE
    # Around a hole, counter-clockwise from outside, from the middle of its right side.
    right = [(half, up) for up in range(-half, half)]
    ring = [*right, *((-r, c) for c, r in right), *((-c, -r) for c, r in right), *((r, -c) for c, r in right)]
    inside, parts = np.zeros((ROWS - 1, COLUMNS), dtype=bool), []
    for arm, (row, column) in enumerate(places):
        inside[row - half : row + half, (column + np.arange(-half, half)) % COLUMNS] = True
        border = [1 + COLUMNS * (row + r) + (column + c) % COLUMNS for c, r in ring[half:] + ring[:half]]
        own = _RINGS * count + 1
        vertices = np.array([0, *border, *(ROWS * COLUMNS + 2 + arm * own + np.arange(own))])
        parts.append(vertices[closed_grid(_RINGS + 1, count)[count:]])
    # The two triangles of a cell follow in blocks of all cells, after those of the lower pole.
    cut = np.tile(inside.ravel(), 2)
    parts += [trunk[:COLUMNS], trunk[COLUMNS:-COLUMNS][~cut], trunk[-COLUMNS:]]
    kept, faces = np.unique(np.concatenate(parts), return_inverse=True)
    return kept, faces.reshape(-1, 3).astype(np.int32)


def _ridge_pattern(columns: int, winding: Floats) -> Floats:
    """Three ridges around an axis, (rings, columns), that wind by some turns of a ridge, (rings, 1)."""
    ridges: Floats = turn(columns)[0][(3 * np.arange(columns) + (winding * columns).astype(np.intp)) % columns]
    return ridges


def _trunk_rings(girth: float, u: list[float]) -> Floats:
    close, z = rings(ROWS, 8, 0.85)
    radius = mix(0.3, 0.52, girth) * (1.1 + mix(-0.3, 0.4, u[0]) * bump((z - 0.3) / 0.4) - mix(0.1, 0.4, u[1]) * z)
    radius = radius * (1 + mix(0.4, 0.55, u[4]) * _ridge_pattern(COLUMNS, u[5] + mix(1.0, 2.0, u[6]) * z))
    bend = mix(0.2, 0.3, u[3]) * (1.2 * bump((z - 0.45) / 0.5) - 0.8 * z * z)
    return upright(radius * close, z, 1.6, u[2], bend, 0.4 if u[7] < 0.5 else -0.4)


def _unit(v: Floats) -> Floats:
    """Vectors (..., 3) of length 1."""
    x, y, z = v[..., :1], v[..., 1:2], v[..., 2:]
    unit: Floats = v / np.sqrt(x * x + y * y + z * z)
    return unit


def _arm_rings(start: Floats, out: Floats, reach: float, bulb: float, u: list[float]) -> Floats:
    """Rings of an arm and its tip, (V, 3).

    Args:
        start: middle of its hole.
        out: horizontal unit vector away from the trunk.
        reach: position on the axis.
        bulb: position on the axis.
        u: random numbers.
    """
    side, up = np.array([-out[1], out[0], 0.0]), np.array([0.0, 0.0, 1.0])
    # Only the lowest points up far, so that no two arms are ears.
    rise = 1.2 - 1.2 * u[5]
    turned = _unit(out * mix(0.4, 0.9, u[0]) + side * mix(-0.6, 0.6, u[1]) + up * (rise * rise - 0.1))
    length = mix(0.4, 0.76, reach) * mix(0.9, 1.2, u[3])
    elbow = start + out * (0.35 * length)
    end = elbow + turned * (0.75 * length)
    thin, thick = mix(0.26, 0.42, u[4]), mix(0.24, 0.56, bulb)
    s = (np.arange(_RINGS)[:, None] + 1) / _RINGS
    middle = start * (1 - s) ** 2 + elbow * (2 * s * (1 - s)) + end * (s * s)
    along = _unit((elbow - start) * (1 - s) + (end - elbow) * s)
    over = _unit(np.cross(along, side))
    # Ridges wind around an arm all along: round limbs with a ball or a plate at their end make people, animals and
    # airplanes.
    cosine, sine = turn(4 * _HOLE)
    radius = (thin * (1 - 0.5 * s) + thick * bump((s - 0.7) / 0.5)) * (1 - np.maximum(s - 0.75, 0) ** 2 / 0.075)
    radius = radius * (1 + 0.35 * _ridge_pattern(4 * _HOLE, s if u[2] < 0.5 else -s))
    x, y = (radius * cosine)[:, :, None], (radius * sine)[:, :, None]
    rings = middle[:, None] + x * np.cross(over, along)[:, None] + y * over[:, None]
    points = np.concatenate([rings.reshape(-1, 3), (end + turned * 0.03)[None]])
    floored: Floats = np.maximum(points, [-np.inf, -np.inf, 0.05])
    return floored


def build(axes: Mapping[str, float], rng: np.random.Generator) -> tuple[Floats, Faces]:
    """Return vertices and triangles."""
    u = rng.random(8).tolist()
    # No two arms are alike, the higher an arm the lower it points, and all are short: fewer and longer ones make hands,
    # cacti, people and animals.
    trunk, places, parts = _trunk_rings(axes["trunk"], u), [], []
    for k, arm in enumerate(strata(rng, ARMS, 6)):
        row, column = 12 + int(arm[5] * 23), (int(COLUMNS * u[2]) + COLUMNS // ARMS * k) % COLUMNS
        places.append((row, column))
        out = np.array([turn(COLUMNS)[0][column], turn(COLUMNS)[1][column], 0.0])
        bulb = axes["bulbs"] * mix(0.7, 1, arm[0])
        parts.append(_arm_rings(trunk[1 + COLUMNS * row + column], out, axes["reach"], bulb, arm))
    kept, faces = _trunk_surface(tuple(places))
    # Twisted one way or the other, so that no side mirrors another.
    return twisted(smoothed(np.concatenate([trunk, *parts])[kept], faces, 4), 0.6 if u[5] < 0.5 else -0.6), faces
