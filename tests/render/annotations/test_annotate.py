"""Annotations of random scenes: what must hold between them, the passes and the Scene."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pycocotools import mask as coco

from diorama.render.annotations import annotate
from diorama.render.compiler import compile_episode
from diorama.render.geometry.meshes import load_mesh
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import RenderError
from diorama.scene_specs.language.vocabulary import OPPOSITE
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import FrameAnnotation
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec

Made = tuple[Scene, Passes, FrameAnnotation]


@lru_cache(maxsize=256)
def made(seed: int, width: int = 160, height: int = 120, count: int = 4) -> Made:
    """Drawn objects beside a large one that the image's border cuts, its passes and its truth."""
    frame = {
        "objects": [
            {"name": "cut", "size": 1.2, "shape": "cube", "location": [-0.7, -5.2], "rotation_deg": [10, 20, 30]}
        ],
        "random_objects": {"count": count},
        "camera": {"jitter": 0.1},
        "passes": ["coverage"],
    }
    spec = EpisodeSpec.model_validate({"version": 1, "id": "truth", "seed": seed, "frames": [frame]})
    scene = compile_episode(spec, settings_for("draft", width, height))
    passes = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0])
    return scene, passes, annotate(scene, scene.frames[0], scene.frames[0].views[0], passes)


def rotated(quaternion: tuple[float, float, float, float], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (N, 3) turned by a unit quaternion w, x, y, z."""
    w, axis = quaternion[0], np.array(quaternion[1:])
    turned: NDArray[np.float64] = points + 2 * np.cross(axis, np.cross(axis, points) + w * points)
    return turned


seeds = st.integers(0, 25)


@settings(max_examples=20)
@given(seeds, st.sampled_from([(160, 120), (97, 131), (320, 240)]))
def test_boxes_masks_and_counts_agree(seed: int, size: tuple[int, int]) -> None:
    _, passes, truth = made(seed, *size)
    for item in truth.objects:
        mask = passes.ids == item.index
        assert np.array_equal(coco.decode(item.rle.model_dump()), mask)
        assert item.visible_pixels == mask.sum() == item.coverage_pixels
        assert item.alone_pixels >= item.visible_pixels
        assert item.visible_fraction == pytest.approx(item.visible_pixels / max(item.alone_pixels, 1), abs=1e-6)
        if item.bbox is None:
            assert item.visible_pixels == 0
            continue
        x, y, width, height = item.bbox
        inside = np.zeros_like(mask)
        inside[y : y + height, x : x + width] = True
        assert not (mask & ~inside).any()
        for edge in (mask[y], mask[y + height - 1], mask[:, x], mask[:, x + width - 1]):
            assert edge.any()
        assert item.amodal_bbox is not None
        ax, ay, amodal_width, amodal_height = item.amodal_bbox
        assert ax <= x
        assert ay <= y
        assert ax + amodal_width >= x + width
        assert ay + amodal_height >= y + height


@settings(max_examples=20)
@given(seeds)
def test_boxes_of_truncated_objects_are_clipped(seed: int) -> None:
    _, _, truth = made(seed)
    cut = truth.objects[0]
    assert cut.truncated
    assert cut.amodal_bbox is not None
    x, y, width, height = cut.amodal_bbox
    assert min(x, y) >= 0
    assert x + width <= 160
    assert y + height <= 120
    assert x == 0 or y == 0 or x + width == 160 or y + height == 120
    assert not any(item.truncated for item in truth.objects[1:])


@settings(max_examples=20)
@given(seeds)
def test_poses_and_matrices_describe_the_same_camera(seed: int) -> None:
    """Vertices reach the image by the world pose and the extrinsics, by the camera pose, and in the id pass."""
    scene, passes, truth = made(seed)
    outer, inner = np.array(truth.camera.extrinsics), np.array(truth.camera.intrinsics)
    assert np.allclose(outer[:3, :3] @ outer[:3, :3].T, np.eye(3), atol=1e-8)
    assert np.allclose(outer @ [*truth.camera.location, 1], [0, 0, 0, 1], atol=1e-5)
    # The camera's rotation takes its forward axis to the direction it looks in.
    camera = scene.frames[0].views[0].camera
    towards = np.array(camera.look_at) - camera.location
    looks = rotated(truth.camera.rotation, np.array([[0.0, 0.0, 1.0]]))[0]
    assert np.allclose(looks, towards / np.linalg.norm(towards), atol=1e-5)
    for item in truth.objects:
        points = load_mesh(item.shape).vertices * item.scale
        world = rotated(item.rotation, points) + item.location
        seen = world @ outer[:3, :3].T + outer[:3, 3]
        direct = rotated(item.camera_rotation, points) + item.camera_location
        assert np.allclose(seen, direct, atol=3e-5)
        center = inner @ item.camera_location
        assert np.allclose(item.pixel_center, [*(center[:2] / center[2]), center[2]], atol=1e-3)
        if not item.truncated and item.bbox is not None:
            pixels = (seen @ inner.T)[:, :2] / seen[:, 2:]
            x, y, width, height = item.amodal_bbox or (0, 0, 0, 0)
            low, high = pixels.min(axis=0), pixels.max(axis=0)
            assert np.abs(low - (x, y)).max() <= 1.5
            assert np.abs(high - (x + width, y + height)).max() <= 1.5
        depth = passes.depth[passes.ids == item.index]
        if len(depth):
            assert depth.min() >= seen[:, 2].min() - 1e-4
            assert depth.max() <= seen[:, 2].max() + 1e-4


@settings(max_examples=20)
@given(seeds)
def test_relations_are_clevr_s(seed: int) -> None:
    _, _, truth = made(seed)
    place = {item.name: np.array(item.location) for item in truth.objects}
    assert list(truth.relations) == ["left", "right", "front", "behind"]
    for relation, table in truth.relations.items():
        assert list(table) == list(place)
        for a, names in table.items():
            direction = np.array(truth.directions[relation])
            assert set(names) == {b for b in place if b != a and (place[b] - place[a]) @ direction > 0.2}
            assert all(a in truth.relations[OPPOSITE[relation]][b] for b in names)
    for one, other in (*OPPOSITE.items(), ("above", "below")):
        assert np.allclose(np.array(truth.directions[one]), -np.array(truth.directions[other]))


def test_published_directions() -> None:
    """The unjittered CLEVR camera's axes, as its published files have them."""
    spec = EpisodeSpec.model_validate({"version": 1, "id": "still", "frames": [{"camera": {"jitter": 0}}]})
    scene = compile_episode(spec, settings_for("draft", 32, 24))
    passes = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0])
    directions = annotate(scene, scene.frames[0], scene.frames[0].views[0], passes).directions
    assert directions["right"] == pytest.approx((0.6563, 0.7545, 0), abs=1e-4)
    assert directions["behind"] == pytest.approx((-0.7545, 0.6563, 0), abs=1e-4)


