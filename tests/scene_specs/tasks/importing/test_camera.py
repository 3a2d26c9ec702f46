"""The camera is found from what the files say about the objects."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from diorama.scene_specs.tasks.importing.scenes import project, recover
from tests.scene_specs.tasks.importing.published import NOMINAL, Vec, camera_at, jittered, scene

FOCAL = NOMINAL.lens / NOMINAL.sensor_width
SIZES = [(320, 240), (480, 320)]


def numbers(objects: list[dict[str, object]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.array([item["3d_coords"] for item in objects]), np.array([item["pixel_coords"] for item in objects])


@given(st.integers(0, 10**9), st.integers(3, 10), st.sampled_from(SIZES))
def test_a_hidden_camera_is_found(seed: int, count: int, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    hidden = jittered(rng)
    points, pixels = numbers(scene(rng, hidden, count, size)["objects"])
    found = recover(points, pixels, NOMINAL.location, FOCAL, SIZES)
    assert found is not None
    assert found.consistent
    assert found.depth_residual < 1e-5
    # How well depths fix the camera: it is only as sure as the layout lets it be (three objects may stand in a row).
    moves = [project(np.array(hidden) + step, points, FOCAL, size)[:, 2] for step in np.eye(3) * 1e-4]
    sure = np.linalg.svd((np.array(moves).T - project(np.array(hidden), points, FOCAL, size)[:, 2:3]) / 1e-4)[1][2]
    error = float(np.abs(np.array(found.location) - hidden).max())
    if sure > 0.03:
        assert found.size == size
        assert error < 1e-4
    else:
        assert error < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("size", [(640, 480), (1280, 720), (224, 224), (128, 128), (320, 480)])
def test_images_of_any_size_show_their_camera(size: tuple[int, int]) -> None:
    for seed in range(100, 140):
        rng = np.random.default_rng(seed)
        hidden = jittered(rng)
        points, pixels = numbers(scene(rng, hidden, 6, size)["objects"])
        found = recover(points, pixels, NOMINAL.location, FOCAL, SIZES)
        assert found is not None
        assert found.consistent
        np.testing.assert_allclose(found.location, hidden, atol=1e-4)
        np.testing.assert_allclose(found.size, size, atol=2)


def test_projection_is_the_renderers() -> None:
    points = np.random.default_rng(1).uniform(-3, 3, (50, 3))
    location: Vec = (7.1, -6.9, 5.6)
    for size in SIZES:
        ours = project(np.array(location), points, FOCAL, size)
        np.testing.assert_allclose(ours, camera_at(location, size).project(points), atol=1e-9)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_objects_say_too_little(count: int) -> None:
    points, pixels = np.zeros((count, 3)), np.ones((count, 3))
    assert recover(points, pixels, NOMINAL.location, FOCAL, SIZES) is None


@pytest.mark.slow
def test_two_objects_fix_a_camera_to_a_pixel_or_are_refused() -> None:
    outcomes = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        hidden, size = jittered(rng), SIZES[seed % 2]
        points, pixels = numbers(scene(rng, hidden, 6, size)["objects"])
        recovery = recover(points[:2], pixels[:2], NOMINAL.location, FOCAL, SIZES)
        outcomes.append(recovery is not None)
        if recovery is not None:
            assert recovery.size == size
            seen, expected = (project(np.array(at), points, FOCAL, size) for at in (recovery.location, hidden))
            assert float(np.abs(seen - expected)[:, :2].max()) <= 1.0
    assert 40 < sum(outcomes) < 160


@pytest.mark.slow
@given(st.integers(0, 10**9), st.sampled_from([0, 2]))
def test_another_camera_is_not_explained_away(seed: int, axis: int) -> None:
    """A file whose depths or pixels belong to something else has a residual that shows."""
    rng = np.random.default_rng(seed)
    points, pixels = numbers(scene(rng, jittered(rng), 6, (320, 240))["objects"])
    pixels[:, axis] += rng.choice([-1.0, 1.0], 6) * rng.uniform(0.5, 1.5, 6) * (1 if axis == 2 else 20)
    found = recover(points, pixels, NOMINAL.location, FOCAL, SIZES)
    assert found is None or not found.consistent
