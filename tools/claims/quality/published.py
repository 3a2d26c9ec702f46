"""The published renderer, rebuilt for measuring: it loads everything again for each image and renders it twice.

For each image the published scripts (CLEVR's, and MEWL's after it) open a base scene file, append each object from the
file of its shape and each material from its own file, render 512 plain samples to an 8-bit PNG, then give every object
an emissive material in its own color, switch lights and ground off, render again with as many samples, and count the
pixels of each color. Here the files hold our own meshes and shader graphs, and the layout is given (the published
script searches for it, which is not counted), so that the image is that of our profile `clevr-512`.

`published_renderer` runs it in a separate process, since opening a file deletes everything that another renderer holds.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import bpy
import numpy as np

from diorama.render.renderers.cycles import stage_setup as stages
from diorama.render.renderers.cycles.blender_meshes import mesh_data
from diorama.render.renderers.cycles.capture import captured
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.cycles.node_tree import build_material
from diorama.render.renderers.cycles.render_settings import apply_settings
from diorama.render.renderers.cycles.series import SECOND, node_tree
from diorama.scene_specs.errors import RenderError
from diorama.scene_specs.language.vocabulary import linear_of_srgb
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneMaterial, SceneObject
from tools.claims.quality.results import Measured

MATERIALS = ("rubber", "metal", "glass")
SHAPES = ("cube", "sphere", "cylinder", "hand")
_BASE = "base_scene.blend"
# How long the process may take to start and to write the files, and for an image, before it counts as hanging.
_START_S, _IMAGE_S = 600.0, 3600.0


@dataclass(frozen=True)
class Published(Measured):
    """A measured image of the published renderer.

    seconds: load (base scene, objects, materials), sampling (the image), visibility (the second render, counted).
    visible: pixels by object, in their order.
    """

    visible: tuple[int, ...] = ()


def prepare(folder: Path, scene: Scene, shapes: tuple[str, ...]) -> None:
    """Write the files that the published renderer loads: base scene, shapes, materials. scene: gives the stage.

    The folder must exist. Raises RenderError if Blender can't write.
    """
    with closing(CyclesRenderer("cpu")) as renderer:
        empty = scene.frames[0].model_copy(update={"objects": (), "pointer": None})
        renderer.build(scene, empty, empty.views[0])
        with captured() as output:
            bpy.ops.wm.save_as_mainfile(filepath=str(folder / _BASE), copy=True, compress=False)
        for shape in shapes:
            item = bpy.data.objects.new(f"shape {shape}", mesh_data(shape))
            bpy.data.libraries.write(str(folder / f"{shape}.blend"), {item}, fake_user=True)
        for name in MATERIALS:
            made = build_material(SceneMaterial(name=name))
            made.name = f"material {name}"
            bpy.data.libraries.write(str(folder / f"{name}.blend"), {made}, fake_user=True)
    if not (folder / _BASE).is_file():
        raise RenderError(f"{folder / _BASE}: Blender could not save: {output.text.strip()}")


def render_published(folder: Path, scene: Scene, threads: int = 0) -> Published:
    """Render a scene's first frame with the scene's settings. folder: the one that `prepare` filled.

    Raises RenderError.
    """
    frame = scene.frames[0]
    start, cpu = time.perf_counter(), time.process_time()
    blender = _open_scene(folder, scene, frame, threads)
    objects = [_append(folder, blender, item) for item in frame.objects]
    loaded = time.perf_counter()
    png = _render(blender, folder / "image.png")
    rendered = time.perf_counter()
    _make_emissive(blender, objects)
    visible = _count_pixels(_render(blender, folder / "visibility.png"), len(objects))
    seconds = {"load": loaded - start, "sampling": rendered - loaded, "visibility": time.perf_counter() - rendered}
    return Published(seconds, time.process_time() - cpu, png, visible=visible)


def _open_scene(folder: Path, scene: Scene, frame: SceneFrame, threads: int) -> Any:
    """Open the base scene, place its camera and lights, and set it up to write a PNG."""
    with captured():
        bpy.ops.wm.open_mainfile(filepath=str(folder / _BASE), load_ui=False, use_scripts=False)
    blender = bpy.context.scene
    apply_settings(blender, scene.settings, frame, frame.views[0], threads, gpu=False)
    stages.apply_lights(blender, frame.lights)
    stages.apply_camera(blender, frame.views[0], scene.settings)
    layer = blender.view_layers[0]
    layer.use_pass_z = layer.use_pass_object_index = layer.use_pass_normal = layer.use_pass_cryptomatte_object = False
    if SECOND:
        blender.render.image_settings.media_type = "IMAGE"
    blender.render.image_settings.file_format = "PNG"
    blender.render.image_settings.color_mode, blender.render.image_settings.color_depth = "RGB", "8"
    blender.display_settings.display_device = "sRGB"
    blender.view_settings.view_transform, blender.view_settings.look = "Standard", "None"
    blender.view_settings.exposure, blender.view_settings.gamma = 0.0, 1.0
    # Dithering would only add error against the reference.
    blender.render.dither_intensity = 0.0
    return blender


def _append(folder: Path, blender: Any, item: SceneObject) -> Any:
    """Append one object from the file of its shape, with a material from the material's file."""
    with bpy.data.libraries.load(str(folder / f"{item.shape}.blend"), link=False) as (_, wanted):
        wanted.objects = [f"shape {item.shape}"]
    (made,) = wanted.objects
    with bpy.data.libraries.load(str(folder / f"{item.material.name}.blend"), link=False) as (_, wanted):
        wanted.materials = [f"material {item.material.name}"]
    (material,) = wanted.materials
    blender.collection.objects.link(made)
    made.matrix_world = stages.object_matrix(item.rotation_deg, item.scale, item.location)
    made.color = (*item.color_linear, 1.0)
    made.material_slots[0].link = "OBJECT"
    made.material_slots[0].material = material
    return made


