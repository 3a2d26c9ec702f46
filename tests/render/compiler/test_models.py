"""Models in the compiler: how they stand, how near each other, what they are made of; places, views, orbits, seeds."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.api import compile_spec
from diorama.render.compiler import compile_episode
from diorama.render.compiler.constraints import clearance, difference
from diorama.render.geometry.camera import Camera, seen_from
from diorama.render.geometry.raster import Pose, rasterize
from diorama.render.geometry.solid import solid
from diorama.scene_specs.errors import CompileError, SpecError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene, SceneCamera, SceneFrame
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.source import parse_episode
from diorama.scene_specs.rotation import euler_matrix, matrix_euler, transform
from diorama.scene_specs.shapes.convex_hull import convex_hull
from diorama.scene_specs.shapes.shapenet import load_model

CHAIR = "shapenet:chairs/#6"


def compiled(*frames: dict[str, Any], stage: str = "clevr", **more: Any) -> Scene:
    return compile_spec(json.dumps({"version": 1, "id": "m/1", "stage": stage, "frames": frames, **more}))


def one(frame: dict[str, Any], stage: str = "clevr", **more: Any) -> SceneFrame:
    return compiled(frame, stage=stage, **more).frames[0]


def test_a_model_stands_on_the_ground() -> None:
    frame = one({"objects": [{"shape": CHAIR, "size": 0.8}, {"shape": CHAIR, "size": 0.5, "location": [2, 1]}]})
    model = load_model(CHAIR)
    for item in frame.objects:
        lowest = transform(model.vertices, item.rotation_deg, item.scale, item.location)[:, 2].min()
        assert lowest == pytest.approx(0.0, abs=2e-6)


def test_size_can_be_in_the_files_own_units() -> None:
    model = load_model(CHAIR)
    item = one({"objects": [{"shape": CHAIR, "size": 3.0, "normalize": False}]}).objects[0]
    assert item.scale == pytest.approx(3.0 * model.unit, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "material", "named"),
    [
        ({}, "original", False),
        ({"color": "red"}, "painted", True),
        ({"material": "glass"}, "glass", True),
        ({"material": "rubber", "color": "blue"}, "rubber", True),
    ],
)
def test_what_a_model_is_made_of(given: dict[str, Any], material: str, named: bool) -> None:
    item = one({"objects": [{"shape": CHAIR, **given}]}).objects[0]
    assert item.material.name == material
    assert (item.color is not None) == named
    assert item.shape == load_model(CHAIR).name
    assert named or item.color_linear == pytest.approx(load_model(CHAIR).color, abs=1e-5)


@pytest.mark.parametrize(
    ("lists", "material", "color"),
    [
        ({"shapes": [CHAIR]}, "original", None),
        ({"shapes": [CHAIR], "colors": ["red"]}, "painted", "red"),
        ({"shapes": [CHAIR], "colors": ["red"], "materials": ["metal"]}, "metal", "red"),
        ({"combinations": [[CHAIR, "red"]]}, "painted", "red"),
    ],
)
def test_lists_of_random_objects_apply_to_models(lists: dict[str, Any], material: str, color: str | None) -> None:
    spec = {"version": 1, "id": "m/1", "frames": [{"random_objects": {"count": 1, **lists}}]}
    settings = settings_for("draft", 64, 48)
    item = compile_episode(EpisodeSpec.model_validate(spec), settings).frames[0].objects[0]
    assert (item.material.name, item.color) == (material, color)


def test_distinct_models_differ_in_what_is_seen() -> None:
    drawn = {"count": 2, "shapes": [CHAIR], "distinct": True}
    for seed in range(4):
        sizes = [item.size for item in one({"random_objects": drawn}, seed=seed).objects]
        assert sorted(map(str, sizes)) == ["large", "small"]
    alike = {"shape": CHAIR.replace("chairs", "chair"), "size": "large"}
    with pytest.raises(CompileError, match="distinct"):
        one(
            {
                "objects": [alike],
                "random_objects": {"count": 1, "shapes": [CHAIR], "sizes": ["large"], "distinct": True},
            }
        )
    with pytest.raises(SpecError, match="at most 2"):
        one({"random_objects": {**drawn, "count": 3}})


def test_long_things_may_stand_side_by_side() -> None:
    """Benches are long: their outlines fit where discs of their length would not."""
    bench = {"shape": "shapenet:benches/#1", "size": 1.4, "rotation_deg": 90}
    area = {"x": [-1.4, 1.4], "y": [-0.2, 0.2]}
    rules = [{"axis_margin": 0}, {"in_frame": False}, {"min_visible_pixels": 0}, {"min_distance": 0.1}]
    frame = one({"objects": [bench, bench, bench], "area": area, "constraints": rules}, seed=3)
    model = load_model("shapenet:benches/#1")
    assert model.ground_radius * 1.4 > 1.0
    turned = [transform(model.vertices, o.rotation_deg, o.scale, o.location)[:, :2] for o in frame.objects]
    for i, first in enumerate(turned):
        for second in turned[:i]:
            gap = max(first[:, 0].min() - second[:, 0].max(), second[:, 0].min() - first[:, 0].max())
            assert gap >= 0.1 - 1e-4
    discs = {**bench, "shape": "cylinder", "size": 1.3}
    with pytest.raises(CompileError, match="min_distance"):
        one({"objects": [discs, discs, discs], "area": area, "constraints": rules}, seed=3)


points = st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2)), min_size=3, max_size=9)


@given(points, points, st.tuples(st.floats(-6, 6), st.floats(-6, 6)))
def test_clearance_is_the_distance_of_the_outlines(a: Any, b: Any, delta: tuple[float, float]) -> None:
    first, second = convex_hull(np.array(a)), convex_hull(np.array(b))
    room = float(clearance(np.float64(delta[0]), np.float64(delta[1]), difference(first, second)))  # type: ignore[arg-type]
    moved = np.array(second) + delta
    # Sampled outlines: never nearer than the clearance, and as near as the samples are dense.
    sides = [
        np.concatenate([p + (q - p) * t for t in np.linspace(0, 1, 60)[:, None, None]])
        for p, q in ((np.array(first), np.roll(first, -1, axis=0)), (moved, np.roll(moved, -1, axis=0)))
    ]
    nearest = float(np.sqrt(((sides[0][:, None] - sides[1][None]) ** 2).sum(axis=2)).min())
    assert room <= nearest + 1e-4
    if room > 0:
        assert nearest <= room + 0.3


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=40))
def test_a_hull_holds_all_points(raw: list[tuple[float, float]]) -> None:
    hull = convex_hull(np.array(raw))
    assert set(hull) <= {(round(x, 6) + 0.0, round(y, 6) + 0.0) for x, y in raw}
    if len(hull) > 2:
        cloud = np.array(raw)
        assert (clearance(cloud[:, 0], cloud[:, 1], np.array(hull)) < 1e-5).all()


@given(st.floats(-180, 180), st.floats(-90, 90), st.floats(-180, 180))
def test_euler_angles_come_back(x: float, y: float, z: float) -> None:
    matrix = euler_matrix((math.radians(x), math.radians(y), math.radians(z)))
    np.testing.assert_allclose(euler_matrix(matrix_euler(matrix)), matrix, atol=1e-7)


@given(st.floats(-360, 360), st.floats(-90, 90))
def test_a_view_is_what_a_camera_there_would_see(yaw: float, elevation: float) -> None:
    """The thing turned before the stage's camera, and a camera put about the thing: the same coordinates."""
    front = Camera.of(_ortho((0.0, -10.0, 0.0)), 100, 100)
    turn = seen_from(yaw, elevation, front)
    a, e = math.radians(yaw), math.radians(min(max(elevation, -89.99), 89.99))
    around = (10 * math.sin(a) * math.cos(e), -10 * math.cos(a) * math.cos(e), 10 * math.sin(e))
    cloud = np.array([(1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0), (0.3, -0.4, 0.5)])
    seen = front.project(transform(cloud, turn, 1.0, (0.0, 0.0, 0.0)))
    np.testing.assert_allclose(seen, Camera.of(_ortho(around), 100, 100).project(cloud), atol=0.02)


