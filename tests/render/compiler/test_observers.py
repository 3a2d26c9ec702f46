"""Observers: they look at their target, whatever the layout; what they see follows from sizes and distances."""

from __future__ import annotations

import math
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from diorama.render.annotations import annotate
from diorama.render.api import compile_spec, render_scene
from diorama.render.episode.make_record import make_record
from diorama.render.geometry.observer import HALF_VIEW_DEG, eye_camera, seen_by
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.uses.rerender.edit import REMOVED, Assignment, change_scene
from diorama.scene_specs.errors import CompileError, SpecError
from diorama.scene_specs.model.record import FrameAnnotation
from diorama.scene_specs.model.scene import Scene, SceneObject
from tests import factories

ITEMS: list[dict[str, Any]] = [{"name": "a", "size": "large"}, {"name": "b"}]


def compiled(*people: dict[str, Any], seed: int = 1, **more: Any) -> Scene:
    frame = {"objects": ITEMS, "observers": list(people), "area": {"x": [-6, 6], "y": [-6, 6]}, **more}
    return compile_spec({"version": 1, "id": "test/people", "seed": seed, "frames": [frame]}, "draft", (64, 48))


@lru_cache(maxsize=8)
def truth_of(scene: str) -> FrameAnnotation:
    read = Scene.model_validate_json(scene)
    frame, view = read.frames[0], read.frames[0].views[0]
    return annotate(read, frame, view, FakeRenderer().render(read, frame, view))


@pytest.mark.parametrize("seed", range(6))
def test_an_observer_looks_at_its_target_wherever_the_layout_puts_both(seed: int) -> None:
    truth = truth_of(compiled({"name": "Ann", "looks_at": "b"}, seed=seed).to_json())
    (seen,) = truth.observers
    target = next(item for item in truth.objects if item.name == "b")
    away = np.array(target.location) - seen.eye
    assert np.array(seen.gaze) @ away / np.linalg.norm(away) == pytest.approx(1, abs=1e-6)
    person = truth.objects[-1]
    assert (person.name, person.index) == ("Ann", 3)
    assert math.dist(seen.eye[:2], person.location[:2]) < 0.76


def cube(name: str, x: float, y: float, size: float) -> dict[str, Any]:
    return {"name": name, "shape": "cube", "size": size, "location": [x, y], "rotation_deg": 0}


def test_what_an_observer_sees_follows_from_sizes_and_distances() -> None:
    """A wall ahead hides all of what is behind it, and half of what its edge, as seen from the eye, cuts in half."""
    # Eyes at the height of about 1.24, at x = 0 and y = -2.5; the wall's front is at y = 0.
    wall = {**cube("wall", 0, 1, 1.0), "shape": {"outline": "square", "height": 2}}
    items = [wall, cube("hidden", 0, 3, 0.2), cube("behind", 0, -5, 0.3), cube("free", -3, 2, 0.3)]
    rules = [{"min_visible_pixels": 0}, {"in_frame": False}, {"axis_margin": 0}, {"min_distance": 0}]
    ann = {"name": "Ann", "looks_at": [0, 0, 1.2], "location": [0, -2.5]}
    truth = truth_of(compiled(ann, objects=items, constraints=rules).to_json())
    (seen,) = truth.observers
    assert seen.visible == {"wall": 1.0, "hidden": 0.0, "behind": 0.0, "free": 1.0}
    # The ray from the eye along the right edge of the front of the wall cuts a flat screen at y = 3 in half.
    edge = seen.eye[0] + (1.0 - seen.eye[0]) * (3.0 - seen.eye[1]) / (0.0 - seen.eye[1])
    flat = {"polygon": [[-0.3, -0.01], [0.3, -0.01], [0.3, 0.01], [-0.3, 0.01]], "height": 0.4}
    screen = {"name": "screen", "shape": flat, "size": 1, "location": [edge, 3.0], "rotation_deg": 0}
    truth = truth_of(compiled(ann, objects=[wall, screen], constraints=rules).to_json())
    assert truth.observers[0].visible["screen"] == pytest.approx(0.5, abs=0.04)


