"""Sides that others than the camera see: layouts have those that are stated, annotations say those that are clear."""

from __future__ import annotations

import math
from typing import Any

import pytest

from diorama.render.annotations import annotate
from diorama.render.api import compile_spec
from diorama.render.geometry.observer import clear_sides, front_of
from diorama.render.geometry.solid import world_vertices
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import CompileError, SpecError
from diorama.scene_specs.language.model_names import has_front
from diorama.scene_specs.language.vocabulary import RELATIONS
from diorama.scene_specs.model.record import FrameAnnotation
from diorama.scene_specs.model.scene import Scene

CHAIR: dict[str, Any] = {"name": "chair", "shape": "shapenet:chairs/#3", "size": 0.7}
BALL: dict[str, Any] = {"name": "ball", "shape": "sphere", "size": "small"}
CUBE: dict[str, Any] = {"name": "cube", "shape": "cube", "size": "small"}


def compiled(*objects: dict[str, Any], seed: int = 1, **frame: Any) -> Scene:
    spec = {"version": 1, "id": "test/sides", "seed": seed, "frames": [{"objects": [*objects], **frame}]}
    return compile_spec(spec, "draft", (64, 48))


def truth_of(scene: Scene) -> FrameAnnotation:
    frame = scene.frames[0]
    return annotate(scene, frame, frame.views[0], FakeRenderer().render(scene, frame, frame.views[0]))


def side(relation: str, of: str, seen_from: str, subject: str = "ball") -> dict[str, Any]:
    return {"relation": relation, "subject": subject, "of": of, "seen_from": seen_from}


@pytest.mark.parametrize("relation", RELATIONS)
def test_layouts_have_the_sides_that_are_stated(relation: str) -> None:
    rules = [
        side(relation, "chair", "chair"),
        side(relation, "cube", "Ann", "can"),
        side(relation, "Ann", "Ann", "cube"),
    ]
    items = [CHAIR, BALL, CUBE, {"name": "can", "shape": "cylinder", "size": "small"}]
    # A person can't see, between the own place and the cube, what is behind the person.
    rules = rules if relation == "front" else rules[:2]
    for seed in range(3):
        people = [{"name": "Ann", "looks_at": "cube"}]
        truth = truth_of(compiled(*items, seed=seed, observers=people, constraints=rules))
        for rule in rules:
            assert rule["subject"] in truth.viewpoints[rule["seen_from"]][relation][rule["of"]]


def test_a_chair_has_its_back_behind_and_what_stands_around_it_is_where_its_sitter_has_it() -> None:
    """A chair that is turned by 90 degrees faces +x: +y is on the left of who sits on it."""
    around = [{**CUBE, "name": f"at-{x}-{y}", "size": 0.2, "location": [x, y]} for x, y in ((0, 2), (0, -2), (2, 0))]
    scene = compiled({**CHAIR, "location": [0, 0], "rotation_deg": 90, "front_deg": 0}, *around)
    points = world_vertices(scene.frames[0].objects[0])
    assert points[points[:, 2] > 1.0][:, 0].mean() < -0.2
    truth = truth_of(scene)
    assert truth.fronts == {"chair": (1, 0)}
    names = ("at-0-2", "at-0--2", "at-2-0")
    assert truth.viewpoints == {
        "chair": {
            **{s: {"chair": [name]} for s, name in zip(("left", "right", "front"), names, strict=True)},
            "behind": {},
        }
    }


def test_near_ties_are_on_no_side() -> None:
    """Clear is what is up to 60 degrees from the middle of a side, and farther than the threshold."""
    for degrees in range(1, 360, 4):
        angle = math.radians(degrees)
        found = clear_sides((math.sin(angle), math.cos(angle)), (0, 0), (0, 1), None, 0.2)
        off = {"front": degrees, "right": degrees - 90, "behind": degrees - 180, "left": degrees - 270}
        assert {*found} == {name for name, away in off.items() if math.cos(math.radians(away)) >= 0.5 - 1e-9}
    assert not clear_sides((0, 0.1), (0, 0), (0, 1), None, 0.2)
    # An observer at y = -5 who looks along y: nearer is in front, and what is aside is out of view.
    assert clear_sides((0, -1), (0, 0), (0, 1), (0, -5), 0.2) == ["front"]
    assert clear_sides((-1, 0), (0, 0), (0, 1), (0, -5), 0.2) == ["left"]
    assert not clear_sides((-9, -5), (0, 0), (0, 1), (0, -5), 0.2)


def test_fronts_are_those_of_models_people_and_the_spec() -> None:
    kinds = {"chairs": True, "cars": True, "planes": True, "boats": True, "couches": True, "04256520": True}
    kinds |= {"benches": False, "tables": False, "lighting": False}
    assert {kind: has_front(f"shapenet:{kind}/#1") for kind in kinds} == kinds
    assert front_of("cube", (0, 0, 0), None) is None
    assert front_of("cube", (0, 0, 90), 90) == pytest.approx((0, 1))
    assert front_of("person:80/0", (0, 0, 10), None) == pytest.approx((1, 0))
    assert front_of("cube", (60, 0, 0), 0) is None


def test_a_frame_in_which_nothing_depends_on_fronts_has_none() -> None:
    scene = compiled(CHAIR, BALL)
    assert "front" not in scene.to_json()
    assert not {"fronts", "viewpoints"} & truth_of(scene).model_dump().keys()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            side("left", "cube", "cube"),
            r'seen_from: found "cube"; allowed: an observer .* \(Ann\), or the name in `of`',
        ),
        (side("left", "chair", "An"), "did you mean 'Ann'"),
        (side("left", "chair", "Ann", "Ann"), r"an observer other than the subject \(there is none\)"),
        ({"min_distance": 1, "seen_from": "Ann"}, "seen_from: given without relation"),
    ],
)
def test_sides_that_nobody_sees_are_errors_of_the_spec(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        compiled(CHAIR, BALL, CUBE, observers=[{"name": "Ann", "looks_at": "cube"}], constraints=[rule])


@pytest.mark.parametrize("rule", [side("near", "chair", "chair"), side("left", "chair", "chair")])
def test_sides_and_contacts_are_not_mixed(rule: dict[str, Any]) -> None:
    near = {"relation": "near", "subject": "cube", "of": "ball"}
    with pytest.raises(SpecError, match=r"seen_from: (given for relation|found in a frame with a relation of contact)"):
        compiled(CHAIR, BALL, CUBE, constraints=[rule, near])


def test_specified_locations_that_break_a_side_are_named() -> None:
    chair, ball = {**CHAIR, "location": [0, 0], "rotation_deg": 0}, {**BALL, "location": [-1.5, 0]}
    assert compiled(chair, ball, constraints=[side("right", "chair", "chair")])
    with pytest.raises(CompileError, match=r"ball left of chair by 0.2, seen from chair"):
        compiled(chair, ball, constraints=[side("left", "chair", "chair")])
    with pytest.raises(CompileError, match="tilted"):
        compiled(
            {**chair, "location": [0, 0, 1], "rotation_deg": [60, 0, 0]},
            ball,
            constraints=[side("left", "chair", "chair")],
        )


def test_a_viewer_at_the_place_of_an_object_sees_no_sides() -> None:
    assert clear_sides((1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, 0.0), 0.1) == []
    ann = {"name": "Ann", "looks_at": "ball", "location": [0, 0]}
    with pytest.raises(CompileError):
        compiled(
            BALL | {"location": [1, 1]}, CUBE | {"location": [0, 0]}, observers=[ann],
            constraints=[side("left", "cube", "Ann")],
        )  # fmt: skip
