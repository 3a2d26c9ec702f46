"""What every renderer promises of the passes: their form, and that they agree with each other and with the camera."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from diorama.render.annotations import annotate, decode_extra, encode_extra
from diorama.render.compiler import compile_episode
from diorama.render.compiler.render_key import plugin_assets
from diorama.render.geometry.camera import Camera
from diorama.render.passes import array_passes, row_of
from diorama.render.renderers import make_renderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import RenderError
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model.passes import Passes, Renderer
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.contracts.members import members

WIDTH, HEIGHT = 160, 120
OBJECTS: list[dict[str, Any]] = [
    {"name": "front", "shape": "cube", "color": "red", "material": "matte", "size": 0.9, "location": [0, 0]},
    {
        "name": "glass",
        "shape": "sphere",
        "color": "blue",
        "material": "glass",
        "size": "large",
        "location": [1.3, -1.3],
    },
    {
        "name": "metal",
        "shape": "cylinder",
        "color": "green",
        "material": "metal",
        "size": "large",
        "location": [-1.2, -1.8],
    },
    {
        "name": "behind",
        "shape": "sphere",
        "color": "yellow",
        "material": "rubber",
        "size": "large",
        "location": [0.3, 1.7],
    },
]
CAMERAS: dict[str, dict[str, Any]] = {
    "perspective": {"camera": {"jitter": 0}},
    "beside the stage": {"camera": {"location": [7.0, -6.0, 2.0], "look_at": [3.0, 0.5, 1.0]}},
}


@pytest.fixture(scope="module", params=members("renderers"))
def renderer(request: pytest.FixtureRequest) -> Iterator[Renderer]:
    made = make_renderer(request.param, "cpu", threads=1)
    # And a version, under a name of the renderer's own: provenance keeps it.
    assert {"name", "device", "cpu"} < set(made.info) and made.info["name"] == request.param
    yield made
    made.close()


def scene_of(passes: list[str], **frame: Any) -> Scene:
    frame = {"objects": OBJECTS, "passes": passes, **frame}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "test/contract", "frames": [frame]})
    return compile_episode(spec, settings_for("draft", WIDTH, HEIGHT))


def one(renderer: Renderer, scene: Scene, frame: SceneFrame | None = None) -> Passes:
    return renderer.render(scene, frame or scene.frames[0], scene.frames[0].views[0])


def camera_of(scene: Scene) -> Camera:
    return Camera.of(scene.frames[0].views[0].camera, WIDTH, HEIGHT)


def check_form(renderer: Renderer) -> None:
    """What diorama.scene_specs.model.passes says of shapes, types and values."""
    passes = one(renderer, scene_of([]))
    for name, shape, dtype in (("color", (3,), "uint8"), ("ids", (), "uint16"), ("depth", (), "float32")):
        array = getattr(passes, name)
        assert (array.shape, str(array.dtype)) == ((HEIGHT, WIDTH, *shape), dtype), name
    assert (passes.normal.shape, str(passes.normal.dtype)) == ((HEIGHT, WIDTH, 3), "float32")
    assert passes.coverage is None and not passes.extra
    seen = np.isfinite(passes.depth)
    assert set(np.unique(passes.ids)) == {0, *range(1, len(OBJECTS) + 1)} and seen[passes.ids > 0].all()
    assert np.allclose(np.linalg.norm(passes.normal[seen], axis=1), 1, atol=1e-3)
    assert (passes.normal[~seen] == 0).all() and (passes.depth > 0).all()


def check_ids(renderer: Renderer) -> None:
    """Ids, depth and boxes agree with the camera: the nearest surface at a pixel's center has the id."""
    scene = scene_of([])
    passes = one(renderer, scene)
    reference = one(FakeRenderer(), scene)
    assert np.mean(passes.ids != reference.ids) < 0.005
    both = (passes.ids == reference.ids) & (passes.ids > 0)
    assert np.quantile(np.abs(passes.depth[both] - reference.depth[both]), 0.95) < 0.02


def check_color(renderer: Renderer) -> None:
    """Row 0 is the top: the color of each matte object is at its ids."""
    passes = one(renderer, scene_of([]))
    red, green, blue = passes.color[_eroded(passes.ids) == 1].mean(axis=0)
    assert red > 1.2 * max(green, blue)