def test_what_is_outside_of_the_view_is_not_seen() -> None:
    assert eye_camera(compiled({"name": "Ann", "looks_at": "b"}).frames[0].objects[-1]).width == 512
    for angle, expected in ((HALF_VIEW_DEG - 6, 1.0), (HALF_VIEW_DEG + 6, 0.0)):
        x, y = 3 * math.sin(math.radians(angle)), -2.5 + 3 * math.cos(math.radians(angle))
        ann = {"name": "Ann", "looks_at": [0, 40, 0.9], "location": [0, -2.5]}
        rules = [{"min_visible_pixels": 0}, {"in_frame": False}]
        scene = compiled(ann, objects=[cube("a", x, y, 0.15)], constraints=rules)
        assert truth_of(scene.to_json()).observers[0].visible == {"a": expected}


def test_what_observers_see_is_computed_once_per_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[str] = []

    def counted(person: SceneObject, *others: Any) -> dict[str, float]:
        watched.append(person.name)
        return seen_by(person, *others)

    # The package has a function of the same name as the module.
    monkeypatch.setattr(import_module("diorama.render.annotations.annotate"), "seen_by", counted)
    views, rules = (
        [{"name": "left", "yaw_deg": 40}, {"name": "right"}],
        [{"in_frame": False}, {"min_visible_pixels": 0}],
    )
    scene = compiled({"name": "Ann", "looks_at": "b"}, views=views, constraints=rules)
    first, second = (image.truth for image in render_scene(scene, renderer=FakeRenderer()))
    assert watched == ["Ann"]
    job = factories.make_job(scene.model_dump(mode="json"))
    images = make_record(FakeRenderer(), scene, job, scene.settings).images
    assert watched == ["Ann", "Ann"]
    expected = truth_of(scene.to_json()).observers
    assert [*first.observers] == [*second.observers] == [*expected]
    assert [[*image.annotation.observers] for image in images] == [[*expected]] * 2


