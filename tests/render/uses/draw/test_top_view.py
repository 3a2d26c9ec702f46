"""Plans: things stand where the Scene has them, as the camera sees left and right, whatever the stage."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diorama
from diorama.render.geometry.camera import Camera
from diorama.render.uses.draw.top_view import PANEL, outline, seen_at, seen_ground, top_view
from diorama.scene_specs.model.scene import Scene, SceneCamera
from diorama.scene_specs.shapes.convex_hull import convex_hull

SVG = "{http://www.w3.org/2000/svg}"


def compiled(*frames: dict[str, Any], stage: str = "clevr") -> Scene:
    return diorama.compile_spec({"version": 1, "id": "plan/1", "stage": stage, "frames": list(frames)}, "draft")


def labels(scene: Scene) -> dict[str, tuple[float, float]]:
    """Text -> where it stands, in the only panel of a plan."""
    (panel,) = ElementTree.fromstring(top_view(scene)).findall(f"{SVG}svg")
    return {node.text or "": (float(node.get("x", 0)), float(node.get("y", 0))) for node in panel.iter(f"{SVG}text")}


def test_left_and_front_on_the_plan_are_those_of_the_picture() -> None:
    scene = compiled(
        {
            "objects": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
            "constraints": [
                {"relation": "left", "subject": "a", "of": "b", "margin": 1.0},
                {"relation": "front", "subject": "c", "of": "b", "margin": 1.0},
            ],
        }
    )
    found = labels(scene)
    assert found["a"][0] < found["b"][0]
    assert found["c"][1] > found["b"][1]
    assert found["camera"][1] > max(found[name][1] for name in "abc")
    assert {"key", "fill", "back", "x", "y"} <= found.keys()


def test_the_gaze_of_an_observer_ends_at_its_target() -> None:
    """Of an object or a point: the two lines differ in their starts only."""
    ends = []
    for looks_at in ("a", [1.5, 0.5, 0.35]):
        objects = [{"name": "a", "size": "small", "location": [1.5, 0.5]}]
        person = {"name": "Ann", "looks_at": looks_at, "location": [-1, 0]}
        svg = ElementTree.fromstring(top_view(compiled({"objects": objects, "observers": [person]})))
        (line,) = (node for node in svg.iter(f"{SVG}line") if node.get("stroke") == "#c2410c")
        ends.append((line.get("x2"), line.get("y2")))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("front_deg", [0, 90, 200])
def test_a_triangle_shows_where_the_front_is(front_deg: float) -> None:
    """Its tip, the middle one of its corners, is where something straight in front of the object is."""
    ahead = (math.sin(math.radians(front_deg)), -math.cos(math.radians(front_deg)))
    aim = {"name": "aim", "shape": "sphere", "size": "small", "location": [2 * ahead[0], 2 * ahead[1]]}
    block = {"name": "block", "shape": "cube", "location": [0, 0], "rotation_deg": 0}
    marks, spots = [], []
    for front in ({}, {"front_deg": front_deg}):
        svg = ElementTree.fromstring(top_view(compiled({"objects": [block | front, aim]})))
        marks.append([node for node in svg.iter(f"{SVG}polygon") if node.get("fill") == "#c2410c"])
        spots.append(
            [(float(n.get("cx", 0)), float(n.get("cy", 0))) for n in svg.iter(f"{SVG}circle") if n.get("r") == "2"]
        )
        assert any("Triangle" in (node.text or "") for node in svg.iter(f"{SVG}text")) == bool(front)
    ((mark,), (start, end)) = marks[1], spots[1]
    assert not marks[0]
    _, tip, _ = (tuple(map(float, pair.split(","))) for pair in (mark.get("points") or "").split())
    angles = [math.atan2(point[1] - start[1], point[0] - start[0]) for point in (tip, end)]
    assert math.isclose(*angles, abs_tol=0.01)
    assert 0 < math.dist(start, tip) < math.dist(start, end)


def test_every_frame_and_view_and_the_pointer_are_on_it() -> None:
    scene = compiled(
        {"name": "one", "objects": [{"name": "a"}], "pointer": {"target": "a"}},
        {
            "name": "two",
            "objects": [{"name": "b"}],
            "views": [{"name": "near"}, {"name": "far", "location": [9, 9, 9]}],
        },
    )
    texts = [node.text for node in ElementTree.fromstring(top_view(scene)).iter(f"{SVG}text")]
    assert {"plan/1", "one", "two", "a", "pointer", "b", "near", "far"} <= set(texts)


def test_a_stage_without_ground_is_seen_along_its_camera() -> None:
    objects = [{"name": "a", "place": "top_left"}, {"name": "b", "place": "bottom_right"}]
    found = labels(compiled({"objects": objects}, stage="quadrants"))
    assert found["a"][0] < found["b"][0] and found["a"][1] < found["b"][1]
    assert {"top_right", "z"} <= found.keys() and "camera" not in found


def test_a_frame_without_objects_has_a_plan() -> None:
    assert labels(compiled({}, stage="quadrants")) and labels(compiled({}))


def test_names_cannot_become_markup() -> None:
    scene = compiled({"objects": [{"name": "a"}]})
    item = scene.frames[0].objects[0].model_copy(update={"name": "<script>\"'&\x00"})
    frame = scene.frames[0].model_copy(update={"objects": (item,), "name": "</svg><b>"})
    text = top_view(scene.model_copy(update={"frames": (frame,), "id": "]]><x>"}))
    assert "<script>" not in text and "<b>" not in text
    assert "<script>\"'& " in [node.text for node in ElementTree.fromstring(text).iter(f"{SVG}text")]


def test_an_outline_is_the_mesh_at_its_place_and_size() -> None:
    (item,) = (
        compiled({"objects": [{"shape": "cube", "size": 0.5, "location": [1, 2], "rotation_deg": 0}]}).frames[0].objects
    )
    corners = outline(item, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    assert corners.min(axis=0) == pytest.approx([0.5, 1.5], abs=1e-3)
    assert corners.max(axis=0) == pytest.approx([1.5, 2.5], abs=1e-3)
    missing = outline(item.model_copy(update={"shape": "gone"}), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    assert np.hypot(*(missing - [1, 2]).T) == pytest.approx(np.full(48, 0.5))


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=3, max_size=30))
def test_a_hull_holds_all_points_and_turns_one_way(points: list[tuple[int, int]]) -> None:
    cloud = np.array(points, dtype=np.float64)
    hull = np.array(convex_hull(cloud))
    assert {tuple(corner) for corner in hull.tolist()} <= {tuple(point) for point in cloud.tolist()}
    for a, b in zip(hull, np.roll(hull, -1, axis=0), strict=True):
        side = (b[0] - a[0]) * (cloud[:, 1] - a[1]) - (b[1] - a[1]) * (cloud[:, 0] - a[0])
        assert (side >= 0).all()


def camera_of(**changes: Any) -> Camera:
    facts: dict[str, Any] = {"location": (7.5, -6.5, 5.3), "look_at": (0, 0, 0), "lens": 35.0, "sensor_width": 32.0}
    return Camera.of(SceneCamera(**{**facts, "clip": (0.1, 100.0), **changes}), 320, 240)


@pytest.mark.parametrize(
    "changes", [{}, {"location": (0.0, 0.0, 9.0)}, {"location": (0.0, -8.0, 6.0), "ortho_scale": 4.0}]
)
def test_the_ground_seen_is_what_projects_into_the_picture(changes: dict[str, Any]) -> None:
    camera = camera_of(**changes)
    seen = np.array(seen_ground(camera))
    pixels = camera.project(seen)
    assert ((pixels[:, 0] > -1e-6) & (pixels[:, 0] < 320 + 1e-6)).all()
    assert ((pixels[:, 1] > -1e-6) & (pixels[:, 1] < 240 + 1e-6)).all()
    corners = {(round(x), round(y)) for x, y in pixels[:, :2].tolist()}
    assert {(0, 240), (320, 240)} <= corners


def test_a_camera_that_looks_up_or_level_sees_no_endless_ground() -> None:
    assert seen_ground(camera_of(look_at=(0, 0, 20))) == []
    level = np.array(seen_ground(camera_of(look_at=(0.0, 0.0, 5.3))))
    assert np.isfinite(level).all() and np.abs(level).max() < 60
    assert seen_ground(camera_of(location=(1.0, 1.0, -3.0))) == []


@given(st.floats(0.5, 50))
def test_corners_at_a_depth_project_to_the_corners_of_the_picture(depth: float) -> None:
    for changes in ({}, {"ortho_scale": 3.0}):
        pixels = camera_of(**changes).project(np.array(seen_at(camera_of(**changes), depth)))
        assert pixels[:, :2] == pytest.approx(np.array([(0, 0), (320, 0), (320, 240), (0, 240)]), abs=1e-6)
        assert pixels[:, 2] == pytest.approx(depth)


def test_everything_lies_inside_its_panel() -> None:
    scene = compiled({"random_objects": {"count": 6}})
    (panel,) = ElementTree.fromstring(top_view(scene)).findall(f"{SVG}svg")
    for circle in panel.iter(f"{SVG}circle"):
        x, y = float(circle.get("cx", "nan")), float(circle.get("cy", "nan"))
        assert 0 <= x <= PANEL and 0 <= y <= PANEL and not math.isnan(x)
