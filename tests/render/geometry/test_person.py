"""People look where they should: poses turn head and eyes only, and a gaze meets its target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diorama.render.api import compile_spec
from diorama.render.geometry.meshes import load_mesh
from diorama.render.geometry.person import eye_of, gaze_at
from diorama.render.geometry.solid import solid
from diorama.scene_specs.errors import AssetError, SpecError
from diorama.scene_specs.language.person import parse_person
from diorama.scene_specs.tasks.questions.view import kind_values


@pytest.mark.parametrize("shape", ["person:0/0", "person:-80/60", "person:12.5/-0.0001"])
def test_a_name_is_read_and_written_again(shape: str) -> None:
    gaze = parse_person(shape)
    assert gaze is not None
    assert gaze.shape == shape


@pytest.mark.parametrize(
    "shape", ["person:", "person:0", "person:81/0", "person:0/-60.5", "person:1.00001/0", "person:0/0 "]
)
def test_other_names_are_refused(shape: str) -> None:
    assert parse_person(shape) is None
    with pytest.raises(AssetError, match="not the name of a person"):
        load_mesh(shape)


def test_a_pose_turns_head_and_eyes_and_keeps_the_body() -> None:
    straight, turned = load_mesh("person"), load_mesh("person:75/-50")
    assert straight.joints is not None
    body = straight.joints == 0
    assert np.array_equal(straight.vertices[body], turned.vertices[body])
    assert np.abs(straight.vertices[~body] - turned.vertices[~body]).max() > 0.3
    assert np.allclose(np.linalg.norm(turned.normals, axis=1), 1, atol=1e-5)


def test_the_face_follows_the_turn() -> None:
    """The nose, the foremost point of the head, is on the person's left, +x, after a turn to the left."""
    mesh = load_mesh("person:60/0")
    assert mesh.joints is not None
    head = mesh.vertices[mesh.joints == 1]
    nose = head[np.argmax(np.hypot(head[:, 0], head[:, 1]))]
    assert math.degrees(math.atan2(nose[0], -nose[1])) == pytest.approx(60, abs=5)


@pytest.mark.parametrize("rotation", [0.0, 130.0, -75.0])
@pytest.mark.parametrize("ahead", [(0.3, -3.0, 0.4), (2.5, -1.5, 0.2), (-1.0, -2.0, 2.5)])
def test_the_gaze_meets_its_target(rotation: float, ahead: tuple[float, float, float]) -> None:
    """The direction from the eye, by rotation matrices of this test, is that of the gaze."""
    scale, place, anchors = 0.9, (0.5, -0.7, 0.9), load_mesh("person").anchors
    turn = math.radians(rotation)
    x, y, z = ahead
    target = (
        place[0] + math.cos(turn) * x - math.sin(turn) * y,
        place[1] + math.sin(turn) * x + math.cos(turn) * y,
        z,
    )
    gaze = gaze_at(anchors, target, rotation, scale, place)
    assert gaze.possible
    eye = np.array(eye_of(anchors, gaze, rotation, scale, place))
    yaw, nod = turn + math.radians(gaze.turn_deg), math.radians(gaze.nod_deg)
    looks = np.array([math.sin(yaw) * math.cos(nod), -math.cos(yaw) * math.cos(nod), math.sin(nod)])
    away = np.array(target) - eye
    assert looks @ away / np.linalg.norm(away) == pytest.approx(1, abs=1e-9)


def test_what_is_behind_is_out_of_reach() -> None:
    anchors = load_mesh("person").anchors
    assert not gaze_at(anchors, (0.0, 3.0, 0.5), 0.0, 1.0, (0.0, 0.0, 1.0)).possible


def test_parts_are_closed_so_that_ids_are_of_the_true_outline() -> None:
    assert solid("person:-40/20").closed


def spec(shape: str) -> dict[str, Any]:
    return {
        "version": 1,
        "id": "p/0",
        "seed": 1,
        "stage": "clevr",
        "frames": [{"objects": [{"shape": shape, "size": 0.9}]}],
    }


def test_a_person_is_an_object_of_a_scene_and_stands_on_the_ground() -> None:
    scene = compile_spec(spec("person:30/-10"))
    (item,) = scene.frames[0].objects
    lowest = load_mesh(item.shape).vertices[:, 2].min() * item.scale + item.location[2]
    assert lowest == pytest.approx(0, abs=1e-6)
    assert f"mesh:{item.shape}" in scene.assets


def test_a_head_that_can_not_turn_that_far_is_a_spec_error() -> None:
    with pytest.raises(SpecError, match="turn from -80 to 80"):
        compile_spec(spec("person:90/0"))


@pytest.mark.parametrize("shape", ["person:0/0", "person:30/-10"])
def test_texts_call_every_pose_a_person(shape: str) -> None:
    assert kind_values(shape) == {"shape": "person", "category": None}
