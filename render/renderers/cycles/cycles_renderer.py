"""`CyclesRenderer`: renders views in one warm Blender process.

Objects, meshes, materials, lights and the camera are created once and reused. Each view links its objects into the
scene in the same order, so that an image does not depend on earlier ones.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from diorama.render.compiler.assets import resolve_blend
from diorama.render.geometry.camera_finish import finished
from diorama.render.geometry.display import with_fixation
from diorama.render.geometry.meshes import is_varied
from diorama.render.geometry.outlines import outline_of
from diorama.render.geometry.sampling_plan import Part, has_rectangles, is_costly, rectangles, whole_frame
from diorama.render.geometry.solid import solid
from diorama.render.machine.scratch import scratch_folder
from diorama.render.passes import rendered_rows
from diorama.render.renderers.cycles import devices
from diorama.render.renderers.cycles import stage_setup as stages
from diorama.render.renderers.cycles.blend_material import build_blend
from diorama.render.renderers.cycles.blender_meshes import SlotMeshes, mesh_data
from diorama.render.renderers.cycles.capture import captured, naming, render_error
from diorama.render.renderers.cycles.color_check import shows_color
from diorama.render.renderers.cycles.denoiser import denoise
from diorama.render.renderers.cycles.exr_passes import Exr, object_name
from diorama.render.renderers.cycles.model_objects import ModelStore
from diorama.render.renderers.cycles.node_tree import build_material
from diorama.render.renderers.cycles.render_settings import apply_part, apply_saved_settings, apply_settings
from diorama.scene_specs.asset_roots import all_roots, searching
from diorama.scene_specs.errors import AssetError, RenderError
from diorama.scene_specs.language.model_names import MODEL_MATERIALS, ORIGINAL, PAINTED, UNLIT, is_model
from diorama.scene_specs.language.person import is_person
from diorama.scene_specs.model.look import Recipe
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneMaterial, SceneObject, SceneView, Settings
from diorama.scene_specs.model.stage import scene_stage

# Parameters are numbers, so a run may use any number of materials.
_KEPT_MATERIALS = 128
# Materials that never emit light, but for those of some models.
_DARK = {"rubber", "metal", "glass", "matte", ORIGINAL, PAINTED}


def _remove_temporary_folder() -> None:
    """Remove the empty folder that Blender makes when it starts, which only the program Blender removes at its end."""
    with suppress(OSError):
        Path(bpy.app.tempdir).rmdir()


# Whoever imports this module has imported bpy, even if nothing is rendered.
_remove_temporary_folder()


def _gain_of(scene: Scene) -> tuple[float, float, float]:
    return (1.0, 1.0, 1.0) if scene.look is None else scene.look.gain


class _Blender:
    """The Blender of this process: its scene, and the data-blocks that all renderers in the process share."""

    def __init__(self) -> None:
        with captured():
            bpy.ops.wm.read_factory_settings(use_empty=True)
        _remove_temporary_folder()
        bpy.context.preferences.filepaths.use_scripts_auto_execute = False
        self.scene: Any = bpy.context.scene
        self.scene.render.engine = "CYCLES"
        self.materials: dict[tuple[SceneMaterial | Recipe, Path | None], Any] = {}
        self.pool: list[Any] = []
        # Material, and whether the backs of its faces are seen -> whether it shows the color of its object.
        self.shown: dict[tuple[Any, bool], bool] = {}
        self.models = ModelStore(self.pool)
        self.slots = SlotMeshes()
        # Of the session that Cycles keeps: its ground, lights and world, and how many models were removed, as a
        # new texture can have the name of a removed one; then the most samples per pixel so far.
        self.lit_by: list[str] = []
        self.samples = 0
        # The renderer whose device is active.
        self.owner: object = None


@lru_cache(maxsize=1)
def _blender() -> _Blender:
    return _Blender()


class CyclesRenderer:
    """Renders views of Scenes; see diorama.scene_specs.model.passes.Renderer.

    Args:
        device: auto, gpu, or a kind such as cpu or cuda.
        threads: CPU threads, 0 for all.
        asset_roots: folders of .blend materials.

    Raises:
        DeviceError: for a missing device.
    """

    def __init__(self, device: str = "cpu", threads: int = 0, asset_roots: Sequence[Path] = ()) -> None:
        self._roots, self._asset_roots = all_roots(asset_roots), asset_roots
        self._blender = _blender()
        self._scene = self._blender.scene
        self._models = self._blender.models
        self._wanted = device
        self._device = self._take_over()
        self._kernels = devices.uncompiled_kernels(self._device.kind)
        self._uuid = devices.gpu_uuid(self._device.kind)
        self._threads = threads
        self._folder = scratch_folder()

    def _take_over(self) -> devices.Device:
        self._blender.owner = self
        return devices.use(self._scene, self._wanted)

    @property
    def info(self) -> dict[str, str]:
        """Name, version, device, instruction set, what to know about the kernels before the first image, and GPU."""
        return {
            "name": "cycles",
            "bpy": bpy.app.version_string,
            "device": f"{self._device.kind} {self._device.name}",
            "cpu": devices.instruction_set(),
            "kernels": self._kernels,
            "uuid": self._uuid,
        }

    def build(self, scene: Scene, frame: SceneFrame, view: SceneView) -> None:
        """Build Blender's scene of one view.

        Raises:
            AssetError: a model, mesh, material or file of assets is missing or damaged.
            StageError: the stage is unknown, or its file is wrong.
        """
        stage = scene_stage(scene)
        if self._blender.owner is not self:
            self._take_over()
        # 5.2 looks for devices that denoise, and logs a warning for each maker without a driver.
        with captured():
            apply_settings(self._scene, scene.settings, frame, view, self._threads, self._device.kind in devices.NVIDIA)
        look, linked = scene.look, []
        if (ground := stages.ground_object(stage, look, self._ground_material)) is not None:
            linked.append(ground)
        linked += stages.apply_lights(self._scene, frame.lights)
        surroundings = [item.name for item in linked]
        linked += [self._prepare_object(k, item) for k, item in enumerate(frame.objects)]
        self._models.trim(len(frame.objects))
        self._trim_materials(len(frame.objects))
        collection = self._scene.collection
        for item in list(collection.objects):
            collection.objects.unlink(item)
        for item in linked:
            collection.objects.link(item)
        stages.apply_camera(self._scene, view, scene.settings)
        collection.objects.link(self._scene.camera)
        if look is not None and look.sky is not None:
            stages.apply_sky(self._scene, look.sky)
        else:
            stages.apply_world(self._scene, stage.ambient, frame.background)
        lit_by = [*surroundings, self._scene.world.name, str(self._models.removed)]
        self._keep_session(frame, lit_by, stage.ground is not None)

    def _keep_session(self, frame: SceneFrame, lit_by: list[str], grounded: bool) -> None:
        """Let Cycles keep its session on a GPU; first end it if the noise of this view would depend on earlier ones.

        Setting up a session takes a GPU longer than rendering a small image. Noise depends on the order of the lights,
        which a session keeps as they came. Objects of other materials than ours may be lights; without a ground, none
        lights another.
        """
        names = {item.material.name for item in frame.objects}
        emits = not names <= _DARK and (grounded or not names <= {UNLIT, "emission"})
        own = [item.shape for item in frame.objects if item.material.name in (ORIGINAL, PAINTED)]
        emits = emits or any(self._models.get(shape).mesh["emits"] for shape in own)
        if emits or lit_by != self._blender.lit_by:
            self._end_session()
        self._blender.lit_by = [] if emits else lit_by
        self._scene.render.use_persistent_data = self._device.kind != "CPU"

    def _end_session(self) -> None:
        if self._scene.render.use_persistent_data:
            # Drivers may report errors, which no longer matter.
            with captured():
                self._scene.render.use_persistent_data = False
        self._blender.samples = 0

    def _prepare_object(self, slot: int, item: SceneObject) -> Any:
        """Return the pooled object of a slot, with the mesh, pose and materials of `item`."""
        outline = outline_of(item.shape, item.outline)
        if outline is not None or is_varied(item.shape):
            data = self._blender.slots.get(slot, item.shape, outline)
        else:
            unlit = item.material.name == UNLIT
            data = self._models.get(item.shape, unlit).mesh if is_model(item.shape) else mesh_data(item.shape)
        pool = self._blender.pool
        if slot >= len(pool):
            pool.append(bpy.data.objects.new(object_name(item.index), data))
        target = pool[slot]
        target.data = data
        target.matrix_world = stages.object_matrix(item.rotation_deg, item.scale, item.location)
        # The alpha of the color tells a model's own materials whether to use the object's color.
        own = item.material.name in MODEL_MATERIALS
        target.color = (*item.color_linear, 0.0 if item.material.name == ORIGINAL else 1.0)
        target.pass_index = item.index
        for number, slot_of in enumerate(target.material_slots):
            # Skin, hair and eyes of a person keep their colors.
            kept = own or (number and is_person(item.shape))
            slot_of.link = "DATA" if kept else "OBJECT"
            if not kept:
                slot_of.material = self._object_material(item.material)
        return target

    def _object_material(self, material: SceneMaterial) -> Any:
        """Return the Blender material of an object."""
        if material.blend is None:
            return self._kept_material((material, None), lambda: build_material(material))
        path = resolve_blend(material.blend, self._asset_roots)
        return self._kept_material((material, path), lambda: build_blend(material, path, self._roots))

    def check_colors(self, scene: Scene, frame: SceneFrame) -> None:
        """Check that the .blend materials of a frame show the colors that they take, on all faces that can be seen.

        Raises:
            AssetError: one does not, or its file is missing or damaged.
        """
        for item in frame.objects:
            if not item.material.takes_color:
                continue
            material, shown = self._object_material(item.material), self._blender.shown
            for back in (False,) if solid(item.shape, item.outline).closed else (False, True):
                if (material, back) not in shown:
                    self._end_session()
                    shown[material, back] = shows_color(material, back, self._folder)
                if not shown[material, back]:
                    problem = (
                        f"group {item.material.group!r} of {item.material.blend} takes a color and does not show it"
                    )
                    raise AssetError(
                        f"episode {scene.id}: frame {frame.name}: object {item.name!r}: {problem}"
                        f'{" on backs of faces" * back}; write "color": null, and nothing is said about its color'
                    )

    def _ground_material(self, ground: Recipe) -> Any:
        """Return the Blender material of the ground of a look."""
        return self._kept_material((ground, None), lambda: build_material(ground, "grounds"))

    def _kept_material(self, key: tuple[SceneMaterial | Recipe, Path | None], build: Callable[[], Any]) -> Any:
        built = self._blender.materials
        # Made again at the end: the first are the least recently used.
        built[key] = built.pop(key, None) or build()
        return built[key]

    def _trim_materials(self, used: int) -> None:
        """Remove materials that were not used lately; those of .blend files, whose node groups would stay, are kept."""
        built = self._blender.materials
        plain = [key for key in built if key[1] is None]
        for key in plain[: max(len(plain) - max(_KEPT_MATERIALS, used), 0)]:
            bpy.data.materials.remove(built.pop(key))

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        """Render one view.

        Raises:
            RenderError: has the messages of Cycles.
            AssetError: a model, mesh, material or file of assets is missing or damaged.
        """
        start = time.perf_counter()
        with searching(self._asset_roots):
            self.check_colors(scene, frame)
            self.build(scene, frame, view)
        built = time.perf_counter()
        # A device keeps its first error, until the session ends.
        with naming(f"episode {scene.id}: frame {frame.image_name(view)}: ", self._end_session):
            path = self._render_to_file()
            rendered = time.perf_counter()
            exr = Exr(path)
            read = time.perf_counter()
            if has_rectangles(scene.settings, frame):
                self._refine_rectangles(exr, scene.settings, whole_frame(scene.settings, frame, view))
            refining = time.perf_counter() - read
            arrays = {name: row.read(exr, frame) for name, row in rendered_rows(frame).items() if row.read}
            color = self._final_color(exr, scene, frame)
        seconds = {
            "build": built - start,
            "render": rendered - built + refining,
            "read": time.perf_counter() - rendered - refining,
        }
        path.unlink()
        return Passes.of(color, exr.ids(), arrays, seconds=seconds, device=self.info["device"])

    def _render_to_file(self) -> Path:
        """Render what is built and return the file of its passes. Raises RenderError."""
        path = self._folder / "view.exr"
        path.unlink(missing_ok=True)
        self._scene.render.filepath = str(path)
        kept, samples = self._scene.render.use_persistent_data, self._scene.cycles.samples
        # A session ignores it if samples become fewer, on which their pattern depends (Cycles' Session::update_scene).
        if samples < self._blender.samples:
            self._end_session()
            self._scene.render.use_persistent_data = kept
        self._blender.samples = samples
        reported = []
        with captured() as output:
            try:
                bpy.ops.render.render(write_still=True)
            except RuntimeError as error:
                reported = str(error).splitlines()
        if reported or output.failures or not path.is_file():
            raise render_error(self._device.kind, reported or output.failures)
        return path

    def _refine_rectangles(self, exr: Exr, settings: Settings, whole: Part) -> None:
        """Render the rectangles around objects, and put the merged and denoised color into `exr`."""
        parts = [(whole, exr)]
        for part in rectangles(settings, whole, exr.ids()):
            apply_part(self._scene, part)
            parts.append((part, Exr(self._render_to_file())))
        exr.merge(parts)
        if settings.denoise:
            layers, mirrored = exr.sampled(), is_costly(whole)
            exr.replace("Noisy Image", layers["color"])
            chosen = (settings.denoising_quality, self._threads, mirrored, self._device.kind)
            exr.replace("Combined", denoise(layers, exr.ids(), *chosen))

    @staticmethod
    def _final_color(exr: Exr, scene: Scene, frame: SceneFrame) -> NDArray[np.uint8]:
        """Return the image with its background and fixation cross."""
        color = exr.color(frame.background if frame.pixels is None else None, _gain_of(scene))
        if scene.look is not None and scene.look.finish is not None:
            color = finished(color, scene.look.finish, frame.seed)
        fixation = scene_stage(scene).fixation
        return with_fixation(color, fixation) if frame.fixation and fixation is not None else color

    def save_blend(self, path: Path, scene: Scene, frame: SceneFrame, view: SceneView) -> None:
        """Save the scene of the last rendered view as .blend, with the frame's object names. Raises RenderError.

        The file renders to the picture on its own, except for what is drawn onto it: a fixation cross, and the blur,
        vignette, noise and compression of a look.
        """
        pool = self._blender.pool
        for target, item in zip(pool, frame.objects, strict=False):
            target.name = item.name
        self._end_session()
        apply_saved_settings(self._scene, scene.settings, frame, view, _gain_of(scene))
        self._scene.render.filepath = f"//{path.stem}.png"
        try:
            with captured() as output:
                bpy.ops.wm.save_as_mainfile(filepath=str(path.resolve()), copy=True, compress=True)
        finally:
            # Cryptomatte identifies objects by these names.
            for target, item in zip(pool, frame.objects, strict=False):
                target.name = object_name(item.index)
        if not path.is_file():
            raise RenderError(f"{path}: Blender could not save: {output.text.strip()}")

    def close(self) -> None:
        """Remove the scratch folder, and what a GPU holds."""
        if self._blender.owner is self:
            self._end_session()
        shutil.rmtree(self._folder, ignore_errors=True)
