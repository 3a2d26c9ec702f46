"""The flat stage, rendered: areas are counts of pixels, colors are exact, ids are the colors'."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diorama.render.annotations import annotate
from diorama.render.compiler import compile_episode
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.benchmarks.malevic import Options
from diorama.scene_specs.benchmarks.malevic.generate import malevic_spec
from diorama.scene_specs.benchmarks.malevic.shapes import COLORS
from diorama.scene_specs.benchmarks.malevic.verify import verify_record
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from tests import factories
from tests.marks import slow


@pytest.fixture(scope="module")
def renderer() -> CyclesRenderer:
    return CyclesRenderer("cpu", threads=1)


def flat(objects: list[Any], canvas: tuple[int, int] = (96, 64), scale: int = 1, **frame: Any) -> Scene:
    spec = {
        "version": 1,
        "id": "test/flat",
        "stage": "flat",
        "canvas": canvas,
        "frames": [{"objects": objects, **frame}],
    }
    settings = settings_for("draft", scale * canvas[0], scale * canvas[1])
    return compile_episode(EpisodeSpec.model_validate(spec), settings)


def one(renderer: CyclesRenderer, scene: Scene) -> Passes:
    return renderer.render(scene, scene.frames[0], scene.frames[0].views[0])


SQUARE = {"shape": "square", "color": [200, 10, 30], "size": 10, "location": [20, 20], "rotation_deg": 0}
L_SHAPE = {"shape": {"polygon": [[0, 0], [30, 0], [30, 10], [10, 10], [10, 40], [0, 40]]}, "location": [50, 5]}


@pytest.mark.parametrize("scale", [1, 3])
def test_areas_places_and_colors_are_exact(renderer: CyclesRenderer, scale: int) -> None:
    passes = one(renderer, flat([SQUARE, {**L_SHAPE, "color": "yellow"}], scale=scale, background=[1, 77, 254]))
    expected = np.zeros((64, 96), dtype=np.uint16)
    expected[10:30, 10:30] = 1
    expected[5:15, 50:80] = expected[5:45, 50:60] = 2
    assert np.array_equal(passes.ids, np.kron(expected, np.ones((scale, scale), dtype=np.uint16)))
    colors = np.array([[1, 77, 254], [200, 10, 30], [255, 255, 0]], dtype=np.uint8)
    assert np.array_equal(passes.color, colors[passes.ids])


@pytest.mark.slow
def test_every_level_of_a_channel_is_shown_exactly(renderer: CyclesRenderer) -> None:
    def tile(k: int) -> Any:
        where = [2 * (k % 10) + 1, 2 * (k // 10) + 1]
        return {
            "shape": "square",
            "size": 1,
            "location": where,
            "rotation_deg": 0,
            "color": [k, 255 - k, (7 * k) % 256],
        }

    for start in (0, 100, 156):
        tiles = [{**tile(k), "color": [start + k, 255 - start - k, (7 * k) % 256]} for k in range(100)]
        color = one(renderer, flat(tiles, (20, 20))).color
        assert [color[2 * (k // 10), 2 * (k % 10)].tolist() for k in range(100)] == [t["color"] for t in tiles]


def test_later_objects_lie_over_earlier_ones(renderer: CyclesRenderer) -> None:
    over = {"shape": "circle", "color": "green", "size": 8.01, "location": [20.5, 20.5]}
    below = one(renderer, flat([over, SQUARE])).ids
    above = one(renderer, flat([SQUARE, over])).ids
    assert set(np.unique(below)) == {0, 2}
    assert (above == 2).sum() == 197 < (above == 1).sum() + 8
    given = one(renderer, flat([{**over, "location": [20.5, 20.5, -5.0]}, SQUARE])).ids
    assert (given == 1).sum() == 197


def test_both_renderers_and_the_annotations_agree(renderer: CyclesRenderer) -> None:
    turned = {**L_SHAPE, "rotation_deg": 33.0, "color": "cyan"}
    scene = flat([SQUARE, turned, {"shape": "triangle", "size": 9.3, "color": "red", "location": [40.2, 50.1]}])
    frame, view = scene.frames[0], scene.frames[0].views[0]
    passes, fake = renderer.render(scene, frame, view), FakeRenderer().render(scene, frame, view)
    assert (passes.ids != fake.ids).sum() <= 2
    truth = annotate(scene, frame, view, passes)
    assert [item.visible_pixels for item in truth.objects] == [int((passes.ids == k).sum()) for k in (1, 2, 3)]
    assert truth.objects[0].bbox == (10, 10, 20, 20)
    assert truth.objects[0].pixel_center[:2] == (20.0, 20.0)


def test_antialiased_pixels_are_means_over_their_squares(renderer: CyclesRenderer) -> None:
    square = {**SQUARE, "color": "white", "location": [20.5, 20.25]}
    scene = flat([square], antialias=True)
    settings = scene.settings.model_copy(update={"samples": 256})
    passes = one(renderer, scene.model_copy(update={"settings": settings}))
    gray = passes.color[:, :, 0]
    assert (gray[11:29, 12:29] == 255).all()
    assert not gray[:10].any()
    # Half covered is 188 of 255 in sRGB, three quarters 225, a quarter 137.
    assert abs(int(gray[20, 10]) - 188) <= 3
    assert abs(int(gray[10, 20]) - 225) <= 3
    assert abs(int(gray[30, 20]) - 137) <= 4
    assert set(np.unique(passes.ids)) == {0, 1}


def test_polygons_leave_nothing_behind(renderer: CyclesRenderer) -> None:
    import bpy

    def drawn(k: int) -> Scene:
        corners = [[0, 0], [10 + k, 0], [10, 12 + k]]
        return flat([{"shape": {"polygon": corners}, "color": "red", "location": [5, 5]}], (32, 32))

    first = one(renderer, drawn(0))
    before = len(bpy.data.meshes)
    for k in range(1, 8):
        one(renderer, drawn(k))
    assert len(bpy.data.meshes) == before
    assert np.array_equal(one(renderer, drawn(0)).color, first.color)


def malevic(name: str, number: int, size: int, **given: Any) -> tuple[Scene, Any]:
    spec = malevic_spec(Options(seed=8, **given), name, "test", number)
    return compile_episode(EpisodeSpec.model_validate(spec), settings_for("draft", size, size)), spec["task"]


def read_from_pixels(renderer: CyclesRenderer, name: str, number: int, size: tuple[int, int], **given: Any) -> str:
    """What the verification, which reads objects from pixels, says of an item."""
    spec = malevic_spec(Options(seed=8, **given), name, "test", number)
    episode, job = EpisodeSpec.model_validate(spec), factories.make_job(spec)
    return verify_record(make_record(renderer, episode, job, settings_for("draft", *size)))


@pytest.mark.parametrize("name", ["sup1", "pos", "set-pos", "pos1-hard"])
def test_objects_read_from_pixels_are_those_of_the_truth(renderer: CyclesRenderer, name: str) -> None:
    for number in range(6):
        assert read_from_pixels(renderer, name, number, (224, 224)) == ""


@pytest.mark.parametrize("size", [(320, 240), (240, 320), (1024, 300)])
def test_an_image_of_another_aspect_shows_the_whole_canvas(renderer: CyclesRenderer, size: tuple[int, int]) -> None:
    assert read_from_pixels(renderer, "pos", 3, size) == ""


def test_circles_may_be_as_large_as_the_others(renderer: CyclesRenderer) -> None:
    scene, task = malevic("set-pos", 1, 1024, areas="true")
    passes = one(renderer, scene)
    assert np.bincount(passes.ids.ravel())[1:].tolist() == [4 * item["radius"] ** 2 for item in task["objects"]]
    assert "circle" in {item["shape"] for item in task["objects"]}
    assert read_from_pixels(renderer, "set-pos", 1, (1024, 1024), areas="true") == ""


@pytest.mark.slow
@pytest.mark.parametrize("size", [1024, *slow(1478)])
def test_large_pictures_have_six_colors_and_the_areas_of_the_truth(renderer: CyclesRenderer, size: int) -> None:
    scene, task = malevic("pos", 3, size)
    passes = one(renderer, scene)
    colored = int(passes.color.any(axis=2).sum())
    total = sum(item["area"] for item in task["objects"])
    assert colored == total if size == 1024 else abs(colored / total / (1478 / 1024) ** 2 - 1) < 0.01
    seen = {tuple(color) for color in np.unique(passes.color.reshape(-1, 3), axis=0).tolist()}
    assert seen - {(0, 0, 0)} <= set(COLORS.values())
    if size == 1024:
        counts = np.bincount(passes.ids.ravel())[1:].tolist()
        assert counts == [item["area"] for item in task["objects"]]
    assert read_from_pixels(renderer, "pos", 3, (size, size)) == ""


@pytest.mark.slow
def test_on_the_table_the_upper_sides_have_the_areas(renderer: CyclesRenderer) -> None:
    scene, task = malevic("pos", 5, 480, world="3d")
    scene = scene.model_copy(update={"settings": scene.settings.model_copy(update={"width": 640, "height": 480})})
    frame, view = scene.frames[0], scene.frames[0].views[0]
    passes = renderer.render(scene, frame, view)
    truth = annotate(scene, frame, view, passes)
    upper = passes.normal[:, :, 2] > 0.9
    eye = np.array(truth.camera.location)
    axis = np.array(truth.camera.extrinsics[2][:3])
    focal = truth.camera.intrinsics[0][0]
    measured, told = [], []
    for item, thing in zip(truth.objects, task["objects"], strict=True):
        assert not item.truncated
        rows, columns = np.nonzero((passes.ids == item.index) & upper)
        # A pixel sees so much of a level plane: the square of depth over focal length, slanted.
        depth = passes.depth[rows, columns].astype(float)
        rays = np.stack([(columns + 0.5 - 320) / focal, (rows + 0.5 - 240) / focal, np.ones(len(rows))], axis=1)
        world = rays @ np.array([row[:3] for row in truth.camera.extrinsics[:3]])
        slant = -world[:, 2]
        measured.append(float((depth**2 / focal**2 / slant).sum()))
        told.append(thing["area"])
    assert eye[2] > 0 > axis[2]
    ratio = np.array(measured) / np.array(told)
    assert ratio.max() / ratio.min() < 1.12
