"""The ground's height follows its profile."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.geometry.ground import height_and_slope, height_at, highest_before
from diorama.render.geometry.meshes import load_mesh
from diorama.scene_specs.model.stage import StageGround, load_stage


def ground() -> StageGround:
    found = load_stage("clevr").ground
    assert found is not None
    return found


def test_it_passes_through_its_profile() -> None:
    s, h = np.array(ground().profile).T
    assert np.allclose(height_and_slope(ground(), s)[0], h)


@given(st.floats(-12, 20), st.floats(0, 3))
def test_it_never_falls(s: float, step: float) -> None:
    low, high = height_and_slope(ground(), np.array([s, s + step]))[0]
    assert high >= low - 1e-12


@given(st.floats(-12, 20), st.floats(0, 3))
def test_it_is_nowhere_higher_before(s: float, step: float) -> None:
    assert height_and_slope(ground(), np.array([s - step]))[0][0] <= highest_before(ground(), s) + 1e-12


@given(st.floats(-9, 18))
def test_the_slope_is_its_derivative(s: float) -> None:
    step = 1e-6
    low, high = height_and_slope(ground(), np.array([s - step, s + step]))[0]
    assert abs((high - low) / (2 * step) - height_and_slope(ground(), np.array([s]))[1][0]) < 1e-3


def test_the_mesh_lies_on_it() -> None:
    x, y, z = load_mesh("clevr_ground").vertices.T
    assert np.abs(height_at(ground(), x, y) - z).max() < 0.02
