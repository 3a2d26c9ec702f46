"""The software id buffer against a ray caster, and what it promises about edges, planes and windows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from diorama.render.geometry import fill
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.meshes import load_mesh
from diorama.render.geometry.raster import Layer, Pose, compose, mask_box, rasterize
from diorama.render.geometry.solid import Solid, solid
from diorama.scene_specs.model.scene import SceneCamera
from diorama.scene_specs.model.stage import load_stage
from diorama.scene_specs.rotation import transform
from tests.render.geometry.caster import cast, mesh_of

CLEVR = SceneCamera(location=(7.4811, -6.5076, 5.3437), look_at=(0, 0, 0), lens=35, sensor_width=32, clip=(0.1, 100))


def camera_at(location: tuple[float, float, float], width: int, height: int, clip: tuple[float, float]) -> Camera:
    return Camera.of(
        SceneCamera(location=location, look_at=(0, 0, 0), lens=20, sensor_width=32, clip=clip), width, height
    )


def whole(layer: Layer, camera: Camera) -> NDArray[np.float64]:
    return compose([layer], camera.width, camera.height)[1]


def assert_between(drawn: NDArray[np.float64], narrow: NDArray[np.float64], wide: NDArray[np.float64]) -> None:
    """Every pixel that the shrunk triangles cover is drawn, none that the widened ones miss; depths agree."""
    assert not (np.isfinite(narrow) & ~np.isfinite(drawn)).any()
    assert not (np.isfinite(drawn) & ~np.isfinite(wide)).any()
    sure = np.isfinite(drawn) & (np.abs(np.where(np.isfinite(narrow), narrow, 0) - wide) < 1e-5)
    assert np.allclose(drawn[sure], wide[sure], rtol=1e-4)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), distance=st.floats(0.3, 6), width=st.integers(1, 24), height=st.integers(1, 24))
def test_random_triangles_agree_with_the_ray_caster(seed: int, distance: float, width: int, height: int) -> None:
    rng = np.random.default_rng(seed)
    mesh = mesh_of(rng.uniform(-1, 1, (9, 3)), rng.permuted(np.tile(np.arange(9), (12, 1)), axis=1)[:, :3].astype("i4"))
    angle = rng.uniform(0, 2 * math.pi)
    # Nearer than the mesh is large, so that triangles cross the near plane and stand behind the camera.
    camera = camera_at((distance * math.cos(angle), distance * math.sin(angle), 0.4), width, height, (0.1, 5.0))
    pose = Pose((20.0, 40.0, 60.0), 1.0, (0.1, 0.0, 0.0))
    drawn = whole(rasterize(Solid.of(mesh), pose, camera), camera)
    assert_between(drawn, cast(mesh, pose, camera, -1e-7), cast(mesh, pose, camera, 1e-7))


@pytest.mark.alike
@pytest.mark.parametrize("shape", ["cube", "sphere", "cylinder"])
@pytest.mark.parametrize(
    ("location", "clip"),
    [((0.2, 0.1, 0.3), (0.1, 100.0)), ((1.6, -1.4, 1.5), (0.1, 100.0)), ((2.2, -1.9, 1.6), (0.1, 2.0))],
)
def test_our_shapes_agree_with_the_ray_caster(
    shape: str, location: tuple[float, float, float], clip: tuple[float, float]
) -> None:
    """In view; cut by the image's border; around the camera."""
    camera = camera_at((2.5, -2.2, 1.9), 20, 15, clip)
    pose = Pose((0.0, 0.0, 33.0), 0.7, location)
    drawn = whole(rasterize(solid(shape), pose, camera), camera)
    assert np.isfinite(drawn).any()
    assert_between(drawn, cast(load_mesh(shape), pose, camera, -1e-7), cast(load_mesh(shape), pose, camera, 1e-7))


@pytest.mark.parametrize("scale", [0.0, 1e-200])
@pytest.mark.parametrize("ortho_scale", [None, 4.0])
def test_of_what_has_no_size_nothing_is_seen(scale: float, ortho_scale: float | None) -> None:
    camera = Camera.of(CLEVR.model_copy(update={"ortho_scale": ortho_scale}), 20, 15)
    assert rasterize(solid("cube"), Pose((0.0, 0.0, 33.0), scale, (0.0, 0.0, 0.0)), camera).pixels == 0


def test_a_camera_inside_sees_the_inner_side() -> None:
    camera = camera_at((0.1, -0.1, 0.1), 16, 12, (0.01, 100.0))
    layer = rasterize(solid("sphere"), Pose((0.0, 0.0, 0.0), 0.7, (0.0, 0.0, 0.0)), camera)
    assert layer.pixels == 16 * 12
    assert layer.truncated


@settings(max_examples=25)
@given(st.floats(-2.5, 2.5), st.floats(-2.5, 2.5), st.floats(0, 360), st.sampled_from(["cube", "sphere", "cylinder"]))
def test_silhouettes_have_no_cracks(x: float, y: float, turn: float, shape: str) -> None:
    """Our shapes are convex: each row of a mask is one run."""
    layer = rasterize(solid(shape), Pose((0.0, 0.0, turn), 0.7, (x, y, 0.7)), Camera.of(CLEVR, 320, 240))
    for row in layer.mask:
        steps = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(int)))
        assert len(steps) in (0, 2)


