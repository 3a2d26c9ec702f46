"""The pointer: it points, hides nothing, and stands where the published rules say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diorama.render.annotations import annotate
from diorama.render.compiler import compile_episode
from diorama.render.geometry.meshes import load_mesh
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneObject
from diorama.scene_specs.model.spec import EpisodeSpec

SETTINGS = settings_for("draft", 320, 240)


def compiled(seed: int, count: int, pointer: dict[str, Any], **frame: Any) -> Scene:
    frame = {"objects": [{"name": f"o{k}"} for k in range(count)], "pointer": pointer, **frame}
    return compile_episode(
        EpisodeSpec.model_validate({"version": 1, "id": "test/pointer", "seed": seed, "frames": [frame]}), SETTINGS
    )


def hand_of(frame: SceneFrame) -> tuple[SceneObject, SceneObject]:
    """The pointer and its target."""
    assert frame.pointer is not None
    (target,) = (item for item in frame.objects if item.name == frame.pointer.target)
    return frame.objects[frame.pointer.index - 1], target


def distance_to_ray(hand: SceneObject, target: tuple[float, ...]) -> float:
    """By a rotation written out for Z alone, not by the compiler's own."""
    angle = math.radians(hand.rotation_deg[2])
    anchors = load_mesh(hand.shape).anchors

    def world(x: float, y: float, z: float) -> np.ndarray[Any, np.dtype[np.float64]]:
        turned = [x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle), z]
        return np.array(turned) * hand.scale + hand.location

    knuckle, tip = world(*anchors["knuckle"]), world(*anchors["fingertip"])
    direction = (tip - knuckle) / np.linalg.norm(tip - knuckle)
    away = np.array(target) - knuckle
    assert away @ direction > 0, "the target lies ahead"
    return float(np.linalg.norm(away - (away @ direction) * direction))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 6), which=st.integers(0, 5))
def test_it_points_at_its_target_and_hides_nothing_of_it(seed: int, count: int, which: int) -> None:
    name = f"o{which % count}"
    try:
        scene = compiled(seed, count, {"target": name})
    except CompileError as error:
        assert "pointer" in str(error) or count > 4, "a failed search names what refused it"
        return
    frame = scene.frames[0]
    hand, target = hand_of(frame)
    assert target.name == name
    assert distance_to_ray(hand, target.location) <= target.scale
    shown = FakeRenderer().render(scene, frame, frame.views[0]).ids
    without = frame.model_copy(update={"objects": frame.objects[:-1], "pointer": None})
    alone = FakeRenderer().render(scene, without, frame.views[0]).ids
    assert (shown == target.index).sum() == (alone == target.index).sum() >= 200
    assert (shown == hand.index).sum() >= 200


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_three_free_objects_stand_in_the_published_quadrants(seed: int) -> None:
    places = [item.location for item in compiled(seed, 3, {"target": "o1"}).frames[0].objects]
    signs = [(math.copysign(1, x - 0.5), math.copysign(1, y + 0.5)) for x, y, _ in places]
    assert signs == [(-1, -1), (-1, 1), (1, 1), (1, -1)], "left, back, right, and the hand towards the camera"
    assert all(0.55 <= abs(x - 0.5) <= 2.75 and 0.55 <= abs(y + 0.5) <= 2.75 for x, y, _ in places)
    assert places[3][2] == 0.6


def test_a_given_place_is_obeyed_and_turned_to_the_target() -> None:
    frame = compiled(
        1, 1, {"target": "o0", "location": [2.0, -2.0]}, objects=[{"name": "o0", "location": [-1, 1]}]
    ).frames[0]
    hand, _ = hand_of(frame)
    assert hand.location == (2.0, -2.0, 0.6)
    # pi - atan2(-3, 3): the -Y finger turned to the back left.
    assert hand.rotation_deg[2] == pytest.approx(225.0)


def test_free_objects_keep_clear_of_a_given_pointer() -> None:
    for seed in range(10):
        frame = compiled(seed, 3, {"target": "o0", "location": [1.0, -1.0]}).frames[0]
        hand, _ = hand_of(frame)
        for item in frame.objects[:-1]:
            gap = math.dist(item.location[:2], hand.location[:2]) - item.scale - hand.scale
            assert gap >= 0.25


@pytest.mark.parametrize(("kind", "mesh"), [("hand", "hand"), ("hand-left", "hand_left"), ("arrow", "arrow")])
def test_kinds_colors_and_materials(kind: str, mesh: str) -> None:
    pointer = {"target": "o0", "kind": kind, "color": [255, 0, 0], "material": "metal", "size": 0.5}
    scene = compiled(3, 2, pointer)
    hand, _ = hand_of(scene.frames[0])
    assert (hand.shape, hand.color_linear, hand.material.name, hand.scale) == (mesh, (1.0, 0.0, 0.0), "metal", 0.5)
    assert f"mesh:{mesh}" in scene.assets


def test_the_published_color_is_used_as_linear() -> None:
    hand, _ = hand_of(compiled(3, 1, {"target": "o0"}).frames[0])
    assert hand.color_linear == pytest.approx((240 / 255, 191 / 255, 29 / 255), abs=1e-6)
    assert hand.material.name == "rubber"


def test_the_truth_has_target_fingertip_and_box_and_leaves_relations_alone() -> None:
    scene = compiled(5, 3, {"target": "o2"})
    frame = scene.frames[0]
    truth = annotate(scene, frame, frame.views[0], FakeRenderer().render(scene, frame, frame.views[0]))
    assert truth.pointer is not None and truth.pointer.target == "o2"
    box = truth.objects[3].bbox
    assert truth.objects[3].name == truth.pointer.name == "pointer" and box is not None
    x, y, _ = truth.pointer.fingertip_pixel
    assert box[0] - 4 <= x <= box[0] + box[2] + 4 and box[1] - 4 <= y <= box[1] + box[3] + 4
    assert all("pointer" not in [a, *b] for table in truth.relations.values() for a, b in table.items())


def test_where_there_is_no_place_the_error_says_why() -> None:
    with pytest.raises(CompileError, match="pointer"):
        compiled(
            1,
            1,
            {"target": "o0"},
            objects=[{"name": "o0", "location": [0, 0]}],
            area={"x": [-0.3, 0.3], "y": [-0.3, 0.3]},
        )


def test_a_layout_that_the_quarters_do_not_allow_names_them() -> None:
    def right_of(subject: str, of: str) -> Scene:
        return compiled(0, 3, {"target": "o0"}, constraints=[{"relation": "right", "subject": subject, "of": of}])

    with pytest.raises(CompileError, match="the first of three objects is always in the left quarter"):
        right_of("o0", "o2")
    assert right_of("o2", "o0").frames