def _ortho(location: tuple[float, float, float]) -> SceneCamera:
    return SceneCamera(location=location, look_at=(0, 0, 0), lens=35, sensor_width=32, clip=(0.1, 100), ortho_scale=4.0)


@pytest.mark.parametrize("framing", [0.5, 0.9])
@pytest.mark.parametrize("shape", [CHAIR, "shapenet:benches/#2", "cube"])
def test_framing_holds_the_object(framing: float, shape: str) -> None:
    """Its sphere fills that share; the object itself touches the sphere somewhere, and never leaves the picture."""
    views = [{"name": f"v{k}", "yaw_deg": 40 * k, "elevation_deg": 10 * k, "framing": framing} for k in range(9)]
    frame = one({"objects": [{"shape": shape, "rotation_deg": 0}], "views": views}, stage="studio")
    item = frame.objects[0]
    for view in frame.views:
        camera = Camera.of(view.camera, 200, 200)
        layer = rasterize(solid(item.shape), Pose(item.rotation_deg, item.scale, item.location), camera)
        assert not layer.truncated
        x, y, width, height = layer.box or (0, 0, 0, 0)
        assert max(100 - x, 100 - y, x + width - 100, y + height - 100) <= 100 * framing + 1
        assert max(width, height) > 0.45 * 200 * framing


