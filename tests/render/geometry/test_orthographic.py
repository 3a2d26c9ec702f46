"""Parallel rays: the id buffer against a perspective camera very far off, and the camera's own projection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.raster import Pose, compose, rasterize
from diorama.render.geometry.solid import Solid, solid
from diorama.scene_specs.model.scene import SceneCamera
from diorama.scene_specs.rotation import transform
from tests.render.geometry.caster import mesh_of

FAR = 4000.0
SIDE = 40


def pair(location: tuple[float, float, float]) -> tuple[Camera, Camera]:
    """An orthographic camera of 4 units a side, and one on the same line so far off that it sees alike."""
    length = float(np.linalg.norm(location))
    ortho = SceneCamera(
        location=location, look_at=(0, 0, 0), lens=35, sensor_width=32, clip=(0.1, 100), ortho_scale=4.0
    )
    x, y, z = (value / length * FAR for value in location)
    lens = 32.0 * FAR / 4.0
    distant = SceneCamera(location=(x, y, z), look_at=(0, 0, 0), lens=lens, sensor_width=32, clip=(1.0, 2 * FAR))
    return Camera.of(ortho, SIDE, SIDE), Camera.of(distant, SIDE, SIDE)


@pytest.mark.parametrize("shape", ["cube", "cylinder", "shapenet:chairs/#2"])
@pytest.mark.parametrize("location", [(0.0, -9.0, 0.0), (3.0, -5.0, 4.0), (0.0, 0.0, 8.0)])
def test_as_from_very_far(shape: str, location: tuple[float, float, float]) -> None:
    near, far = pair(location)
    pose = Pose((20.0, 30.0, 40.0), 0.9, (0.1, 0.2, -0.1))
    layers = [rasterize(solid(shape), pose, camera) for camera in (near, far)]
    depths = [compose([layer], SIDE, SIDE)[1] for layer in layers]
    masks = [np.isfinite(depth) for depth in depths]
    assert int((masks[0] != masks[1]).sum()) <= 3
    both = masks[0] & masks[1]
    length = float(np.linalg.norm(location))
    # At outlines a pixel may meet another face.
    off = np.abs((depths[0][both] - length) - (depths[1][both] - FAR))
    assert np.mean(off < 0.02) > 0.97


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_closed_and_open_meshes_look_alike(seed: int) -> None:
    """What is turned away is left out of closed meshes only; it never shows."""
    rng = np.random.default_rng(seed)
    near, _ = pair((float(rng.uniform(1, 5)), -6.0, float(rng.uniform(-4, 4))))
    body = solid("cylinder")
    opened = Solid(body.vertices, body.corners, body.planes, False, body.radius)
    pose = Pose((float(rng.uniform(0, 360)), 20.0, 70.0), 0.8, (0.0, 0.0, 0.0))
    first, second = (rasterize(one, pose, near).depth for one in (body, opened))
    np.testing.assert_allclose(first, second, atol=1e-9)


def test_points_behind_the_near_plane_are_not_seen() -> None:
    mesh = mesh_of(
        np.array([(-1.0, -8.95, -1.0), (1.0, -8.95, -1.0), (0.0, 5.0, 1.0)]), np.array([[0, 1, 2]], dtype="i4")
    )
    near, _ = pair((0.0, -9.0, 0.0))
    layer = rasterize(Solid.of(mesh), Pose((0.0, 0.0, 0.0), 1.0, (0.0, 0.0, 0.0)), near)
    assert layer.truncated
    assert 0.1 <= layer.depth[layer.mask].min() < 0.5


def test_projection_meets_the_mask() -> None:
    near, _ = pair((3.0, -5.0, 4.0))
    pose = Pose((0.0, 0.0, 15.0), 0.5, (0.3, 0.1, 0.2))
    body = solid("cube")
    points = near.project(transform(body.vertices.T, pose.rotation_deg, pose.scale, pose.location))
    box = rasterize(body, pose, near).box
    assert box is not None
    x, y, width, height = box
    assert abs(points[:, 0].min() - x) <= 1 and abs(points[:, 0].max() - (x + width)) <= 1
    assert abs(points[:, 1].min() - y) <= 1 and abs(points[:, 1].max() - (y + height)) <= 1
