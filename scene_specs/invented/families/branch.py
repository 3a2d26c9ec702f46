"""`branch`: a crooked trunk with three bent arms that end in bulbs, all of one surface."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.invented.surfaces import (
    Faces,
    Floats,
    bump,
    closed_grid,
    mix,
    rings,
    ripple,
    smoothed,
    turn,
    upright,
)

AXES = {
    "reach": "how long the arms are",
    "bulbs": "how thick the arms end",
    "trunk": "how thick the trunk is",
}
LARGEST = {"reach": 1.0, "bulbs": 1.0, "trunk": 1.0}
ROWS, COLUMNS, ARMS, _HOLE, _RINGS = 44, 48, 3, 6, 24
# Columns between two arms.
_APART = 7
HEIGHT = 1.9


def _border(row: int, column: int) -> list[int]:
    """Vertices around an arm's hole, counter-clockwise from outside, from the middle of its right side."""
    half = _HOLE // 2
    up, left, down = range(half, _HOLE + 1), range(_HOLE - 1, -1, -1), range(_HOLE - 1, -1, -1)
    ring = [(_HOLE, r) for r in up] + [(c, _HOLE) for c in left] + [(0, r) for r in down]
    ring += [(c, 0) for c in range(1, _HOLE + 1)] + [(_HOLE, r) for r in range(1, half)]
    return [1 + COLUMNS * (row + r) + (column + c) % COLUMNS for c, r in ring]


@lru_cache(maxsize=16)
def _surface(places: tuple[tuple[int, int], ...]) -> tuple[NDArray[np.intp], Faces]:
    """The vertices that a trunk with holes keeps, and the triangles of trunk and arms between those.

    Args:
        places: lowest row and first column of each arm's hole.
    """
    trunk = closed_grid(ROWS, COLUMNS)
    inside = np.zeros(ROWS * COLUMNS, dtype=bool)
    for row, column in places:
        for r in range(_HOLE):
            inside[[COLUMNS * (row + r) + (column + c) % COLUMNS for c in range(_HOLE)]] = True
    # The two triangles of a cell follow in blocks of all cells, after those of the lower pole.
    cells = (ROWS - 1) * COLUMNS
    cut = np.tile(inside[:cells], 2)
    parts = [trunk[:COLUMNS], trunk[COLUMNS:-COLUMNS][~cut], trunk[-COLUMNS:]]
    count, ring = 4 * _HOLE, np.arange(4 * _HOLE)
    after = np.roll(ring, -1)
    for arm, place in enumerate(places):
        first = ROWS * COLUMNS + 2 + arm * (_RINGS * count + 1)
        rings = [np.array(_border(*place)), *(first + k * count + ring for k in range(_RINGS))]
        for low, high in pairwise(rings):
            parts += [np.stack([low, low[after], high[after]], 1), np.stack([low, high[after], high], 1)]
        parts.append(np.stack([rings[-1], rings[-1][after], np.full(count, first + _RINGS * count)], 1))
    kept, faces = np.unique(np.concatenate(parts), return_inverse=True)
    return kept, faces.reshape(-1, 3).astype(np.int32)


def _trunk(girth: float, u: list[float]) -> Floats:
    close, z = rings(ROWS, 8, 0.85)
    radius = mix(0.3, 0.52, girth) * (1.1 + mix(-0.3, 0.4, u[0]) * bump((z - 0.3) / 0.4) - mix(0.1, 0.4, u[1]) * z)
    radius = radius * (1 + mix(0.44, 0.56, u[4]) * ripple(ROWS, COLUMNS, 2, u[5], mix(-1.5, 1.5, u[6])))
    bend = mix(0.35, 0.5, u[3]) * (1.2 * bump((z - 0.45) / 0.5) - 0.8 * z * z)
    away = 0.5 * int(2 * u[0]) + mix(0.3, 0.7, u[2])
    return upright(radius * close, z, HEIGHT, away % 1, bend, 0.4 if u[7] < 0.5 else -0.4)