def test_a_distance_is_obeyed() -> None:
    frame = one({"objects": [{"shape": CHAIR}], "camera": {"yaw_deg": 90, "distance": 7.5}}, stage="studio")
    camera = frame.views[0].camera
    assert math.dist(camera.location, camera.look_at) == pytest.approx(7.5, abs=1e-5)
    assert camera.location[0] > 5 and abs(camera.location[1]) < 1e-5


def test_places_are_filled_without_meeting() -> None:
    frame = one({"objects": [{"shape": CHAIR}, {"shape": CHAIR, "place": "top_left"}, {"shape": "cube"}]}, "quadrants")
    places = [(item.location[0], item.location[2]) for item in frame.objects]
    assert places[1] == (-1.0, 1.0)
    assert len(set(places)) == 3
    for item in frame.objects:
        assert item.scale * solid(item.shape).radius == pytest.approx(0.9, abs=1e-4)


def test_drawn_places_come_from_the_seed() -> None:
    frames = [{"name": f"f{k}", "objects": [{"shape": CHAIR}]} for k in range(24)]
    found = [frame.objects[0].location for frame in compiled(*frames, stage="quadrants").frames]
    assert found == [frame.objects[0].location for frame in compiled(*frames, stage="quadrants").frames]
    assert len(set(found)) == 4


def test_the_seed_of_sampling_is_the_contents() -> None:
    item = {"shape": CHAIR, "place": "top_left", "view": {"yaw_deg": 5}}
    same: list[dict[str, Any]] = [
        {"name": "a", "objects": [item]},
        {"name": "b", "fixation": True, "objects": [{**item, "name": "x"}]},
    ]
    other: list[dict[str, Any]] = [
        {"objects": [{**item, "view": {"yaw_deg": 6}}]},
        {"objects": [{**item, "place": "top_right"}]},
    ]
    scene = compiled(*same, *other, stage="quadrants")
    seeds = [frame.seed for frame in scene.frames]
    assert seeds[0] == seeds[1] and len(set(seeds)) == 3
    again = compiled(*same, stage="quadrants", seed=99)
    assert again.frames[0].seed == seeds[0]
    clevr = compiled({"objects": []}, {"objects": []})
    assert clevr.frames[0].seed != clevr.frames[1].seed


def test_a_scene_with_models_is_taken_as_it_is() -> None:
    scene = compiled({"objects": [{"shape": CHAIR}], "camera": {"yaw_deg": 3}, "background": [1, 2, 3]}, stage="studio")
    assert parse_episode(scene.to_json()) == scene
    assert compile_spec(scene.to_json()) == scene


@pytest.mark.parametrize(
    ("stage", "frame", "part"),
    [
        ("clevr", {"objects": [{"shape": "shapenet:chairs"}]}, "shapenet:<category>/<model id>"),
        ("clevr", {"objects": [{"shape": "shapenet:chairs/../../x"}]}, "shapenet:<category>/<model id>"),
        ("clevr", {"objects": [{"shape": "cube", "normalize": False}]}, "only for models"),
        ("clevr", {"objects": [{"shape": "cube", "material": "original"}]}, 'found "original"'),
        ("clevr", {"objects": [{"shape": CHAIR, "material": "original", "color": "red"}]}, "beside material original"),
        ("clevr", {"objects": [{"shape": CHAIR, "view": {"yaw_deg": 3}}]}, "has a ground"),
        ("clevr", {"objects": [{"place": "top_left"}]}, "has no places"),
        ("clevr", {"background": [0, 0, 0]}, "has none"),
        ("clevr", {"fixation": True}, "has none"),
        ("clevr", {"camera": {"location": [5, 5, 5], "yaw_deg": 3}}, "beside location"),
        ("studio", {"camera": {"distance": 5, "framing": 0.5}}, "beside distance"),
        ("quadrants", {"objects": [{"place": "top_lef"}]}, "did you mean 'top_left'"),
        ("quadrants", {"objects": [{"place": "top_left"}, {"place": "top_left"}]}, "can't share a place"),
        ("quadrants", {"objects": [{"place": "top_left", "location": [0, 0]}]}, "beside location"),
        ("quadrants", {"objects": [{}, {}, {}, {}, {}]}, "4 free places"),
        ("quadrants", {"objects": [{"rotation_deg": 3, "view": {}}]}, "beside rotation_deg"),
        ("quadrants", {"background": [0, 0, 256]}, "at most 255"),
        ("studio", {"pointer": {"target": "a"}, "objects": [{"name": "a"}]}, "has none"),
    ],
)
def test_faults_are_named(stage: str, frame: dict[str, Any], part: str) -> None:
    with pytest.raises(SpecError) as caught:
        compiled(frame, stage=stage)
    assert part in str(caught.value)
