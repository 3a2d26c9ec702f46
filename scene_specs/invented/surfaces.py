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


def shading_normals(vertices: Floats, triangles: Faces) -> Floats:
    """Return the unit normal of each vertex (V, 3): the sum of its triangles' normals, weighted by their areas."""
    a, b, c = (vertices[triangles[:, k]].T for k in range(3))
    u, v = b - a, c - a
    across = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    x, y, z = (np.bincount(triangles.ravel(), np.repeat(part, 3), len(vertices)) for part in across)
    normals: Floats = np.stack([x, y, z], axis=1) / np.maximum(np.sqrt(x * x + y * y + z * z), 1e-12)[:, None]
    return normals
