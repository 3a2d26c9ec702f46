"""Cameras: clip ranges hold what is shown, and a matrix K is the camera that others mean by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from diorama.render.annotations import annotate
from diorama.render.api import compile_spec
from diorama.render.geometry.solid import solid, world_vertices
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.uses.rerender.pin_layout import pin_layout
from diorama.scene_specs.errors import CompileError, SpecError
from diorama.scene_specs.model.record import FrameAnnotation
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.marks import slow

CUBE: dict[str, Any] = {"name": "cube", "shape": "cube", "size": 0.7, "location": [0, 0], "rotation_deg": 0}
BALL: dict[str, Any] = {"name": "ball", "shape": "sphere", "size": 0.5, "location": [1.5, 0.5]}


def compiled(camera: dict[str, Any], *objects: dict[str, Any], **frame: Any) -> Scene:
    rules = [{"in_frame": False}, {"min_visible_pixels": 0}]
    given = {"objects": [*(objects or (CUBE, BALL))], "camera": camera, "constraints": rules, **frame}
    return compile_spec({"version": 1, "id": "test/camera", "seed": 1, "frames": [given]}, "draft", (64, 48))


def drawn(scene: Scene) -> tuple[FrameAnnotation, NDArray[np.float32], NDArray[np.uint16]]:
    """Annotation, depth and ids of the one image."""
    frame = scene.frames[0]
    passes = FakeRenderer().render(scene, frame, frame.views[0])
    return annotate(scene, frame, frame.views[0], passes), passes.depth, passes.ids


@pytest.mark.parametrize("distance", [90, 150, 700])
def test_what_is_far_away_is_drawn(distance: float) -> None:
    camera = {"location": [0, -distance, 5], "look_at": [0, 0, 0.7], "lens": 900}
    scene = compiled(camera)
    near, far = scene.frames[0].views[0].camera.clip
    assert near == 0.1
    assert far == 100 if distance == 90 else 2 * distance < far < 2 * distance + 4
    truth, *_ = drawn(scene)
    assert all(item.visible_pixels > 5 for item in truth.objects)


def test_what_is_behind_a_camera_does_not_count() -> None:
    behind = {**BALL, "location": [0, -900]}
    area = {"x": [-3, 3], "y": [-1000, 3]}
    assert compiled({"location": [0, -8, 3]}, CUBE, behind, area=area).frames[0].views[0].camera.clip == (0.1, 100.0)


def test_near_shrinks_until_an_error_names_the_object() -> None:
    close = {"location": [0, -0.75, 0.7], "look_at": [0, 0, 0.7]}
    near, far = compiled(close, CUBE).frames[0].views[0].camera.clip
    assert near == pytest.approx(0.025, abs=0.001)
    assert far == 100
    with pytest.raises(CompileError, match=r"camera: the object 'cube' is 0\.00\d+ Blender units in front of it"):
        compiled({**close, "location": [0, -0.7005, 0.7]}, CUBE)


@pytest.mark.parametrize("camera", [{"location": [0.1, 0, 0.6]}, {"distance": 0.2}])
def test_a_camera_inside_an_object_is_an_error(camera: dict[str, Any]) -> None:
    with pytest.raises(CompileError, match="camera: it is inside the object 'cube'; move one of them"):
        compiled({"look_at": [0, 0, 0.7], **camera}, CUBE)


def random_camera(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    location = [*rng.uniform(-6, 6, 2), rng.uniform(1, 6)]
    focal = rng.uniform(30, 90)
    center = {"cx": rng.uniform(10, 54), "cy": rng.uniform(8, 40)}
    matrix = {"fx": focal, "fy": focal, **center, "width": 64, "height": 48}
    return {"location": [round(x, 3) for x in location], "look_at": [0.5, 0.2, 0.5], "intrinsics": matrix}


def ray_cast(scene: Scene, spec: dict[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Depth and ids of the image, by rays through the pixel centers from K alone (Moeller and Trumbore 1997)."""
    matrix, eye = spec["intrinsics"], np.array(spec["location"])
    forward = np.array(spec["look_at"]) - eye
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    x, y = np.meshgrid(np.arange(64) + 0.5, np.arange(48) + 0.5)
    rays = (
        forward
        + ((x - matrix["cx"]) / matrix["fx"])[..., None] * right
        + ((y - matrix["cy"]) / matrix["fy"])[..., None] * np.cross(forward, right)
    ).reshape(-1, 1, 3)
    depth, ids = np.full(len(rays), np.inf), np.zeros(len(rays), int)
    for item in scene.frames[0].objects:
        a, b, c = (world_vertices(item)[corner] for corner in solid(item.shape).corners)
        p = np.cross(rays, c - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1 / (p * (b - a)).sum(-1)
            u = ((eye - a) * p).sum(-1) * scale
            q = np.cross(eye - a, b - a)
            v, far = (rays * q).sum(-1) * scale, ((c - a) * q).sum(-1) * scale
            hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (far > 0)
        nearest = np.where(hit, far, np.inf).min(1)
        ids[nearest < depth] = item.index
        depth = np.minimum(depth, nearest)
    return depth.reshape(48, 64), ids.reshape(48, 64)


@pytest.mark.parametrize("seed", [0, *slow(*range(1, 50))])
def test_a_matrix_gives_the_image_that_rays_through_it_give(seed: int) -> None:
    spec = random_camera(seed)
    scene = compiled(spec)
    truth, depth, ids = drawn(scene)
    expected_depth, expected_ids = ray_cast(scene, spec)
    # A pixel whose center lies on an outline may be on either side of it.
    assert (ids != expected_ids).mean() < 0.003
    same = (ids == expected_ids) & (ids > 0)
    assert np.abs(depth[same] - expected_depth[same]).max(initial=0) < 1e-3
    for item in truth.objects:
        rows, columns = np.nonzero(expected_ids == item.index)
        if item.bbox is None or len(rows) < 5:
            continue
        left, top, width, height = item.bbox
        edges = np.array([left, top, left + width, top + height])
        assert np.abs(edges - [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]).max() <= 1
    found = np.array(truth.camera.intrinsics)
    matrix = spec["intrinsics"]
    wanted = [[matrix["fx"], 0, matrix["cx"]], [0, matrix["fy"], matrix["cy"]], [0, 0, 1]]
    assert np.abs(found - wanted).max() < 1e-3


def test_a_pinned_camera_keeps_its_matrix() -> None:
    spec = {"version": 1, "id": "test/pin", "seed": 1, "frames": [{"objects": [CUBE], "camera": random_camera(3)}]}
    scene = compile_spec(spec, "draft", (64, 48))
    assert compile_spec(pin_layout(EpisodeSpec.model_validate(spec), scene), "draft", (64, 48)).frames == scene.frames


WRONG = [
    ({"fy": 51}, "fy", "found 51, and 50 for fx; allowed: two equal numbers"),
    ({"cx": None}, "cx", "missing"),
    ({"skew": 0}, "skew", "unknown"),
]


@pytest.mark.parametrize(("change", "key", "problem"), WRONG)
def test_a_wrong_matrix_is_named(change: dict[str, Any], key: str, problem: str) -> None:
    matrix = {"fx": 50, "fy": 50, "cx": 32, "cy": 24, "width": 64, "height": 48, **change}
    matrix = {name: value for name, value in matrix.items() if value is not None}
    with pytest.raises(SpecError, match=rf"camera\.intrinsics.*{key}.*{problem}|camera\.intrinsics.*{problem}.*{key}"):
        compiled({"intrinsics": matrix})


def test_a_matrix_excludes_lens_and_flat_stages() -> None:
    matrix = random_camera(0)["intrinsics"]
    with pytest.raises(SpecError, match="intrinsics, or lens"):
        compiled({"intrinsics": matrix, "lens": 30})
    flat = {"version": 1, "id": "a", "stage": "flat", "frames": [{"objects": [], "camera": {"intrinsics": matrix}}]}
    with pytest.raises(SpecError, match="orthographic"):
        compile_spec(flat)