def _render(blender: Any, path: Path) -> bytes:
    path.unlink(missing_ok=True)
    blender.render.filepath = str(path)
    with captured() as output:
        bpy.ops.render.render(write_still=True)
    if output.failures or not path.is_file():
        problem = "; ".join(output.failures[:5]) or "it wrote no image"
        raise RenderError(f"the published renderer: Cycles failed: {problem}")
    return path.read_bytes()


def _red_level(number: int) -> int:
    """Return an object's red level in the visibility image; levels are far apart, so that mixtures at edges differ."""
    return 20 * number


def _make_emissive(blender: Any, objects: list[Any]) -> None:
    """Give every object an emissive red of its own level; remove lights and ground."""
    for item in list(blender.collection.objects):
        if item.type in ("LIGHT", "MESH") and item not in objects:
            blender.collection.objects.unlink(item)
    for number, item in enumerate(objects, start=1):
        material = bpy.data.materials.new(f"visible {number}")
        tree = node_tree(material)
        tree.nodes.clear()
        glow = tree.nodes.new("ShaderNodeEmission")
        glow.inputs["Color"].default_value = (*linear_of_srgb((_red_level(number), 0, 0)), 1.0)
        tree.links.new(glow.outputs[0], tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"])
        item.material_slots[0].material = material


def _count_pixels(png: bytes, count: int) -> tuple[int, ...]:
    """Return the number of pixels of each object's level."""
    red = decode_png(png)[..., 0].astype(int)
    return tuple(int(np.count_nonzero(abs(red - _red_level(number)) <= 1)) for number in range(1, count + 1))


@contextmanager
def published_renderer(scene: Scene, threads: int = 0) -> Iterator[Callable[[Scene], Published]]:
    """Yield a function that renders in a process as `render_published` does. scene: gives the stage.

    Raises RenderError, also if the process dies or hangs, and whatever the work in it raises.
    """
    pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))

    def submit(scene: Scene, seconds: float, work: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return pool.submit(work, *arguments).result(timeout=seconds)
        except (BrokenProcessPool, TimeoutError) as error:
            problem = f"its process died or took over {seconds:.0f} s"
            raise RenderError(f"episode {scene.id}: the published renderer: {problem}") from error

    # A new process gets this one's path, to which Blender adds its modules; `bpy` would not be found there.
    path = [entry for entry in sys.path if not entry.endswith(("scripts/modules", "scripts/startup"))]
    with tempfile.TemporaryDirectory(prefix="diorama-published-") as name:
        try:
            with patch.object(sys, "path", path):
                submit(scene, _START_S, os.getpid)
            submit(scene, _START_S, prepare, Path(name), scene, SHAPES)
            yield lambda scene: submit(scene, _IMAGE_S, render_published, Path(name), scene, threads)
        finally:
            # Shutdown would wait forever for a process that hangs.
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown()