def test_a_split_square_lies_on_pixel_centers_without_cracks_or_overlap() -> None:
    """The diagonal runs exactly through pixel centers; both triangles own it."""
    corners = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    mesh = mesh_of(corners, np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32))
    above = SceneCamera(location=(0, 0, 4), look_at=(0, 0, 0), lens=32, sensor_width=32, clip=(0.1, 100))
    camera = Camera.of(above, 16, 16)
    layer = rasterize(Solid.of(mesh), Pose((0.0, 0.0, 0.0), 1.0, (0.0, 0.0, 0.0)), camera)
    # 2 units at depth 4 with a focal length of 16 pixels: 8 pixels.
    assert layer.box == (4, 4, 8, 8)
    assert layer.pixels == 64
    assert np.allclose(layer.depth[layer.mask], 4.0)


def test_meshes_of_ours_are_closed_and_wound_outwards() -> None:
    for shape in ("cube", "sphere", "cylinder"):
        mesh = load_mesh(shape)
        a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
        assert solid(shape).closed
        assert (np.cross(b - a, c - a) * (a + b + c)).sum(axis=1).min() > 0
    assert not solid("clevr_ground").closed


def test_open_meshes_show_both_sides() -> None:
    corners = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
    camera = Camera.of(CLEVR, 64, 48)
    pose = Pose((0.0, 0.0, 0.0), 1.0, (0.0, 0.0, 0.5))
    up = rasterize(Solid.of(mesh_of(corners, np.array([[0, 1, 2]], dtype=np.int32))), pose, camera)
    down = rasterize(Solid.of(mesh_of(corners, np.array([[0, 2, 1]], dtype=np.int32))), pose, camera)
    assert up.pixels > 0
    assert np.array_equal(up.mask, down.mask)


@settings(max_examples=40)
@given(st.floats(-9, 9), st.floats(-9, 9), st.sampled_from([0.35, 0.7, 2.0]), st.floats(0, 360))
def test_truncated_means_that_a_vertex_leaves_the_image(x: float, y: float, scale: float, turn: float) -> None:
    camera = Camera.of(CLEVR, 320, 240)
    pose = Pose((0.0, 0.0, turn), scale, (x, y, scale))
    layer = rasterize(solid("cylinder"), pose, camera)
    pixel = camera.project(transform(load_mesh("cylinder").vertices, pose.rotation_deg, scale, pose.location))
    inside = (pixel[:, :2] >= 0).all() and (pixel[:, :2] <= (320, 240)).all() and (pixel[:, 2] >= 0.1).all()
    assert layer.truncated == (not inside)
    if layer.box is not None:
        left, top, width, height = layer.box
        assert left >= 0
        assert top >= 0
        assert left + width <= 320
        assert top + height <= 240


@pytest.mark.parametrize("shape", ["cube", "sphere"])
def test_pieces_do_not_change_the_picture(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    camera = Camera.of(CLEVR, 640, 480)
    pose = Pose((10.0, 20.0, 30.0), 1.5, (3.0, -3.0, 1.5))
    at_once = rasterize(solid(shape), pose, camera).depth
    monkeypatch.setattr(fill, "_CHUNK", 500)
    monkeypatch.setattr(fill, "_SMALL", 3)
    assert np.array_equal(rasterize(solid(shape), pose, camera).depth, at_once)


def test_the_ground_hides_what_lies_below_it() -> None:
    ground = load_stage("clevr").ground
    camera = Camera.of(CLEVR, 320, 240)
    shape, turn = solid("sphere"), (0.0, 0.0, 0.0)
    half = rasterize(shape, Pose(turn, 0.7, (0.0, 0.0, 0.0)), camera, ground)
    free = rasterize(shape, Pose(turn, 0.7, (0.0, 0.0, 0.0)), camera)
    assert 0.4 * free.pixels < half.pixels < 0.9 * free.pixels
    assert rasterize(shape, Pose(turn, 0.7, (0.0, 0.0, -2.0)), camera, ground).box is None
    high = Pose(turn, 0.7, (0.0, 0.0, 3.0))
    assert np.array_equal(rasterize(shape, high, camera, ground).depth, rasterize(shape, high, camera).depth)
    # A flat thing on z = 0 far behind, where the sheet stands 0.03 higher, is covered.
    flat = Solid.of(
        mesh_of(
            np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]], np.int32)
        )
    )
    assert rasterize(flat, Pose(turn, 0.3, (-4.0, 2.0, 0.0)), camera, ground).box is None
    assert rasterize(flat, Pose(turn, 0.3, (-4.0, 2.0, 0.1)), camera, ground).box is not None


def test_compose_keeps_the_nearest() -> None:
    far = Layer(1, 1, np.array([[5.0, 5.0], [5.0, np.inf]]), False)
    near = Layer(2, 1, np.array([[3.0], [3.0]]), False)
    ids, depth = compose([far, near], 4, 3)
    assert ids.tolist() == [[0, 0, 0, 0], [0, 1, 2, 0], [0, 1, 2, 0]]
    assert depth[1].tolist() == [np.inf, 5.0, 3.0, np.inf]
    assert np.array_equal(compose([near, far], 4, 3)[0] > 0, ids > 0)


@given(st.integers(0, 2**16 - 1), st.integers(0, 9), st.integers(0, 9))
def test_mask_box_is_tight(bits: int, x: int, y: int) -> None:
    mask = np.array([bool(bits >> k & 1) for k in range(16)]).reshape(4, 4)
    box = mask_box(mask, x, y)
    if not bits:
        assert box is None
        return
    assert box is not None
    rows, columns = np.nonzero(mask)
    assert box == (
        x + columns.min(),
        y + rows.min(),
        columns.max() - columns.min() + 1,
        rows.max() - rows.min() + 1,
    )
