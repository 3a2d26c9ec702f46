"""The published way of working, rebuilt to be measured: everything is loaded again for each image, and it is rendered
twice.

For each image the published scripts (CLEVR's, and MEWL's after it) open a base scene file, append each object from a
file of its shape and each material from a file of its own, render 512 plain samples to an 8-bit PNG, then give every
object a glowing material of a color of its own, switch lights and ground off, render again with as many samples, and
count the colors' pixels. Here the files are made of our own meshes and shader graphs, and the layout is given (theirs
is searched for by the same script, which is not counted), so that the picture is that of our profile `clevr-512`.

`PublishedWay` runs it in a process of its own, since opening a file takes away all that another renderer holds.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import bpy
import numpy as np

from render.model.errors import RenderError
from render.model.png import decode_png
from render.model.scene import Scene, SceneFrame, SceneMaterial, SceneObject
from render.renderers.cycles import materials
from render.renderers.cycles import stage_setup as stages
from render.renderers.cycles.blender_meshes import mesh_data
from render.renderers.cycles.capture import captured
from render.renderers.cycles.cycles_renderer import CyclesRenderer
from render.renderers.cycles.render_settings import apply_settings

PROFILE = "clevr-512"
MATERIALS = ("rubber", "metal", "glass")
SHAPES = ("cube", "sphere", "cylinder", "hand")
_BASE = "base_scene.blend"
# How long the process may take to start, and to write the files, before it counts as hanging.
_START_S = 600.0
_T = TypeVar("_T")


@dataclass(frozen=True)
class Published:
    """seconds: load (base scene, objects, materials), sampling (the picture), visibility (the second render, counted).

    cpu: seconds of processors, all threads together. visible: pixels by object, in their order. png: 8-bit RGB.
    """

    seconds: dict[str, float]
    cpu: float
    visible: tuple[int, ...]
    png: bytes

    @property
    def total(self) -> float:
        """Seconds of everything."""
        return sum(self.seconds.values())


def prepare(folder: Path, scene: Scene, shapes: tuple[str, ...]) -> None:
    """Write the files that the published way loads: base scene, shapes, materials. scene: whose stage it is.

    The folder must be there. Raises RenderError if Blender could not write.
    """
    renderer = CyclesRenderer("cpu")
    try:
        empty = scene.frames[0].model_copy(update={"objects": (), "pointer": None})
        renderer.build(scene, empty, empty.views[0])
        with captured() as said:
            bpy.ops.wm.save_as_mainfile(filepath=str(folder / _BASE), copy=True, compress=False)
        for shape in shapes:
            item = bpy.data.objects.new(f"shape {shape}", mesh_data(shape))
            bpy.data.libraries.write(str(folder / f"{shape}.blend"), {item}, fake_user=True)
        for name in MATERIALS:
            made = materials.build(SceneMaterial(name=name), None)
            made.name = f"material {name}"
            bpy.data.libraries.write(str(folder / f"{name}.blend"), {made}, fake_user=True)
    finally:
        renderer.close()
    if not (folder / _BASE).is_file():
        raise RenderError(f"{folder / _BASE}: Blender could not save: {said.text.strip()}")


def render_published(folder: Path, scene: Scene, threads: int = 0) -> Published:
    """One image of a scene's first frame, in the scene's own settings. folder: what `prepare` wrote.

    Raises RenderError.
    """
    frame = scene.frames[0]
    start, cpu = time.perf_counter(), time.process_time()
    blender = _loaded(folder, scene, frame, threads)
    objects = [_appended(folder, blender, item) for item in frame.objects]
    loaded = time.perf_counter()
    png = _render(blender, folder / "image.png")
    rendered = time.perf_counter()
    _shadeless(blender, objects)
    visible = _counted(_render(blender, folder / "visibility.png"), len(objects))
    seconds = {"load": loaded - start, "sampling": rendered - loaded, "visibility": time.perf_counter() - rendered}
    return Published(seconds, time.process_time() - cpu, visible, png)


def _loaded(folder: Path, scene: Scene, frame: SceneFrame, threads: int) -> Any:
    """The base scene opened, its camera and lights placed, set to write a PNG."""
    with captured():
        bpy.ops.wm.open_mainfile(filepath=str(folder / _BASE), load_ui=False, use_scripts=False)
    blender = bpy.context.scene
    apply_settings(blender, scene.settings, frame, frame.views[0], threads)
    stages.apply_lights(blender, frame.lights)
    stages.apply_camera(blender, frame.views[0], scene.settings)
    layer = blender.view_layers[0]
    layer.use_pass_z = layer.use_pass_object_index = layer.use_pass_normal = layer.use_pass_cryptomatte_object = False
    blender.render.image_settings.file_format = "PNG"
    blender.render.image_settings.color_mode, blender.render.image_settings.color_depth = "RGB", "8"
    blender.display_settings.display_device = "sRGB"
    blender.view_settings.view_transform, blender.view_settings.look = "Standard", "None"
    blender.view_settings.exposure, blender.view_settings.gamma = 0.0, 1.0
    # A dithered picture would only be farther from its reference.
    blender.render.dither_intensity = 0.0
    return blender


def _appended(folder: Path, blender: Any, item: SceneObject) -> Any:
    """One object from its shape's file, with a material from that one's file."""
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
    with captured() as said:
        bpy.ops.render.render(write_still=True)
    if said.failures or not path.is_file():
        raise RenderError(f"the published way: Cycles failed: {'; '.join(said.failures[:5]) or 'it wrote no picture'}")
    return path.read_bytes()


def _level(number: int) -> int:
    """The red of an object in the visibility picture; far enough apart to tell mixtures at edges from it."""
    return 20 * number


def _shadeless(blender: Any, objects: list[Any]) -> None:
    """Every object glows in a red of its own; lights and ground are gone."""
    for item in list(blender.collection.objects):
        if item.type in ("LIGHT", "MESH") and item not in objects:
            blender.collection.objects.unlink(item)
    for number, item in enumerate(objects, start=1):
        material = bpy.data.materials.new(f"visible {number}")
        material.use_nodes = True
        tree = material.node_tree
        tree.nodes.clear()
        glow = tree.nodes.new("ShaderNodeEmission")
        value = _level(number) / 255
        linear = value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        glow.inputs["Color"].default_value = (linear, 0.0, 0.0, 1.0)
        tree.links.new(glow.outputs[0], tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"])
        item.material_slots[0].material = material


def _counted(png: bytes, count: int) -> tuple[int, ...]:
    """Pixels of each object's color."""
    red = decode_png(png)[..., 0].astype(int)
    return tuple(int(np.count_nonzero(abs(red - _level(number)) <= 1)) for number in range(1, count + 1))