def check_calls(renderer: Renderer) -> None:
    """An image depends on what was requested alone, not on the calls before it."""
    scene = scene_of([])
    first = one(renderer, scene)
    one(renderer, scene_of([], camera={"location": [7.0, -6.0, 2.0], "look_at": [3.0, 0.5, 1.0]}))
    again = one(renderer, scene)
    for name in ("color", "ids", "depth", "normal"):
        assert np.array_equal(getattr(first, name), getattr(again, name)), name


CHECKS = (check_form, check_ids, check_color, check_calls)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_renderer_keeps_its_contract(renderer: Renderer, check: Callable[[Renderer], None]) -> None:
    check(renderer)


class Broken(FakeRenderer):
    """The fake renderer with one pass changed."""

    def __init__(self, change: Callable[[Passes, int], dict[str, Any]]) -> None:
        super().__init__()
        self._change, self._calls = change, 0

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        passes = super().render(scene, frame, view)
        self._calls += 1
        return replace(passes, **self._change(passes, self._calls))


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda passes, call: {"ids": passes.ids.astype(np.int64)}, check_form),
        (lambda passes, call: {"depth": np.where(passes.ids > 0, passes.depth, np.float32(0))}, check_form),
        (lambda passes, call: {"color": passes.color[:, :-1]}, check_form),
        (lambda passes, call: {"normal": passes.normal * 2}, check_form),
        (lambda passes, call: {"ids": np.roll(passes.ids, 1, axis=1)}, check_ids),
        (lambda passes, call: {"depth": passes.depth * np.float32(1.01)}, check_ids),
        (lambda passes, call: {"color": passes.color[::-1]}, check_color),
        (lambda passes, call: {"color": passes.color[..., ::-1]}, check_color),
        (lambda passes, call: {"color": passes.color + np.uint8(call)}, check_calls),
    ],
)
def test_a_broken_renderer_is_caught(
    change: Callable[[Passes, int], dict[str, Any]], check: Callable[[Renderer], None]
) -> None:
    check(FakeRenderer())
    with pytest.raises(AssertionError):
        check(Broken(change))


def test_every_pass_has_the_form_of_its_row(renderer: Renderer) -> None:
    names = list(plugins("passes"))
    passes = one(renderer, scene_of(names))
    sizes = {"H": HEIGHT, "W": WIDTH, "N": len(OBJECTS)}
    stored = decode_extra(encode_extra(passes, names) or b"")
    assert set(stored) == set(array_passes(names))
    for name in array_passes(names):
        row, found = row_of(name), passes.get(name)
        shape = tuple(sizes.get(str(axis), axis) for axis in row.shape)
        assert found is not None and (found.shape, str(found.dtype)) == (shape, "float32"), name
        assert (stored[name].shape, str(stored[name].dtype)) == (shape, row.dtype), name


def test_a_requested_pass_changes_no_other(renderer: Renderer) -> None:
    plain, full = (one(renderer, scene_of(names)) for names in ([], [*plugins("passes")]))
    for name in ("color", "ids", "depth", "normal"):
        assert np.array_equal(getattr(plain, name), getattr(full, name)), name
    assert plain.extra == {} and plain.coverage is None
    with pytest.raises(RenderError, match="albedo"):
        encode_extra(plain, ["albedo"])


@pytest.mark.parametrize("camera", CAMERAS)
def test_positions_project_to_their_pixels_and_depths(renderer: Renderer, camera: str) -> None:
    scene = scene_of(["position"], **CAMERAS[camera])
    passes = one(renderer, scene)
    _check_positions(passes, camera_of(scene))


def test_positions_of_parallel_rays_project_to_their_pixels(renderer: Renderer) -> None:
    scene = scene_of(["position"])
    (view,) = scene.frames[0].views
    parallel = view.model_copy(update={"camera": view.camera.model_copy(update={"ortho_scale": 8.0})})
    scene = scene.model_copy(update={"frames": (scene.frames[0].model_copy(update={"views": (parallel,)}),)})
    assert camera_of(scene).orthographic
    _check_positions(one(renderer, scene), camera_of(scene))


