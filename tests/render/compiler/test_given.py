"""What an author gives is obeyed; what he states of it is checked at once."""

from __future__ import annotations

from typing import Any

import pytest

from diorama.render.compiler import compile_episode
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import SceneFrame
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import load_stage
from tests.render.compiler.checker import diagnostics, visible_pixels

STANDARD = settings_for("standard", 320, 240)
STILL = {"jitter": 0.0}
# Behind the other as the unjittered camera sees it, and hidden by it.
FRONT, HIDDEN = [0.9, -0.8], [-0.3, 0.25]


def spec_of(**frame: Any) -> EpisodeSpec:
    return EpisodeSpec.model_validate({"version": 1, "id": "given", "seed": 3, "frames": [{"camera": STILL, **frame}]})


def compiled(**frame: Any) -> SceneFrame:
    return compile_episode(spec_of(**frame), STANDARD).frames[0]


def test_given_places_are_obeyed_without_checks() -> None:
    """Overlapping, out of the image, hidden: nothing was stated, nothing is refused."""
    frame = compiled(
        objects=[
            {"location": [0, 0], "size": "large"},
            {"location": [0.1, 0], "size": 0.5},
            {"location": [40, 40, 7.25], "rotation_deg": [10, 20, 30]},
        ]
    )
    assert [item.location for item in frame.objects] == [(0.0, 0.0, 0.7), (0.1, 0.0, 0.5), (40.0, 40.0, 7.25)]
    assert frame.objects[2].rotation_deg == (10.0, 20.0, 30.0)


@pytest.mark.parametrize(
    ("constraint", "named"),
    [
        ({"relation": "left", "subject": "b", "of": "a"}, "b left of a by 0.2"),
        ({"relation": "right", "subject": "b", "of": "a", "margin": 5}, "b right of a by 5"),
        ({"min_distance": 3}, "min_distance 3 of a and b"),
        ({"axis_margin": 2.5}, "axis_margin 2.5 of a and b"),
        ({"min_visible_pixels": 100_000, "objects": ["b"]}, "min_visible_pixels 100000 of b"),
    ],
)
def test_a_stated_constraint_that_given_places_break_is_named(constraint: dict[str, Any], named: str) -> None:
    objects = [{"name": "a", "location": [-1, -1], "size": "large"}, {"name": "b", "location": [1, 0], "size": "large"}]
    with pytest.raises(CompileError, match="specified locations break") as caught:
        compiled(objects=objects, constraints=[constraint])
    assert named in caught.value.problem
    assert caught.value.broke == {}


def test_a_stated_frame_bound_holds_for_given_places() -> None:
    outside = [{"name": "a", "location": [-2.0, -7.0], "size": "large"}]
    assert compiled(objects=outside).objects[0].location[:2] == (-2.0, -7.0)
    with pytest.raises(CompileError, match="in_frame of a"):
        compiled(objects=outside, constraints=[{"in_frame": True}])


def test_the_threshold_is_what_a_relation_of_given_places_needs() -> None:
    """0.3 to the right is a relation in CLEVR's sense, though less than the margin that drawn places keep."""
    right = (0.6563, 0.7545)
    objects = [{"name": "a", "location": [0, 0]}, {"name": "b", "location": [0.3 * right[0], 0.3 * right[1]]}]
    constraint = {"relation": "right", "subject": "b", "of": "a"}
    assert len(compiled(objects=objects, constraints=[constraint]).objects) == 2


def test_free_objects_keep_clear_of_given_ones() -> None:
    spec = spec_of(
        objects=[{"name": "a", "location": FRONT, "size": "large"}, {"name": "b"}, {"name": "c"}],
        constraints=[{"relation": "behind", "subject": "b", "of": "a"}],
    )
    scene = compile_episode(spec, STANDARD)
    assert scene.frames[0].objects[0].location[:2] == tuple(FRONT)
    assert diagnostics(spec, scene) == []


def test_free_objects_do_not_hide_given_ones_further() -> None:
    """The given pair hides most of b; that is the author's choice, and what remains of b stays."""
    pair = [
        {"name": "a", "shape": "cube", "location": FRONT, "size": "large"},
        {"name": "b", "shape": "sphere", "location": HIDDEN, "size": "small"},
    ]
    alone = compile_episode(spec_of(objects=pair), STANDARD)
    before = visible_pixels(alone, alone.frames[0], load_stage("clevr"))["b"]
    assert before < 200
    both = compile_episode(spec_of(objects=[*pair, {"name": "c", "size": "large"}, {"name": "d"}]), STANDARD)
    assert visible_pixels(both, both.frames[0], load_stage("clevr"))["b"] == before