class PublishedWay:
    """A process that works the published way, one image after another; a context manager.

    timeout_s: how long one image may take before it counts as hanging.
    """

    def __init__(self, scene: Scene, threads: int = 0, timeout_s: float = 3600.0) -> None:
        self._threads, self._timeout_s = threads, timeout_s
        self._folder = tempfile.TemporaryDirectory(prefix="diorama-published-")
        self._pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
        try:
            self._start(scene)
        except BaseException:
            # Nobody has a context to leave yet, and the interpreter would wait for a process that hangs.
            self._end()
            raise

    def _start(self, scene: Scene) -> None:
        path = list(sys.path)
        # A new process is given this one's path, where Blender has put its own modules; there `bpy` would not be found.
        sys.path[:] = [entry for entry in path if not entry.endswith(("scripts/modules", "scripts/startup"))]
        try:
            self._told(scene, _START_S, os.getpid)
        finally:
            sys.path[:] = path
        self._told(scene, _START_S, prepare, Path(self._folder.name), scene, SHAPES)

    def render(self, scene: Scene) -> Published:
        """As render_published. Raises RenderError, also where the process dies or hangs."""
        return self._told(scene, self._timeout_s, render_published, Path(self._folder.name), scene, self._threads)

    def _told(self, scene: Scene, seconds: float, work: Callable[..., _T], *given: Any) -> _T:
        """What `work` returns there. Raises RenderError where the process dies or hangs, as what `work` raises."""
        try:
            return self._pool.submit(work, *given).result(timeout=seconds)
        except (BrokenProcessPool, TimeoutError) as error:
            raise RenderError(
                f"episode {scene.id}: the published way: its process died or took over {seconds:.0f} s"
            ) from error

    def __enter__(self) -> PublishedWay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        # One that hangs would be waited for without an end.
        for process in list((self._pool._processes or {}).values()):
            process.kill()
        self._pool.shutdown()
        self._folder.cleanup()
