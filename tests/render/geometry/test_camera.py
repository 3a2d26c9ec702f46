"""The pinhole camera: projection, directions, and the cases without a horizon."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from diorama.render.geometry.camera import Camera
from diorama.scene_specs.model.scene import SceneCamera

coordinate = st.floats(-20, 20)
points = st.tuples(coordinate, coordinate, coordinate)


def camera_of(location: tuple[float, float, float], look_at: tuple[float, float, float], width: int = 320) -> Camera:
    spec = SceneCamera(location=location, look_at=look_at, lens=35, sensor_width=32, clip=(0.1, 100))
    return Camera.of(spec, width, 240)


@given(points, points)
def test_axes_are_orthonormal_and_right_handed(
    location: tuple[float, float, float], look_at: tuple[float, float, float]
) -> None:
    assume(np.linalg.norm(np.subtract(location, look_at)) > 1e-3)
    camera = camera_of(location, look_at)
    frame = np.array([camera.right, camera.down, camera.forward])
    assert np.allclose(frame @ frame.T, np.eye(3), atol=1e-9)
    assert np.linalg.det(frame) == pytest.approx(1)
    assert np.allclose(camera.project(np.array([look_at]))[0, :2], camera.center, atol=1e-3)
    # No roll: the image's horizontal is level, and up in the world is up in the image.
    assert camera.right[2] == pytest.approx(0, abs=1e-9)
    assert camera.down[2] <= 1e-9


@pytest.mark.parametrize("ortho_scale", [None, 6.0])
@given(st.floats(0, 320), st.floats(0, 240), st.floats(0.5, 50))
def test_projection_inverts_and_is_that_of_the_matrices(
    ortho_scale: float | None, x: float, y: float, z: float
) -> None:
    place = SceneCamera(
        location=(7.48, -6.5, 5.34),
        look_at=(0, 0, 0),
        lens=35,
        sensor_width=32,
        clip=(0.1, 100),
        ortho_scale=ortho_scale,
    )
    camera = Camera.of(place, 320, 240)
    point = np.array(camera.unproject(np.array([x]), np.array([y]), np.array([z])))[:, 0]
    assert camera.project(point[None])[0] == pytest.approx([x, y, z], abs=1e-6)
    inner, outer = (np.array(matrix) for matrix in camera.matrices())
    seen = outer @ [*point, 1]
    divisor = 1.0 if camera.orthographic else seen[2]
    assert inner @ [*seen[:2] / divisor, 1] == pytest.approx([x, y, 1], abs=1e-6) and seen[2] == pytest.approx(z)


def test_focal_length_follows_the_longer_side() -> None:
    assert camera_of((5, 0, 0), (0, 0, 0), 320).focal == pytest.approx(350)
    assert camera_of((5, 0, 0), (0, 0, 0), 120).focal == pytest.approx(35 / 32 * 240)


@given(points)
def test_directions_lie_on_the_ground(location: tuple[float, float, float]) -> None:
    assume(abs(location[0]) > 0.01 or abs(location[1]) > 0.01)
    camera = camera_of(location, (0, 0, 0))
    directions = {name: np.array(d) for name, d in camera.directions().items()}
    for name in ("left", "right", "front", "behind"):
        assert directions[name][2] == 0
        assert np.linalg.norm(directions[name]) == pytest.approx(1)
    assert abs(directions["right"] @ directions["behind"]) < 1e-9
    assert directions["behind"] @ np.array(location) < 0
    assert directions["right"] @ np.array(camera.right) == pytest.approx(1)


@pytest.mark.parametrize("field", ["lens", "sensor_width", "ortho_scale"])
@pytest.mark.parametrize("value", [0.0, -1.0, 1e-320, float("nan"), float("inf")])
def test_lengths_that_no_camera_has_are_refused(field: str, value: float) -> None:
    numbers = {"location": (5, 0, 0), "look_at": (0, 0, 0), "lens": 35, "sensor_width": 32, "clip": (0.1, 100)}
    with pytest.raises(ValidationError, match=field):
        SceneCamera.model_validate({**numbers, field: value})


@given(points, st.floats(0, 1e-6), st.integers(0, 2))
def test_a_camera_that_can_be_made_looks_somewhere(place: tuple[float, float, float], off: float, axis: int) -> None:
    aim = tuple(value + off * (k == axis) for k, value in enumerate(place))
    try:
        camera = camera_of(place, (aim[0], aim[1], aim[2]))
    except ValidationError as error:
        assert "for both location and look_at; allowed: two different points" in str(error)
        assert np.linalg.norm(np.subtract(aim, place)) < 1e-6
    else:
        assert np.linalg.norm(camera.forward) == pytest.approx(1)


def test_the_nearest_points_of_a_compiled_scene_are_two() -> None:
    assert camera_of((19.999999, 0, 0), (20, 0, 0)).forward == (1.0, 0.0, 0.0)
    assert camera_of((0.1, 0.2, 0.300001), (0.1, 0.2, 0.3)).forward == (0.0, 0.0, -1.0)


def test_looking_straight_down_has_directions() -> None:
    camera = camera_of((0, 0, 10), (0, 0, 0))
    directions = camera.directions()
    assert directions["right"] == (1.0, 0.0, 0.0)
    assert np.allclose(directions["behind"], (0, 1, 0))
    x, y, _ = camera.project(np.array([[1.0, 2.0, 0.0]]))[0]
    assert x > camera.center[0]
    assert y < camera.center[1]
