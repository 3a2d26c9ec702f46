"""Euler angles, matrices and quaternions say the same."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.rotation import euler_matrix, matrix_quaternion, multiply, transform

angle = st.floats(-math.pi, math.pi)
angles = st.tuples(angle, angle, angle)


@given(angles)
def test_euler_xyz_turns_about_x_then_y_then_z(turn: tuple[float, float, float]) -> None:
    x, y, z = turn
    about_x = euler_matrix((x, 0.0, 0.0))
    about_y = euler_matrix((0.0, y, 0.0))
    about_z = euler_matrix((0.0, 0.0, z))
    assert np.allclose(np.array(about_x) @ [0, 1, 0], [0, math.cos(x), math.sin(x)])
    assert np.allclose(np.array(about_y) @ [0, 0, 1], [math.sin(y), 0, math.cos(y)])
    assert np.allclose(np.array(about_z) @ [1, 0, 0], [math.cos(z), math.sin(z), 0])
    assert np.allclose(euler_matrix(turn), multiply(about_z, multiply(about_y, about_x)))


@given(angles)
def test_quaternions_rebuild_the_matrix(turn: tuple[float, float, float]) -> None:
    matrix = euler_matrix(turn)
    w, x, y, z = matrix_quaternion(matrix)
    assert w >= 0
    assert math.isclose(w * w + x * x + y * y + z * z, 1, abs_tol=1e-9)
    rebuilt = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    assert np.allclose(rebuilt, matrix, atol=1e-7)


@given(angles, st.floats(0.1, 3), st.tuples(*[st.floats(-5, 5)] * 3))
def test_transform_scales_turns_and_moves(
    turn: tuple[float, float, float], scale: float, place: tuple[float, float, float]
) -> None:
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, -0.7, 0.2]])
    degrees = (math.degrees(turn[0]), math.degrees(turn[1]), math.degrees(turn[2]))
    moved = transform(points, degrees, scale, place)
    assert np.allclose(moved, points @ np.array(euler_matrix(turn)).T * scale + place, atol=1e-9)
