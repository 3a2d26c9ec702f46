"""Two makings of one episode."""

from __future__ import annotations

import io
import math

import numpy as np
from PIL import Image

import diorama
from diorama.render.annotations.compare import compare_records
from diorama.render.annotations.encode import encode_png
from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.analysis.scene_changes import scene_changes
from diorama.render.uses.rerender.output_files import comparison_facts, comparison_lines
from diorama.scene_specs.language.json_diff import differences
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.scene import Scene


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
    assert found.identical and comparison_lines(found) == ["identical"]
    assert comparison_facts(found)["images"][0]["psnr"] is None


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


def scene(**frame: object) -> Scene:
    spec = {"version": 1, "id": "cmp", "frames": [{"objects": [{"name": "a", "shape": "cube"}], **frame}]}
    return diorama.compile_spec(spec, "draft", (64, 48))


def packed_otherwise(first: EpisodeRecord) -> EpisodeRecord:
    """The same pixels in a PNG of other bytes."""
    out = io.BytesIO()
    Image.fromarray(decode_png(first.images[0].png)).save(out, format="PNG", compress_level=9)
    return first.model_copy(update={"images": [first.images[0].model_copy(update={"png": out.getvalue()})]})


def test_equal_pixels_in_other_bytes_are_identical() -> None:
    first = record(color="red")
    (image,) = compare_records(first, packed_otherwise(first)).images
    assert image.identical and not image.same_bytes
    assert image.pixel_errors() == f"{image.name}: identical in every pixel, packed otherwise"
    (image,) = compare_records(first, first).images
    assert image.same_bytes and image.line() == f"{image.name}: identical"


def test_an_image_of_another_size_or_name_has_nothing_to_compare_with() -> None:
    first = record(color="red")
    image = first.images[0]
    for changed in ({"width": 65}, {"height": 49}, {"name": "other"}):
        other = first.model_copy(update={"images": [image.model_copy(update=changed)]})
        found = compare_records(first, other)
        name = changed.get("name", image.name)
        assert found.missing == (name,) and not found.identical and not found.images
        assert found.gone == ((image.name,) if name == "other" else ())
        assert comparison_lines(found)[0] == f"{name}: nothing to compare with"
        data = comparison_facts(found)
        assert (data["identical"], data["missing"], data["gone"]) == (False, [name], list(found.gone))
    found = compare_records(first, first.model_copy(update={"images": []}))
    assert (
        found.gone == (image.name,)
        and not found.identical
        and comparison_lines(found) == [f"{image.name}: is no longer made"]
    )


def test_errors_are_those_of_their_definition() -> None:
    first = record(color="red")
    color = decode_png(first.images[0].png).copy()
    color[3, 5, 1] ^= 16
    color[4, 5] ^= 8
    other = first.images[0].model_copy(update={"png": encode_png(color)})
    found = compare_records(first, first.model_copy(update={"images": [other]}))
    (image,) = found.images
    values = 64 * 48 * 3
    assert (image.changed_pixels, image.largest, image.mean) == (2, 16, (16 + 3 * 8) / values)
    assert math.isclose(image.psnr, 20 * math.log10(255) - 10 * math.log10((16**2 + 3 * 8**2) / values))
    assert comparison_facts(found)["images"][0]["psnr"] == round(image.psnr, 3)
    assert "2 pixels differ, by at most 16 of 255" in image.line() and image.line().endswith("truth identical")


def test_differences_are_listed_up_to_twenty() -> None:
    task = {str(number): number for number in range(30)}
    old = scene()
    for count, more in ((20, ""), (21, "and 1 more places"), (30, "and 10 more places")):
        changed = {key: value + 100 * (value < count) for key, value in task.items()}
        lines = scene_changes(old.model_copy(update={"task": task}), old.model_copy(update={"task": changed}))
        assert len(lines) == min(count, 20) + bool(more)
        assert lines[0] == "task.0: 0, now 100" and (lines[-1] == more or not more)


def test_scenes_are_compared_by_the_names_of_frames_and_objects() -> None:
    old, moved = scene(name="one"), scene(name="one", objects=[{"name": "b", "shape": "sphere"}])
    assert scene_changes(old, old) == ()
    # Another profile or other assets are no changes of the Scene itself.
    settings = old.settings.model_copy(update={"width": 32})
    assert scene_changes(old, old.model_copy(update={"settings": settings, "assets": {"x": "y"}})) == ()
    lines = scene_changes(old, moved)
    assert {line.split(":")[0] for line in lines} >= {"frames[0].objects.a", "frames[0].objects.b"}
    assert [line.split(":")[0] for line in scene_changes(old, scene(name="two"))] == ["frames[0]", "frames[one]"]


def test_settings_and_assets_that_changed_are_named() -> None:
    first = record(color="red")
    scene = first.scene.model_copy(
        update={"assets": {"new": "1"}, "settings": first.scene.settings.model_copy(update={"width": 32})}
    )
    changed = compare_records(first, first.model_copy(update={"scene": scene})).changed
    assert any(line.startswith("asset new: ") and line.endswith('now "1"') for line in changed)
    assert "settings width: 64, now 32" in changed


def test_a_processor_that_changed_is_named_after_the_images() -> None:
    red, blue = record(color="red"), record(color="blue")
    provenance = red.provenance.model_copy(update={"cpu": "another"})
    found = compare_records(red, blue.model_copy(update={"provenance": provenance}))
    first, *rest = comparison_lines(found)
    assert first == found.images[0].line() and f"truth differs in {len(found.images[0].truth)} places" in first
    assert any(line.startswith("changed since: processor") and line.endswith('"another"') for line in rest)
    found = compare_records(red, red.model_copy(update={"provenance": provenance}))
    assert comparison_lines(found)[0] == "identical" and len(comparison_lines(found)) == 2
