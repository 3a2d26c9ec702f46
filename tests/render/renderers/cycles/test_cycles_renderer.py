"""Real renders, few and small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.render.compiler import compile_episode
from diorama.render.renderers.cycles.capture import KEPT_IN, captured
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import AssetError, DeviceError
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec


@pytest.fixture(scope="module")
def renderer() -> CyclesRenderer:
    return CyclesRenderer("cpu", threads=1)


def scene_of(objects: list[dict[str, Any]], width: int = 64, height: int = 48, **frame: Any) -> Scene:
    spec = EpisodeSpec.model_validate(
        {
            "version": 1,
            "id": "test/cycles",
            "frames": [{"objects": objects, "camera": {"jitter": 0}, **frame}],
        }
    )
    settings = settings_for("draft", width, height)
    return compile_episode(spec, settings)


def one(renderer: CyclesRenderer, scene: Scene) -> Passes:
    return renderer.render(scene, scene.frames[0], scene.frames[0].views[0])


TRIO: list[dict[str, Any]] = [
    {
        "name": "a",
        "shape": "cube",
        "color": "red",
        "material": "rubber",
        "size": "large",
        "location": [0, 0],
        "rotation_deg": 20,
    },
    {"name": "b", "shape": "sphere", "color": "blue", "material": "glass", "size": "large", "location": [1.8, -1.5]},
    {
        "name": "c",
        "shape": "cylinder",
        "color": "green",
        "material": "metal",
        "size": "small",
        "location": [-1.5, -1.5],
    },
]


def test_passes_have_the_documented_form(renderer: CyclesRenderer) -> None:
    passes = one(renderer, scene_of(TRIO, passes=["coverage"]))
    assert passes.color.shape == (48, 64, 3) and passes.color.dtype == np.uint8
    assert passes.ids.shape == (48, 64) and passes.ids.dtype == np.uint16
    assert set(np.unique(passes.ids)) == {0, 1, 2, 3}
    assert passes.depth.dtype == np.float32 and passes.normal.shape == (48, 64, 3)
    length = np.linalg.norm(passes.normal[passes.ids > 0], axis=-1)
    assert np.allclose(length, 1, atol=1e-3)
    assert passes.coverage is not None and passes.coverage.shape == (3, 48, 64)
    # Coverage and ids count the same pixels but for the fractions along the edges.
    for index in (1, 2, 3):
        assert passes.coverage[index - 1].sum() == pytest.approx((passes.ids == index).sum(), rel=0.1)


def test_coverage_is_none_where_it_is_not_asked_for(renderer: CyclesRenderer) -> None:
    assert one(renderer, scene_of(TRIO)).coverage is None


def test_the_id_pass_is_what_the_compiler_sees(renderer: CyclesRenderer) -> None:
    scene = scene_of(TRIO, 320, 240)
    passes = one(renderer, scene)
    guess = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0])
    assert (passes.ids != guess.ids).sum() <= 3


def test_depth_is_along_the_axis(renderer: CyclesRenderer) -> None:
    # The camera looks straight down at the ground: depth along the axis is the same all over, distance is not.
    scene = scene_of([], camera={"location": [0.001, 0, 6], "look_at": [0, 0, 0]})
    depth = one(renderer, scene).depth
    assert np.allclose(depth, 6, atol=0.05)


def test_a_picture_does_not_depend_on_what_came_before(renderer: CyclesRenderer) -> None:
    scene = scene_of(TRIO)
    first = one(renderer, scene)
    one(renderer, scene_of(TRIO[:1]))
    one(renderer, scene_of(TRIO[::-1]))
    again = one(renderer, scene)
    assert np.array_equal(first.color, again.color)
    assert np.array_equal(first.ids, again.ids)
    assert np.array_equal(first.depth, again.depth)


def test_threads_change_no_pixel(renderer: CyclesRenderer) -> None:
    scene = scene_of(TRIO)
    first = one(renderer, scene)
    two = CyclesRenderer("cpu", threads=2)
    again = one(two, scene)
    two.close()
    assert np.array_equal(first.color, again.color)


def test_truth_is_the_same_in_every_profile(renderer: CyclesRenderer) -> None:
    scene = scene_of(TRIO)
    cheap = scene.model_copy(update={"settings": scene.settings.model_copy(update={"samples": 1, "denoise": False})})
    a, b = one(renderer, scene), one(renderer, cheap)
    assert np.array_equal(a.ids, b.ids) and np.array_equal(a.depth, b.depth)
    assert not np.array_equal(a.color, b.color)


def test_an_srgb_triple_that_glows_comes_back_exactly(renderer: CyclesRenderer) -> None:
    triple = (200, 120, 40)
    scene = scene_of(
        [{"shape": "cube", "material": "emission", "color": list(triple), "size": 2.0, "location": [0, 0]}]
    )
    passes = one(renderer, scene.model_copy(update={"settings": scene.settings.model_copy(update={"denoise": False})}))
    inside = passes.ids == 1
    eroded = inside & np.roll(inside, 2, 0) & np.roll(inside, -2, 0) & np.roll(inside, 2, 1) & np.roll(inside, -2, 1)
    assert eroded.sum() > 50
    assert np.abs(passes.color[eroded].astype(int) - triple).max() <= 1


def test_a_blend_material_shows(renderer: CyclesRenderer) -> None:
    def cube(material: object) -> Passes:
        return one(
            renderer,
            scene_of([{"shape": "cube", "color": "red", "material": material, "size": 1.5, "location": [0, 0]}]),
        )

    checker = cube({"blend": "materials/checker.blend", "group": "Checker"})
    plain = cube("matte")
    inside = plain.ids == 1
    assert np.array_equal(checker.ids, plain.ids)
    # White squares: blue rises where a red cube has none.
    assert (checker.color[inside][:, 2].astype(int) - plain.color[inside][:, 2]).max() > 60


def test_a_group_that_is_not_in_the_file_is_named(renderer: CyclesRenderer) -> None:
    scene = scene_of([{"shape": "cube", "material": {"blend": "materials/checker.blend", "group": "Checker"}}])
    with pytest.raises(AssetError, match=r"Chequer.*there are: Checker, Stripes"):
        scene_of([{"shape": "cube", "material": {"blend": "materials/checker.blend", "group": "Chequer"}}])
    item = scene.frames[0].objects[0]
    changed = item.model_copy(update={"material": item.material.model_copy(update={"group": "Chequer"})})
    frame = scene.frames[0].model_copy(update={"objects": (changed,)})
    with pytest.raises(AssetError, match=r"Chequer.*there are: Checker, Stripes"):
        one(renderer, scene.model_copy(update={"frames": (frame,)}))


@pytest.mark.parametrize("kind", ["optix", "hip", "oneapi", "metal"])
def test_a_device_that_is_not_there_is_an_error(kind: str) -> None:
    with pytest.raises(DeviceError, match=rf"--device {kind}.*--device cpu"):
        CyclesRenderer(kind)


def test_cycles_text_stays_out_of_the_terminal(
    renderer: CyclesRenderer, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(KEPT_IN, str(tmp_path / "log"))
    one(renderer, scene_of(TRIO))
    assert capfd.readouterr() == ("", "")
    text = (tmp_path / "log").read_text()
    assert "Saved: " in text


def test_captured_keeps_text_and_finds_failures(capfd: pytest.CaptureFixture[str]) -> None:
    import os

    with captured() as said:
        os.write(1, b"Fra:1 sample 1\nCUDA_ERROR_ILLEGAL_ADDRESS in cuMemFree\n")
        os.write(2, b"fine\n")
    assert "fine" in said.text
    assert said.failures == ["CUDA_ERROR_ILLEGAL_ADDRESS in cuMemFree"]
    assert capfd.readouterr() == ("", "")


def test_a_saved_blend_has_the_objects_where_the_scene_has_them(renderer: CyclesRenderer, tmp_path: Path) -> None:
    import bpy

    scene = scene_of(TRIO)
    one(renderer, scene)
    renderer.save_blend(tmp_path / "scene.blend", scene, scene.frames[0], scene.frames[0].views[0])
    with bpy.data.libraries.load(str(tmp_path / "scene.blend")) as (there, _):
        names = set(there.objects)
    assert {"a", "b", "c", "Camera"} <= names


def test_a_parameter_shows_and_its_default_does_not(renderer: CyclesRenderer) -> None:
    def image(material: Any) -> Any:
        return one(renderer, scene_of([{**TRIO[1], "material": material, "location": [0, 0]}])).color

    plain = image("glass")
    assert np.array_equal(image({"name": "glass", "ior": 1.1}), plain)
    assert np.abs(image({"name": "glass", "ior": 1.8}).astype(int) - plain).max() > 40
    assert np.array_equal(image("glass"), plain)


def test_materials_with_many_parameters_do_not_pile_up(
    renderer: CyclesRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bpy

    monkeypatch.setattr("diorama.render.renderers.cycles.cycles_renderer._KEPT_MATERIALS", 2)
    plain = scene_of(TRIO)
    before = one(renderer, plain).color
    scenes = [scene_of([{**TRIO[0], "material": {"name": "metal", "anisotropy": k / 10}}]) for k in range(6)]
    counts = []
    for scene in scenes:
        renderer.build(scene, scene.frames[0], scene.frames[0].views[0])
        counts.append(len(bpy.data.materials))
    assert len(set(counts[2:])) == 1, "each new material replaces an old one"
    assert np.array_equal(one(renderer, plain).color, before)


@pytest.mark.parametrize("size", ["0", "8"])
def test_a_process_with_blender_leaves_nothing_in_the_temporary_folder(tmp_path: Path, size: str) -> None:
    """Also one that only lists devices, and although Blender's own folder goes only where Blender itself ends."""
    probe = [sys.executable, "-m", "diorama.render.run.probe", "cpu", size]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(probe, capture_output=True, text=True, timeout=240, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["bpy"]
    assert list(tmp_path.iterdir()) == []
