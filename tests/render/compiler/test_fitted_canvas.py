"""Flat images of another aspect ratio show the whole canvas; nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diorama.render.compiler import compile_episode
from diorama.render.geometry.camera import Camera
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec


def spec(**changes: Any) -> EpisodeSpec:
    square = {"shape": "square", "size": 10, "location": [10, 54], "rotation_deg": 0, "color": "red"}
    frame = {"objects": [square]}
    data = {"version": 1, "id": "test/fit", "stage": "flat", "canvas": [96, 64], "frames": [frame]}
    return EpisodeSpec.model_validate({**data, **changes})


def corners(scene: Scene) -> list[list[float]]:
    """The pixels of the canvas's corners."""
    camera = Camera.of(scene.frames[0].views[0].camera, scene.settings.width, scene.settings.height)
    points = camera.project(np.array([[0.0, 0.0, 0.0], [96.0, 64.0, 0.0]]))
    return [[round(value, 6) for value in row[:2]] for row in points.tolist()]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((96, 64), [[0, 0], [96, 64]]),
        ((192, 128), [[0, 0], [192, 128]]),
        ((192, 64), [[48, 0], [144, 64]]),
        ((96, 96), [[0, 16], [96, 80]]),
        ((64, 96), [[0, 26.666667], [64, 69.333333]]),
    ],
)
def test_the_whole_canvas_is_in_the_image(size: tuple[int, int], expected: list[list[float]]) -> None:
    made = compile_episode(spec(), settings_for("draft", *size))
    assert corners(made) == [pytest.approx(row, abs=1e-4) for row in expected]
    # The same from a compiled Scene of the canvas's own size.
    own = compile_episode(spec(), settings_for("draft", 96, 64))
    assert corners(compile_episode(own, made.settings)) == [pytest.approx(row, abs=1e-4) for row in expected]
    assert made.frames[0].objects == own.frames[0].objects
    # And from one that has margins already.
    for first in ((96, 96), (64, 96), (192, 64)):
        fitted = compile_episode(spec(), settings_for("draft", *first))
        assert corners(compile_episode(fitted, made.settings)) == [pytest.approx(row, abs=1e-4) for row in expected]


def test_of_a_camera_elsewhere_nothing_is_cut_off() -> None:
    closer = {**spec().frames[0].model_dump(exclude_none=True), "camera": {"location": [48, 32, -2000]}}
    scene = compile_episode(spec(frames=[closer]), settings_for("draft", 96, 64))
    view = scene.frames[0].views[0]
    camera = view.camera.model_copy(update={"ortho_scale": 40.0})
    frame = scene.frames[0].model_copy(update={"views": (view.model_copy(update={"camera": camera}),)})
    again = compile_episode(scene.model_copy(update={"frames": (frame,)}), settings_for("draft", 96, 96))
    assert again.frames[0].views[0].camera.ortho_scale == 40.0
    tall = compile_episode(scene.model_copy(update={"frames": (frame,)}), settings_for("draft", 64, 96))
    assert tall.frames[0].views[0].camera.ortho_scale == 60.0
