"""Euler angles, matrices and quaternions in Blender's conventions, in plain float arithmetic; rounding of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Vec = tuple[float, float, float]
Matrix = tuple[Vec, Vec, Vec]
Quaternion = tuple[float, float, float, float]


def rounded(value: float, digits: int = 6) -> float:
    """Return a number to 6 decimals, as everywhere in a Scene; never a negative zero."""
    return round(float(value), digits) + 0.0


def rounded3(values: Sequence[float] | Floats, digits: int = 6) -> Vec:
    """Three numbers, each rounded by `rounded`."""
    x, y, z = (rounded(value, digits) for value in values)
    return (x, y, z)


def euler_matrix(rotation_rad: Vec) -> Matrix:
    """Rows of Rz @ Ry @ Rx, for Blender's Euler XYZ angles in radians."""
    cx, cy, cz = (math.cos(a) for a in rotation_rad)
    sx, sy, sz = (math.sin(a) for a in rotation_rad)
    return (
        (cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx),
        (sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx),
        (-sy, cy * sx, cy * cx),
    )


def rotation_matrix(rotation_deg: Vec) -> Matrix:
    """`euler_matrix` of angles in degrees."""
    return euler_matrix((math.radians(rotation_deg[0]), math.radians(rotation_deg[1]), math.radians(rotation_deg[2])))


def transform(points: Floats, rotation_deg: Vec, scale: float, location: Vec) -> Floats:
    """(N, 3) points of a mesh in world coordinates.

    Args:
        location: Blender units.
        scale: Blender units.
    """
    m = rotation_matrix(rotation_deg)
    x, y, z = points[:, 0] * scale, points[:, 1] * scale, points[:, 2] * scale
    return np.stack([x * r[0] + y * r[1] + z * r[2] + t for r, t in zip(m, location, strict=True)], axis=1)


def matrix_quaternion(m: Matrix) -> Quaternion:
    """Return the unit quaternion (w, x, y, z) of a rotation matrix, with w >= 0."""
    trace = m[0][0] + m[1][1] + m[2][2]
    if trace > 0:
        s = math.sqrt(trace + 1) * 2
        q = (s / 4, (m[2][1] - m[1][2]) / s, (m[0][2] - m[2][0]) / s, (m[1][0] - m[0][1]) / s)
    elif m[0][0] >= m[1][1] and m[0][0] >= m[2][2]:
        s = math.sqrt(max(1 + m[0][0] - m[1][1] - m[2][2], 0)) * 2
        q = ((m[2][1] - m[1][2]) / s, s / 4, (m[0][1] + m[1][0]) / s, (m[0][2] + m[2][0]) / s)
    elif m[1][1] >= m[2][2]:
        s = math.sqrt(max(1 + m[1][1] - m[0][0] - m[2][2], 0)) * 2
        q = ((m[0][2] - m[2][0]) / s, (m[0][1] + m[1][0]) / s, s / 4, (m[1][2] + m[2][1]) / s)
    else:
        s = math.sqrt(max(1 + m[2][2] - m[0][0] - m[1][1], 0)) * 2
        q = ((m[1][0] - m[0][1]) / s, (m[0][2] + m[2][0]) / s, (m[1][2] + m[2][1]) / s, s / 4)
    sign = -1.0 if q[0] < 0 else 1.0
    return (q[0] * sign, q[1] * sign, q[2] * sign, q[3] * sign)


def matrix_euler(m: Matrix) -> Vec:
    """Euler XYZ angles in radians of a rotation matrix: the inverse of `euler_matrix`. Z is 0 where Y is 90 degrees."""
    flat = math.sqrt(m[0][0] * m[0][0] + m[1][0] * m[1][0])
    if flat < 1e-7:
        return (math.atan2(-m[1][2], m[1][1]), math.atan2(-m[2][0], flat), 0.0)
    return (math.atan2(m[2][1], m[2][2]), math.atan2(-m[2][0], flat), math.atan2(m[1][0], m[0][0]))


def transpose(m: Matrix) -> Matrix:
    """Columns as rows: the inverse of a rotation matrix."""
    return ((m[0][0], m[1][0], m[2][0]), (m[0][1], m[1][1], m[2][1]), (m[0][2], m[1][2], m[2][2]))


def multiply(a: Matrix, b: Matrix) -> Matrix:
    """Return a @ b."""

    def row(i: int) -> Vec:
        x, y, z = (sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3))
        return (x, y, z)

    return (row(0), row(1), row(2))
