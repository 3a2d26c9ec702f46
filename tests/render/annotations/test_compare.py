"""Two makings of one episode."""

from __future__ import annotations

import numpy as np

import diorama
from render.annotations.compare import compare_records
from render.annotations.encode import encode_png
from render.compiler.render_key import render_key_of
from render.episode.make_record import make_record
from render.model.json_diff import differences
from render.model.png import decode_png
from render.model.record import EpisodeRecord
from render.renderers.fake import FakeRenderer


def record(**objects: str) -> EpisodeRecord:
    spec = {
        "version": 1,
        "id": "cmp",
        "frames": [{"objects": [{"name": "a", "shape": "cube", "size": "large", **objects}]}],
    }
    scene = diorama.compile_spec(spec, "draft", (64, 48))
    return make_record(FakeRenderer(), scene, render_key_of(scene, scene.settings, "fake"), scene.settings)


def test_the_same_is_identical() -> None:
    found = compare_records(record(color="red"), record(color="red"))
    assert found.identical and found.lines() == ["identical"]
    assert found.as_dict()["images"][0]["psnr"] is None


def test_another_color_is_measured_and_its_truth_named() -> None:
    red, blue = record(color="red"), record(color="blue")
    found = compare_records(red, blue)
    (image,) = found.images
    inside = red.images[0].annotation.objects[0].visible_pixels
    assert not found.identical
    assert image.changed_pixels == inside
    expected = np.abs(decode_png(red.images[0].png).astype(int) - decode_png(blue.images[0].png)).max()
    assert image.largest == expected > 0
    assert any(place.startswith("objects[0].color:") and "blue" in place for place in image.truth)


def test_one_pixel_is_found() -> None:
    first = record(color="red")
    color = decode_png(first.images[0].png).copy()
    color[3, 5, 1] ^= 1
    other = first.images[0].model_copy(update={"png": encode_png(color)})
    (image,) = compare_records(first, first.model_copy(update={"images": [other]})).images
    assert (image.identical, image.changed_pixels, image.largest) == (False, 1, 1)


def test_circumstances_that_changed_are_named() -> None:
    first = record(color="red")
    provenance = first.provenance.model_copy(
        update={"device": "CUDA H200", "versions": {**first.provenance.versions, "bpy": "9"}}
    )
    found = compare_records(first, first.model_copy(update={"provenance": provenance}))
    assert found.identical
    assert any("CUDA H200" in line for line in found.changed) and any("bpy" in line for line in found.changed)


def test_differences_walk_to_the_leaf() -> None:
    old = {"a": [1, {"b": 2}], "c": 1, "gone": None}
    new = {"a": [1, {"b": 3}], "c": 1.0, "new": 0}
    assert [path for path, _, _ in differences(old, new)] == ["a[1].b", "c", "gone", "new"]
