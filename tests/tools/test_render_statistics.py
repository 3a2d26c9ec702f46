"""The changes that the statistical tests must notice are what their names say. Only the tool itself renders them."""

from __future__ import annotations

from argparse import ArgumentParser

import numpy as np
import pytest

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.display import display
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.scene import Scene
from tests.statistical import power
from tests.statistical.power import CHANGES
from tests.statistical.scenes import scenes


def changed(name: str, scene: str) -> Scene:
    return CHANGES[name].scene(scenes()[scene])


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_changes_a_scene_or_the_colors(name: str) -> None:
    change = CHANGES[name]
    ramp = np.linspace(-0.1, 1.2, 300, dtype=np.float32).reshape(10, 10, 3)
    differs = [scene for scene, found in scenes().items() if change.scene(found) != found]
    assert differs or (change.display(ramp) != display(ramp)).any()


def test_a_parameter_changes_wherever_it_has_the_old_value() -> None:
    glass = [item.material.parameters for item in changed("glass: IOR 1.10 to 1.15", "stage-table").frames[0].objects]
    assert glass == [{}, {}, {"ior": 1.15}]
    # This scene has another index of refraction.
    assert changed("glass: IOR 1.10 to 1.15", "parameters-glass") == scenes()["parameters-glass"]
    metal = changed("metal: roughness 0.20 to 0.25", "parameters-metal").frames[0].objects
    assert {item.material.parameters["roughness"] for item in metal} == {0.25}


def test_one_light_gets_stronger() -> None:
    before, after = (one.frames[0].lights for one in (scenes()["hand"], changed("light `key`: 5 % stronger", "hand")))
    factors = {old.name: new.energy / old.energy for old, new in zip(before, after, strict=True)}
    assert factors == pytest.approx({"key": 1.05, "fill": 1, "back": 1, "sun": 1})


@pytest.mark.parametrize("name", ["hand", "stage-flat", "stage-studio", "stage-quadrants"])
def test_the_camera_moves_by_half_a_pixel(name: str) -> None:
    pixels = []
    for scene in (scenes()[name], changed("camera: half a pixel aside", name)):
        view, size = scene.frames[0].views[0], (scene.settings.width, scene.settings.height)
        point = np.array([scenes()[name].frames[0].views[0].camera.look_at])
        pixels.append(Camera.of(view.camera, *size).project(point)[0, :2])
    assert pixels[0] - pixels[1] == pytest.approx([0.5, 0], abs=1e-6)


def test_a_misspelled_scene_is_refused_before_anything_renders() -> None:
    parser = ArgumentParser()
    power.add_options(parser)
    with pytest.raises(UsageError, match="hnad"):
        power.main(parser.parse_args(["references", "hnad"]))
