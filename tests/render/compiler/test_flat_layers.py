"""Flat objects of a frame are in different planes, also on a stage whose file has no layers."""

from __future__ import annotations

from typing import Any

import pytest

import diorama
from diorama.render.compiler import compile_episode
from diorama.render.compiler.render_key import render_key_of
from diorama.render.renderers import make_renderer
from diorama.scene_specs.checks.semantics import check_spec
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec

SETTINGS = settings_for("draft", 56, 56)
BELOW = {"shape": "square", "color": "red", "size": 56, "location": [112, 112]}
ABOVE = {"shape": "square", "color": "blue", "size": 40, "location": [120, 120], "rotation_deg": 0}


def spec_of(*objects: dict[str, Any], stage: str = "pictures", **frame: Any) -> EpisodeSpec:
    data = {"version": 1, "id": "flat", "seed": 1, "stage": stage, "frames": [{"objects": objects, **frame}]}
    return EpisodeSpec.model_validate(data)


def scene_of(spec: EpisodeSpec) -> Scene:
    check_spec(spec)
    return compile_episode(spec, SETTINGS)


@pytest.mark.parametrize("renderer", ["cycles", "fake"])
@pytest.mark.parametrize("antialias", [False, True])
def test_the_later_of_two_squares_is_seen_completely(renderer: str, antialias: bool) -> None:
    scene = scene_of(spec_of(BELOW, ABOVE, antialias=antialias))
    (image,) = diorama.render_scene(scene, renderer=make_renderer(renderer, "cpu"))
    below, above = image.truth.objects
    assert above.visible_fraction == 1.0
    assert below.visible_fraction < 0.7


def key(spec: EpisodeSpec) -> str:
    return render_key_of(spec, settings_for("draft", 224, 224), "fake").version


CAR = {"shape": "shapenet:cars/#4", "place": "top_left"}
HERE, THERE = {"shape": "circle", "place": "top_left"}, {"shape": "circle", "place": "top_right"}


def test_single_flat_objects_and_models_stay_where_they_were() -> None:
    assert scene_of(spec_of(BELOW, CAR)).frames[0].objects[0].location[2] == 0.0
    objects = scene_of(spec_of(HERE, CAR | {"place": "bottom_left"}, THERE)).frames[0].objects
    assert [item.location[2] for item in objects] == [-0.05, 0.0, -0.15]


@pytest.mark.parametrize(
    ("first", "second", "fault"),
    [
        ([9, 9, 4], [50, 50, 4], "objects[1].location[2]: found z = 4, the plane of object-0"),
        ([9, 9, -0.1], [50, 50], "objects[0].location[2]: found z = -0.1, the plane of object-1"),
    ],
)
def test_two_objects_in_one_plane_are_refused(first: list[float], second: list[float], fault: str) -> None:
    with pytest.raises(SpecError) as caught:
        check_spec(spec_of(BELOW | {"location": first}, ABOVE | {"location": second}))
    assert fault in str(caught.value)
    check_spec(spec_of(BELOW | {"location": [*first[:2], 3]}, ABOVE | {"location": second}))