def test_an_unseen_object_has_no_box() -> None:
    scene, passes, _ = made(3)
    hidden = dataclasses.replace(passes, ids=np.where(passes.ids == 2, 0, passes.ids).astype(np.uint16), coverage=None)
    item = annotate(scene, scene.frames[0], scene.frames[0].views[0], hidden).objects[1]
    assert (item.bbox, item.visible_pixels, item.visible_fraction, item.coverage_pixels) == (None, 0, 0.0, None)
    assert not coco.decode(item.rle.model_dump()).any()
    assert item.alone_pixels > 0


def test_an_unknown_instance_is_an_error() -> None:
    scene, passes, _ = made(3)
    wrong = dataclasses.replace(passes, ids=np.full_like(passes.ids, 9))
    with pytest.raises(RenderError, match=r"truth.*instance 9.*5 objects"):
        annotate(scene, scene.frames[0], scene.frames[0].views[0], wrong)


def test_a_behind_the_camera_object_is_told() -> None:
    objects = [{"location": [20, -18], "size": "large"}]
    spec = EpisodeSpec.model_validate({"version": 1, "id": "behind", "frames": [{"objects": objects}]})
    scene = compile_episode(spec, settings_for("draft", 32, 24))
    passes = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0])
    item = annotate(scene, scene.frames[0], scene.frames[0].views[0], passes).objects[0]
    assert (item.alone_pixels, item.amodal_bbox, item.truncated) == (0, None, True)
    assert item.pixel_center[2] < 0


def test_the_same_passes_give_the_same_truth() -> None:
    scene, passes, truth = made(7)
    again = annotate(scene, scene.frames[0], scene.frames[0].views[0], passes)
    assert again.model_dump_json() == truth.model_dump_json()
    assert FrameAnnotation.model_validate_json(truth.model_dump_json()) == truth


def digits(value: float) -> int:
    """How many decimals a number needs."""
    return len(f"{value:.12f}".rstrip("0").partition(".")[2])


