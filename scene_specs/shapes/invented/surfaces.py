"""Building blocks of families: closed grids and smooth bumps.

Only additions, multiplications, divisions and square roots are used, which every machine rounds alike; the sines and
cosines of a table are rounded to 12 digits.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Faces = NDArray[np.int32]


@lru_cache(maxsize=16)
def turn(count: int) -> tuple[Floats, Floats]:
    """Return cosines and sines of `count` equal angles of a full turn, from 0, (count,) each."""
    angles = [2 * math.pi * k / count for k in range(count)]
    return np.array([round(math.cos(a), 12) for a in angles]), np.array([round(math.sin(a), 12) for a in angles])


@lru_cache(maxsize=4)
def closed_grid(rows: int, columns: int) -> Faces:
    """Return triangles (T, 3) of a surface of rings, closed by a pole at either end, counter-clockwise from outside.

    Vertex 0 is the lower pole, then come `rows` rings of `columns` vertices, counter-clockwise seen from above and from
    the lowest to the highest ring, and the upper pole.
    """
    ring = np.arange(columns, dtype=np.int32)
    after = np.roll(ring, -1)
    low = np.stack([np.zeros_like(ring), 1 + after, 1 + ring], axis=1)
    first = 1 + columns * np.arange(rows - 1, dtype=np.int32)[:, None]
    a, b, c, d = first + ring, first + after, first + columns + after, first + columns + ring
    sides = np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)]).reshape(-1, 3)
    last = 1 + columns * (rows - 1)
    high = np.stack([last + ring, last + after, np.full_like(ring, last + columns)], axis=1)
    return np.concatenate([low, sides, high])


# Share of the radius and height of the rings of a flat base with a rounded edge; the first is its middle.
_EDGE = ((0.0, 0.0), (0.35, 0.0), (0.7, 0.0), (0.88, 0.0), (0.95, 0.012), (0.985, 0.035), (1.0, 0.07))
_FINE = 720


def rings(rows: int, cap: int, top: float) -> tuple[Floats, Floats]:
    """Return each ring's share of the radius, and its height from 0 to 1, (rows + 2, 1) each, both poles included.

    Args:
        rows: rings between the poles.
        cap: rings of the dome, the upper pole included.
        top: height at which the dome begins.
    """
    quarter, wall = turn(4 * cap), rows + 2 - len(_EDGE) - cap
    side = [(1.0, 0.07 + (top - 0.07) * (k + 1) / wall) for k in range(wall)]
    dome = [(quarter[0][k], top + (1 - top) * quarter[1][k]) for k in range(1, cap + 1)]
    both = np.array([*_EDGE, *side, *dome])
    return both[:, :1], both[:, 1:]


def strata(rng: np.random.Generator, count: int, numbers: int) -> list[list[float]]:
    """Return `count` rows of random numbers from 0 to 1, of which no two are in the same part of `count` equal ones."""
    shape = (count, numbers)
    rows: list[list[float]] = ((np.argsort(rng.random(shape), axis=0) + rng.random(shape)) / count).tolist()
    return rows


def waves(x: Floats, y: Floats, z: Floats, lines: list[list[float]]) -> Floats:
    """Return the sum of four or six waves around each of several slanting lines, about -1 to 1.

    Such folds have no front, limbs, petals or poles, as single lobes and ribs around one axis do.

    Args:
        x: x of the points, from -1 to 1.
        y: their y, from -1 to 1.
        z: their z, from -1 to 1.
        lines: four random numbers for each line.
    """
    folds: Floats = np.zeros(np.broadcast_shapes(x.shape, z.shape))
    for k, (a, b, c, d) in enumerate(lines):
        at, slope = int(_FINE * (0.38 * k + 0.3 * a)) % _FINE, mix(-0.5, 1.6, b)
        cosine, sine = (float(part[at]) for part in turn(_FINE))
        level = 1 / math.sqrt(1 + slope * slope)
        flat, side = x * cosine + y * sine, y * cosine - x * sine
        along, over = level * (flat + slope * z), level * (z - slope * flat)
        # The square of the complex number `side + i over`, turned by an angle that grows along the line.
        wind = (2.6 if k % 2 else -2.6) * (along - mix(-0.5, 0.5, d))
        real: Floats = side * side - over * over
        imaginary: Floats = 2 * side * over
        long = np.sqrt(1 + wind * wind)
        p, q = (real + imaginary * wind) / long, (imaginary - real * wind) / long
        wave = p * p - q * q if k % 2 else p * (p * p - 3 * q * q)
        folds += mix(0.3, 0.5, c) * wave * (1 if k % 3 else -1)
    return folds


def lean(columns: int, share: float) -> Floats:
    """Return the cosine of each column's angle to a direction, a share of a full turn, (columns,)."""
    cosines: Floats = turn(columns)[0][(np.arange(columns) - int(share * columns)) % columns]
    return cosines


