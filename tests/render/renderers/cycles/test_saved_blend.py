"""A saved .blend file, opened and rendered by Blender alone, gives the picture of the store."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from diorama.render.compiler import compile_episode
from diorama.render.compiler.looks import with_look
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.uses.rerender.output_files import BlendSaver
from diorama.scene_specs.model.look import load_look
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.render.renderers.cycles.test_cycles_renderer import TRIO

# What anybody does with the file; nothing is set.
PLAIN = """
import bpy, sys
for path in sys.argv[1:]:
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.ops.render.render(write_still=True)
"""
GLASS = [
    {"shape": "cube", "color": "red", "material": "rubber"},
    {"shape": "sphere", "color": "cyan", "material": "glass"},
]
CHECKER = {"shape": "cube", "color": "red", "material": {"blend": "materials/checker.blend", "group": "Checker"}}
CASES: dict[str, dict[str, Any]] = {
    "plain": {"frame": {"objects": TRIO}},
    "rectangles": {"frame": {"objects": GLASS}, "profile": "standard"},
    "noisy": {"frame": {"objects": TRIO}, "profile": "clevr-512", "samples": 2},
    "white balance": {"frame": {"objects": GLASS}, "look": "wood"},
    "studio": {"frame": {"objects": GLASS[:1]}, "stage": "studio"},
    "picture": {"frame": {"objects": [{"shape": "square", "location": [0, 0]}]}, "stage": "flat"},
    "hand": {"frame": {"objects": TRIO, "pointer": {"target": "b"}}},
    "blend material": {"frame": {"objects": [CHECKER]}},
    "model": {"frame": {"objects": [{"shape": "shapenet:chair/#1", "location": [0, 0]}]}},
}


def scene_of(case: dict[str, Any]) -> Scene:
    data = {"version": 1, "id": "saved", "seed": 4, "stage": case.get("stage", "clevr"), "frames": [case["frame"]]}
    settings = settings_for(case.get("profile", "draft"), 96, 72)
    if "samples" in case:
        settings = settings.model_copy(update={"samples": case["samples"]})
    scene = compile_episode(EpisodeSpec.model_validate(data), settings)
    return with_look(scene, case["look"], 0, words=False) if "look" in case else scene


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Any, Any, Scene]]]:
    """Case -> stored picture, that of plain Blender, Scene."""
    renderer = CyclesRenderer("cpu", threads=2)
    stored, scenes, paths = {}, {name: scene_of(case) for name, case in CASES.items()}, {}
    for number, (name, scene) in enumerate(scenes.items()):
        saver = BlendSaver(renderer, tmp_path_factory.mktemp(f"case-{number}"))
        stored[name] = saver.render(scene, scene.frames[0], scene.frames[0].views[0]).color
        (paths[name],) = saver.paths
    renderer.close()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BLENDER")}
    command = [sys.executable, "-c", PLAIN, *map(str, paths.values())]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=400)
    yield {
        name: (stored[name], np.asarray(Image.open(path.with_suffix(".png"))), scenes[name])
        for name, path in paths.items()
    }


def psnr(a: Any, b: Any) -> float:
    error = np.mean((a.astype(float) - b.astype(float)) ** 2)
    return float(10 * np.log10(255**2 / max(error, 1e-9)))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_plain_blender_renders_the_stored_picture(name: str, pictures: dict[str, tuple[Any, Any, Scene]]) -> None:
    stored, plain, scene = pictures[name]
    assert plain.shape == stored.shape and plain.dtype == np.uint8
    if name == "white balance":
        assert scene.look is not None and scene.look.gain != (1.0, 1.0, 1.0) and load_look("wood").finish is None
    # Rectangles around objects have other samples: the noise of both stays. The background of `studio` is put back
    # after the denoiser, which Blender alone can't do.
    assert psnr(stored, plain) > {"rectangles": 35, "studio": 40}.get(name, 45)
    assert abs(stored.astype(float).mean() - plain.astype(float).mean()) < 0.5
