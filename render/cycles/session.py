"""`CyclesRenderer`: one warm Blender, that renders view after view.

Objects, meshes, materials, lights and the camera are made once and reused; every frame links what it needs into
the scene in the same order, so that a picture does not depend on what was rendered before it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy

from render.cycles import devices, materials, stages
from render.cycles.capture import captured
from render.cycles.meshes import mesh_data
from render.cycles.passes import CRYPTOMATTE_LEVELS, Exr
from render.cycles.settings import apply_settings
from render.errors import RenderError
from render.passes import Passes
from render.scene import Scene, SceneFrame, SceneMaterial, SceneObject, SceneView
from scene_specs.stage import load_stage


def scratch_folder() -> Path:
    """A private folder on a RAM disk where there is one: the passes go through it."""
    shared = Path("/dev/shm")
    root = shared if shared.is_dir() and os.access(shared, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="diorama-", dir=root))


class CyclesRenderer:
    """device: auto, cpu, cuda or optix. threads: CPU threads, 0 for all. find: .blend path in a spec -> file."""

    def __init__(self, device: str = "cpu", threads: int = 0, find: Callable[[str], Path] = Path) -> None:
        with captured():
            bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.preferences.filepaths.use_scripts_auto_execute = False
        self._find = find
        self._scene: Any = bpy.context.scene
        self._scene.render.engine = "CYCLES"
        self._device = devices.use(self._scene, device)
        self._threads = threads
        self._folder = scratch_folder()
        self._materials: dict[SceneMaterial, Any] = {}
        self._pool: list[Any] = []
        self.last_text = ""

    @property
    def info(self) -> dict[str, str]:
        """Name, version, device and instruction set."""
        return {
            "name": "cycles",
            "bpy": bpy.app.version_string,
            "device": f"{self._device.kind} {self._device.name}",
            "cpu": devices.instruction_set(),
        }

    def build(self, scene: Scene, frame: SceneFrame, view: SceneView) -> None:
        """Make Blender's scene that of one view."""
        stage = load_stage(scene.stage)
        apply_settings(self._scene, scene.settings, frame, self._threads)
        linked = [stages.ground_object(stage)] if stage.ground is not None else []
        linked += stages.apply_lights(self._scene, frame.lights)
        linked += [self._object(k, item, scene) for k, item in enumerate(frame.objects)]
        collection = self._scene.collection
        for item in list(collection.objects):
            collection.objects.unlink(item)
        for item in linked:
            collection.objects.link(item)
        stages.apply_camera(self._scene, view, scene.settings)
        collection.objects.link(self._scene.camera)
        stages.black_world(self._scene)

    def _object(self, slot: int, item: SceneObject, scene: Scene) -> Any:
        """The pooled object of a slot, dressed as `item`."""
        data = mesh_data(item.shape, scene.assets.get(f"mesh:{item.shape}"))
        if slot >= len(self._pool):
            self._pool.append(bpy.data.objects.new(f"slot-{slot}", data))
        target = self._pool[slot]
        target.data = data
        target.name = f"object-{item.index}"
        target["diorama_name"] = item.name
        target.matrix_world = stages.object_matrix(item.rotation_deg, item.scale, item.location)
        target.color = (*item.color_linear, 1.0)
        target.pass_index = item.index
        target.material_slots[0].link = "OBJECT"
        target.material_slots[0].material = self._material(item.material)
        return target

    def _material(self, material: SceneMaterial) -> Any:
        if material not in self._materials:
            self._materials[material] = materials.build(material, self._find)
        return self._materials[material]

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        """Render one view. Raises RenderError with Cycles' own words, AssetError."""
        start = time.perf_counter()
        self.build(scene, frame, view)
        built = time.perf_counter()
        path = self._folder / "view.exr"
        path.unlink(missing_ok=True)
        self._scene.render.filepath = str(path)
        with captured() as said:
            bpy.ops.render.render(write_still=True)
        self.last_text = said.text
        if said.failures or not path.is_file():
            raise RenderError(
                f"episode {scene.id}: frame {frame.image_name(view)}: Cycles failed: "
                + ("; ".join(said.failures[:5]) or "it wrote no picture")
            )
        rendered = time.perf_counter()
        exr = Exr(path)
        names = [f"object-{item.index}" for item in frame.objects]
        passes = Passes(
            color=exr.color(),
            ids=exr.ids(),
            depth=exr.depth(),
            normal=exr.normal(),
            coverage=exr.coverage(names) if "coverage" in frame.passes else None,
            seconds={"build": built - start, "render": rendered - built, "read": time.perf_counter() - rendered},
            device=self.info["device"],
        )
        path.unlink()
        return passes

    def save_blend(self, path: Path) -> None:
        """Write the scene as it stands to a .blend file."""
        with captured() as said:
            bpy.ops.wm.save_as_mainfile(filepath=str(path.resolve()), copy=True, compress=True)
        if not path.is_file():
            raise RenderError(f"{path}: Blender could not save: {said.text.strip()}")

    def close(self) -> None:
        """Remove the scratch folder."""
        shutil.rmtree(self._folder, ignore_errors=True)


def versions() -> dict[str, str]:
    """Versions that change pixels."""
    return {"bpy": bpy.app.version_string}


def names_of(objects: Sequence[SceneObject]) -> list[str]:
    """Names of the Blender objects of a frame, in order."""
    return [f"object-{item.index}" for item in objects]


__all__ = ["CRYPTOMATTE_LEVELS", "CyclesRenderer", "names_of", "scratch_folder", "versions"]