def test_the_rest_of_a_frame_does_not_depend_on_its_observers() -> None:
    """Objects keep their looks, and a frame without observers its bytes; the number of objects keeps the observer's."""
    without, other = compiled(), compiled({"name": "Ann", "looks_at": "b"})
    assert "observers" not in without.to_json()
    for old, new in zip(without.frames[0].objects, other.frames[0].objects, strict=False):
        assert (old.shape, old.color, old.size, old.rotation_deg) == (new.shape, new.color, new.size, new.rotation_deg)
    more = compiled({"name": "Ann", "looks_at": "b"}, objects=[{"name": "b"}, {"name": "c"}, {"name": "d"}])
    assert more.frames[0].objects[-1].color == other.frames[0].objects[-1].color


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"observers": [{"name": "Ann", "looks_at": "c"}]}, r"looks_at: found \"c\"; allowed: .*: a, b"),
        (
            {"observers": [{"name": "Ann", "looks_at": "b", "location": [0, 7]}]},
            r"observers\[0\].location.*outside the area",
        ),
        ({"observers": [{"name": "a", "looks_at": "b"}]}, "the name of another object"),
        (
            {"observers": [{"name": "object-2", "looks_at": "b"}], "random_objects": {"count": 1}},
            r"observers\[0\].name: found \"object-2\", the name of an object that random_objects draws",
        ),
        ({"observers": [{"name": "Ann", "looks_at": "b", "color": "rde"}]}, "did you mean 'red'"),
        ({"observers": [{"name": "Ann", "looks_at": "b", "size": "tiny"}]}, "size"),
        ({"observers": [{"name": "Ann", "looks_at": "b"}], "pointer": {"target": "a"}}, "in a frame with a pointer"),
        (
            {
                "observers": [{"name": "Ann", "looks_at": "b"}],
                "constraints": [{"relation": "on", "subject": "a", "of": "b"}],
            },
            "in a frame with relations of contact",
        ),
    ],
)
def test_observers_that_no_layout_has_are_errors_of_the_spec(frame: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        compiled(**frame)


def test_a_target_above_the_head_is_an_error_that_names_the_gaze() -> None:
    ann = {"name": "Ann", "looks_at": [0, 0, 9], "location": [0, 0.5]}
    with pytest.raises(CompileError, match="gaze of Ann: what it looks at is too steeply"):
        compiled(ann, objects=[cube("a", 2, 0, 0.3)])


def test_an_edited_scene_keeps_its_observers() -> None:
    scene = compiled({"name": "Ann", "looks_at": "b"}, {"name": "Ben", "looks_at": "b"})
    edited = change_scene(scene, [(("frames", 0, "objects", "Ann"), REMOVED), (("frames", 0, "objects", "a"), REMOVED)])
    (ben,) = edited.frames[0].observers
    assert edited.frames[0].objects[ben.index - 1].name == "Ben"
    with pytest.raises(SpecError, match=r"observers\[0\].looks_at: found \"b\"; allowed: a, Ben"):
        change_scene(scene, [(("frames", 0, "objects", "b"), REMOVED)])
    with pytest.raises(SpecError, match=r"observers\[0\].index: found 1; allowed: 3, 4"):
        change_scene(scene, [(("frames", 0, "observers", 0, "index"), 1)])


@pytest.mark.parametrize("value", [99, "x", [1], None, 1.5])
def test_an_index_that_no_object_has_is_refused_and_drops_no_observer(value: Any) -> None:
    scene = compiled({"name": "Ann", "looks_at": "b"})
    with pytest.raises(SpecError, match=r"observers\[0\].index"):
        change_scene(scene, [(("frames", 0, "observers", 0, "index"), value)])


def test_the_number_of_another_object_moves_no_observer() -> None:
    scene = compiled({"name": "Ann", "looks_at": "b"})
    ann, first = scene.frames[0].objects[-1], scene.frames[0].objects[0].model_dump(mode="json")
    copied = {**first, "name": "c", "index": ann.index}
    for path, value in ((("objects", "+"), copied), (("objects", "a", "index"), 3), (("objects", "Ann", "index"), 7)):
        edited = change_scene(scene, [(("frames", 0, *path), value)])
        assert edited.frames[0].observers == scene.frames[0].observers


def test_a_scene_whose_observer_looks_elsewhere_is_refused() -> None:
    """What moves the gaze and the target alike is allowed, and what the compiler made."""
    scene = compiled({"name": "Ann", "looks_at": "b"}, {"name": "Ben", "looks_at": [0, 0, 1]})
    at = ("frames", 0)
    ann, b = scene.frames[0].objects[2], scene.frames[0].objects[1]
    assert compile_spec(scene) == scene
    refused: list[tuple[list[Assignment], str]] = [
        ([((*at, "observers", 1, "index"), 3)], r"observers\[1\].index: found 3; allowed: 4"),
        ([((*at, "observers", 0, "looks_at"), "Ann")], r"looks_at: found \"Ann\"; allowed: a, b, Ben"),
        ([((*at, "objects", "Ann", "rotation_deg"), [90, 0, 0])], r"objects\[2\].rotation_deg.*stand upright"),
        ([((*at, "objects", "b", "location"), [*np.add(b.location, (0.1, 0.1, 0))])], "the gaze misses by"),
        ([((*at, "objects", "Ann", "rotation_deg"), ann.rotation_deg[2] + 1)], "the gaze misses by"),
        ([((*at, "objects", "Ann", "shape"), "person:0/60")], r"observers\[0\].looks_at: found \"b\".*misses by"),
    ]
    for changes, message in refused:
        with pytest.raises(SpecError, match=message):
            compile_spec(change_scene(scene, changes))
    moved = [((*at, "objects", item.name, "location"), [*np.add(item.location, (0.5, -0.25, 0))]) for item in (ann, b)]
    assert compile_spec(change_scene(scene, moved)).frames[0].observers == scene.frames[0].observers