def test_numbers_are_rounded_to_six_decimals_and_matrices_to_nine() -> None:
    scene, passes, _ = made(5)
    frame, view = scene.frames[0], scene.frames[0].views[0]
    coverage = np.random.default_rng(1).uniform(0, 0.1, (5, 120, 160)).astype(np.float32)
    truth = annotate(scene, frame, view, dataclasses.replace(passes, coverage=coverage))
    for number, item in enumerate(truth.objects):
        assert item.coverage_pixels is not None
        assert item.coverage_pixels == pytest.approx(coverage[number].sum(dtype=np.float64), abs=5e-7)
    rounded = {
        "coverage": [item.coverage_pixels or 0.0 for item in truth.objects],
        "rotation": [value for item in truth.objects for value in (*item.rotation, *item.camera_rotation)],
        "place": [value for item in truth.objects for value in (*item.camera_location, *item.pixel_center)],
        "camera": [*truth.camera.location, *truth.camera.rotation],
        "direction": [value for direction in truth.directions.values() for value in direction],
    }
    found = {name: max(map(digits, values)) for name, values in rounded.items()}
    assert found == {"coverage": 6, "rotation": 6, "place": 6, "camera": 6, "direction": 6}
    lens = view.model_copy(update={"camera": view.camera.model_copy(update={"lens": 33.333333})})
    camera = annotate(scene, frame, lens, made(5, 97, 131)[1]).camera
    inner, outer = camera.intrinsics, camera.extrinsics
    assert [max(map(digits, row)) for row in inner[:2]] == [9, 9]
    assert max(digits(value) for row in outer for value in row) == 9


@pytest.mark.parametrize("passes", [[], ["amodal"]])
def test_the_whole_mask_of_an_object_is_there_if_requested(passes: list[str]) -> None:
    frame = {"objects": [{"location": [0, 0]}, {"location": [-1.5, 0.9], "size": "large"}], "passes": passes}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "whole", "frames": [frame]})
    scene = compile_episode(spec, settings_for("draft", 96, 72))
    rendered = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0])
    for item in annotate(scene, scene.frames[0], scene.frames[0].views[0], rendered).objects:
        assert (item.amodal_rle is not None) == bool(passes)
        if item.amodal_rle is not None:
            whole, seen = (coco.decode(rle.model_dump()).astype(bool) for rle in (item.amodal_rle, item.rle))
            assert whole.shape == (72, 96) and whole.sum() == item.alone_pixels and not (seen & ~whole).any()


def test_words_of_an_object_are_those_of_the_scene() -> None:
    scene, _, truth = made(11)
    for item, told in zip(scene.frames[0].objects, truth.objects, strict=True):
        assert (told.name, told.shape, told.color, told.size) == (item.name, item.shape, item.color, item.size)
        assert (told.material, told.scale, told.location) == (item.material.name, item.scale, item.location)
        assert (told.color_linear, told.rotation_deg) == (item.color_linear, item.rotation_deg)


def test_a_pointer_is_described_and_stands_in_no_relation() -> None:
    frame = {"objects": [{"name": "a", "shape": "cube"}, {"name": "b"}], "pointer": {"target": "a"}}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "points", "stage": "clevr", "frames": [frame]})
    scene = compile_episode(spec, settings_for("draft", 96, 72))
    rendered = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0])
    truth = annotate(scene, scene.frames[0], scene.frames[0].views[0], rendered)
    assert truth.pointer is not None and (truth.pointer.name, truth.pointer.target) == ("pointer", "a")
    tip = np.array(truth.camera.extrinsics) @ [*truth.pointer.fingertip, 1]
    pixel = np.array(truth.camera.intrinsics) @ tip[:3]
    assert np.allclose(truth.pointer.fingertip_pixel, [*(pixel[:2] / pixel[2]), pixel[2]], atol=1e-2)
    assert [list(table) for table in truth.relations.values()] == [["a", "b"]] * 4
    assert truth.camera.projection == "perspective"


def test_a_flat_stage_has_an_orthographic_camera() -> None:
    spec = EpisodeSpec.model_validate({"version": 1, "id": "flat", "stage": "tangram", "frames": [{}]})
    scene = compile_episode(spec, settings_for("draft", 32, 32))
    rendered = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0])
    assert annotate(scene, scene.frames[0], scene.frames[0].views[0], rendered).camera.projection == "orthographic"


def test_what_the_ground_hides_is_no_part_of_an_object() -> None:
    places = [[0, 0, 0.7], [0, 0, 0.0], [0, 0, -1.5]]
    pixels = []
    for place in places:
        frame = {"objects": [{"shape": "cube", "size": "large", "location": place}], "camera": {"jitter": 0}}
        spec = EpisodeSpec.model_validate({"version": 1, "id": "sunk", "frames": [frame]})
        scene = compile_episode(spec, settings_for("draft", 96, 72))
        rendered = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0])
        pixels.append(annotate(scene, scene.frames[0], scene.frames[0].views[0], rendered).objects[0].alone_pixels)
    above, half, below = pixels
    assert 0 == below < half < 0.8 * above