def _check_positions(passes: Passes, camera: Camera) -> None:
    position = passes.extra["position"]
    seen = np.isfinite(passes.depth)
    assert (seen == np.isfinite(position).all(axis=-1)).all() and (passes.ids[~seen] == 0).all()
    assert np.isinf(position[~seen]).all() and seen.sum() > 200
    inner, outer = (np.array(matrix) for matrix in camera.matrices())
    places = position[seen].astype(np.float64) @ outer[:, :3].T + outer[:, 3]
    divisor = 1.0 if camera.orthographic else places[:, 2:]
    pixels = np.concatenate([places[:, :2] / divisor, np.ones((len(places), 1))], axis=1) @ inner.T
    rows, columns = np.nonzero(seen)
    # Cycles' smallest filter is not used here: a first sample lies up to 0.03 pixels from the center.
    assert np.abs(pixels[:, :2] - np.stack([columns + 0.5, rows + 0.5], axis=1)).max() < 0.05
    assert np.abs(places[:, 2] - passes.depth[seen]).max() < 1e-4


def test_albedo_is_the_color_of_diffuse_surfaces(renderer: Renderer) -> None:
    scene = scene_of(["albedo"])
    passes = one(renderer, scene)
    albedo = passes.extra["albedo"]
    assert albedo.min() >= 0 and albedo.max() <= 1
    inside = _eroded(passes.ids)
    # Rubber loses up to a tenth to its highlight. Samples beyond the edge of an object mix in.
    for item, low in zip(scene.frames[0].objects, (1.0, 0.0, 0.0, 0.85), strict=True):
        share = np.median(albedo[inside == item.index] / item.color_linear)
        assert low - 1e-3 <= share <= low + 0.15 * (low == 0.85) + 1e-3, item.name


def _eroded(ids: NDArray[np.uint16]) -> NDArray[np.uint16]:
    same = [ids == np.roll(ids, step, axis) for step in (-1, 1) for axis in (0, 1)]
    return np.where(np.all(same, axis=0), ids, 0).astype(np.uint16)


def test_amodal_masks_are_those_of_each_object_alone(renderer: Renderer) -> None:
    scene = scene_of(["amodal"])
    frame, view = scene.frames[0], scene.frames[0].views[0]
    passes = one(renderer, scene)
    assert encode_extra(passes, frame.passes) is None
    plain = annotate(scene, frame.model_copy(update={"passes": ()}), view, passes)
    assert "amodal_rle" not in plain.model_dump()["objects"][0]
    truth = annotate(scene, frame, view, passes)
    for item, annotated in zip(frame.objects, truth.objects, strict=True):
        alone = one(renderer, scene, frame.model_copy(update={"objects": (item,)})).ids == item.index
        assert annotated.amodal_rle is not None
        mask = annotated.amodal_rle.mask()
        assert mask.sum() == annotated.alone_pixels
        assert (mask & alone).sum() >= 0.99 * (mask | alone).sum(), item.name
    assert 0.5 < truth.objects[3].visible_fraction < 0.8


MIST = """
from diorama.render.passes import PassRow

PASS = PassRow(
    shape=("H", "W"), dtype="float16", unit="0 to 1", meaning="mist", switch="use_pass_mist",
    read=lambda image, frame: image.stack("Mist", "Z")[..., 0], fake=lambda view: view.order.astype("float32"),
)
"""


@pytest.fixture
def mist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with one more pass."""
    (tmp_path / "misty_mist.py").write_text(MIST)
    about = tmp_path / "misty-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: misty\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[diorama.passes]\nmist = misty_mist\n")
    monkeypatch.syspath_prepend(tmp_path)
    plugins.cache_clear()
    yield
    plugins.cache_clear()
    sys.modules.pop("misty_mist", None)


def test_one_more_pass_is_one_file(renderer: Renderer, mist: None) -> None:
    scene = scene_of(["mist", "depth"])
    stored = decode_extra(encode_extra(one(renderer, scene), scene.frames[0].passes) or b"")
    assert [*stored] == ["depth", "mist"] and stored["mist"].dtype == np.float16
    # Another version of the package may give another array: its episodes are other episodes.
    assert plugin_assets([], [], "fake", ["depth"]) == {}
    assert plugin_assets([], [], "fake", ["mist", "depth"])["plugin:pass:mist"].startswith("misty 1.0 ")