def test_contradictory_relations_are_named_without_a_search() -> None:
    circle = [("a", "b"), ("b", "c"), ("c", "a")]
    with pytest.raises(CompileError, match="contradict") as caught:
        compiled(
            objects=[{"name": name} for name in "abcd"],
            constraints=[{"relation": "front", "subject": s, "of": o} for s, o in circle],
        )
    assert all(f"{s} front of {o}" in caught.value.problem for s, o in circle)
    assert caught.value.broke == {}


def test_the_stated_minimum_replaces_the_stage_s() -> None:
    frame = {"objects": [{"name": "a", "size": 0.1}], "constraints": [{"min_visible_pixels": 5}]}
    compiled(**frame)
    with pytest.raises(CompileError, match="min_visible_pixels 200 of a"):
        compiled(objects=frame["objects"])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"objects": [{"name": "a", "shape": "cube", "size": 1e-7}]}, "object a: its scale is less than"),
        ({"camera": {"location": [1, 1, 1], "look_at": [1, 1, 1]}}, "looks at"),
        (
            {"camera": {"location": [1, 1, 1], "look_at": [1, 1, 1.0000001]}},
            "camera: its location is the point that it looks",
        ),
        ({"camera": {"distance": 1e-7}}, "camera: its location is the point that it looks at"),
        (
            {"views": [{"name": "a"}, {"name": "b", "distance": 1e-7}]},
            "view b: its location is the point that it looks at",
        ),
        ({"camera": {"framing": 1e-6}}, "camera: location: found -?[0-9.]+; allowed: at "),
        ({"camera": {"framing": 5e-324}}, "camera: location: found .*; allowed: a finite number"),
        ({"camera": {"location": [9999, 0, 1], "jitter": 1e4}}, "camera: location: found -?[0-9.]+; allowed: at "),
    ],
)
def test_what_cannot_be_meant_is_named(frame: dict[str, Any], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        compiled(**frame)


def test_objects_may_leave_the_image_if_the_frame_says_so() -> None:
    aside = {"x": [-3.0, -2.0], "y": [-8.0, -7.0]}
    unseen = {"objects": [{"name": "a"}], "area": aside}
    with pytest.raises(CompileError):
        compiled(**unseen, constraints=[{"min_visible_pixels": 0}])
    (item,) = compiled(**unseen, constraints=[{"min_visible_pixels": 0}, {"in_frame": False}]).objects
    assert -3 <= item.location[0] <= -2 and -8 <= item.location[1] <= -7


def test_relations_that_contradict_each_other_are_named_and_no_others() -> None:
    objects = [{"name": name} for name in "abc"]
    relations = [("left", "a", "b"), ("left", "b", "a"), ("left", "c", "a"), ("behind", "a", "b")]
    constraints = [{"relation": relation, "subject": a, "of": b, "margin": 0.5} for relation, a, b in relations]
    with pytest.raises(CompileError) as caught:
        compiled(objects=objects, constraints=constraints)
    assert "a left of b by 0.5; b left of a by 0.5" in caught.value.problem
    assert "c left" not in caught.value.problem and "behind" not in caught.value.problem


def test_what_the_ground_hides_is_not_visible() -> None:
    constraint = {"min_visible_pixels": 100, "objects": ["a"]}
    sunk = [{"name": "a", "shape": "cube", "size": "large", "location": [0, 0, -0.6]}]
    (item,) = compiled(objects=sunk, constraints=[constraint]).objects
    assert item.location[2] == -0.6
    sunk[0]["location"] = [0, 0, -1.5]
    with pytest.raises(CompileError, match="min_visible_pixels 100 of a: 0 visible"):
        compiled(objects=sunk, constraints=[constraint])


def test_a_camera_around_an_empty_frame_shows_a_sphere_of_radius_1() -> None:
    around = {"yaw_deg": 20, "look_at": [0, 0, 0], "framing": 0.5}
    ball = {"shape": "sphere", "size": 1, "location": [0, 0, 0]}
    empty, full = (compiled(camera=around, objects=objects).views[0].camera for objects in ([], [ball]))
    assert empty.location == pytest.approx(full.location, rel=1e-3)