def upright(radius: Floats, z: Floats, height: float, away: float, bend: Floats, slant: float) -> Floats:
    """Return the vertices of `closed_grid` from the radius at each ring and column, around a crooked axis.

    Args:
        radius: (rows + 2, columns), 0 at both poles.
        z: heights of the rings, (rows + 2, 1).
        height: height of the shape.
        away: direction in which the axis bends, as a share of a full turn.
        bend: how far it does at each ring, (rows + 2, 1).
        slant: how far the top slants in this direction.
    """
    columns = radius.shape[1]
    (cosine, sine), at = turn(columns), int(away * columns)
    x, y = radius * cosine + cosine[at] * bend, radius * sine + sine[at] * bend
    rise = height * (z + slant * z * z * radius * lean(columns, away))
    points: Floats = np.stack([x, y, rise], axis=-1).reshape(-1, 3)[columns - 1 : 1 - columns]
    return points


def bump(x: Floats) -> Floats:
    """Return a smooth bump: 1 at 0, falling to 0 at -1 and 1, and 0 beyond."""
    inside: Floats = np.maximum(1 - x * x, 0)
    inside *= inside
    return inside


def mix(low: float, high: float, share: float) -> float:
    """Return the number at a share of the way from `low` to `high`."""
    return low + (high - low) * share


def smoothed(vertices: Floats, triangles: Faces, times: int) -> Floats:
    """Move each vertex halfway to the mean of its neighbors, several times; what lies on the ground (z = 0) stays."""
    ends, others = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    count = np.bincount(ends, minlength=len(vertices))
    raised = vertices[:, 2] > 0
    for _ in range(times):
        # bincount adds in order. Each neighbor is the next corner in exactly one triangle of a closed surface.
        mean = [np.bincount(ends, vertices[others, k], len(vertices)) / count for k in range(3)]
        vertices = np.where(raised[:, None], (vertices + np.stack(mean, axis=1)) / 2, vertices)
    return vertices


def twisted(vertices: Floats, pace: float) -> Floats:
    """Return vertices (V, 3) turned about the z axis by an angle whose tangent is `pace` times the height."""
    x, y, z = vertices.T
    wind = pace * z
    level = 1 / np.sqrt(1 + wind * wind)
    turned: Floats = np.stack([(x - y * wind) * level, (y + x * wind) * level, z], axis=1)
    return turned


def shading_normals(vertices: Floats, triangles: Faces) -> Floats:
    """Return the unit normal of each vertex (V, 3): the sum of its triangles' normals, weighted by their areas."""
    a, b, c = (vertices[triangles[:, k]].T for k in range(3))
    u, v = b - a, c - a
    across = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    x, y, z = (np.bincount(triangles.ravel(), np.repeat(part, 3), len(vertices)) for part in across)
    normals: Floats = np.stack([x, y, z], axis=1) / np.maximum(np.sqrt(x * x + y * y + z * z), 1e-12)[:, None]
    return normals