def _unit(v: Floats) -> Floats:
    x, y, z = v.tolist()
    length = (x * x + y * y + z * z) ** 0.5
    return np.array([x / length, y / length, z / length])


def _cross(a: Floats, b: Floats) -> Floats:
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _arm(start: Floats, out: Floats, reach: float, bulb: float, u: list[float]) -> Floats:
    """Rings of an arm and its tip, (V, 3).

    Args:
        start: middle of its hole.
        out: horizontal unit vector away from the trunk.
        reach: position on the axis.
        bulb: position on the axis.
        u: random numbers.
    """
    side, up = np.array([-out[1], out[0], 0.0]), np.array([0.0, 0.0, 1.0])
    turned = _unit(out * mix(0.4, 0.9, u[0]) + side * mix(-0.6, 0.6, u[1]) + up * mix(1.4, -0.1, u[5]))
    length = mix(0.7, 1.25, reach) * mix(0.8, 1.2, u[3])
    elbow = start + out * (0.35 * length)
    end = elbow + turned * (0.75 * length)
    thin, thick, wide = mix(0.15, 0.36, u[4]), mix(0.24, 0.56, bulb), mix(0.25, 0.6, u[7]) * (1 if u[6] < 0.5 else -1)
    count = 4 * _HOLE
    cosine, sine = turn(count)
    # Ridges wind about an arm all along, and it is flat in the direction in which it began: round limbs with a ball or
    # a plate at their end make people, animals and airplanes.
    winding = count * (0.5 if u[2] < 0.5 else -0.5)
    rings = []
    for k in range(_RINGS):
        s = (k + 1) / _RINGS
        middle = start * (1 - s) ** 2 + elbow * (2 * s * (1 - s)) + end * (s * s)
        along = _unit((elbow - start) * (1 - s) + (end - elbow) * s)
        swell = float(bump(np.array((s - 0.7) / 0.5)))
        radius = (thin * (1 - 0.5 * s) + thick * swell) * max(1 - max(s - 0.7, 0) ** 2 / 0.1, 0.02)
        lobes = 1 + 0.45 * cosine[(3 * np.arange(count) + int(winding * s * 2)) % count]
        across = _unit(_cross(_cross(along, side), along))
        x, y = (radius * lobes * cosine * (1 + wide * s))[:, None], (radius * lobes * sine * (1 - wide * s))[:, None]
        rings.append(middle + x * across + y * _cross(along, across))
    points = np.concatenate([*rings, (end + turned * 0.03)[None]])
    floored: Floats = np.maximum(points, [-np.inf, -np.inf, 0.05])
    return floored


def build(axes: Mapping[str, float], rng: np.random.Generator) -> tuple[Floats, Faces]:
    """Return vertices and triangles."""
    u = rng.random(8).tolist()
    # No two arms are alike, and the higher an arm the lower it points: like ones make hands and cacti. All are on one
    # side of a low trunk: a pair across from each other and a head above them make people, animals and trees.
    v = ((np.argsort(rng.random((ARMS, 8)), axis=0) + rng.random((ARMS, 8))) / ARMS).tolist()
    trunk = _trunk(axes["trunk"], u)
    places, parts = [], [trunk]
    first = (COLUMNS - _APART - _HOLE // 2 + COLUMNS // 2 * int(2 * u[0])) % COLUMNS
    for k, one in enumerate(v):
        row, column = 17 + int(one[5] * 15), first + _APART * k
        places.append((row, column))
        around = (column + _HOLE // 2) % COLUMNS
        start = trunk[1 + COLUMNS * (row + _HOLE // 2) + around]
        out = np.array([turn(COLUMNS)[0][around], turn(COLUMNS)[1][around], 0.0])
        parts.append(_arm(start, out, axes["reach"], axes["bulbs"] * mix(0.7, 1, one[0]), one))
    kept, faces = _surface(tuple(places))
    return smoothed(np.concatenate(parts)[kept], faces, 4), faces
