"""Whether a material shows the color of its object, measured in one small render of spheres in two colors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from diorama.render.renderers.cycles.blender_meshes import mesh_data
from diorama.render.renderers.cycles.capture import captured
from diorama.render.renderers.cycles.series import node_tree
from diorama.scene_specs.language.vocabulary import linear_of_name

# No exchange of channels keeps both, or turns one into the other.
_COLORS = [np.array(linear_of_name(name)) for name in ("red", "green")]
_SIDE = 96
# Of shares of red, green and blue minus gray: the least length along the color's, and the most aside per length along.
_LEAST_LENGTH, _MOST_ASIDE = 0.5, 0.5
# The least brightness as a share of the color's, and the least share of pixels that show the color.
_LEAST_LIGHT, _LEAST_PIXELS = 0.25, 0.2


def shows_color(material: Any, back: bool, folder: Path) -> bool:
    """Return whether spheres under white light show their colors.

    Args:
        back: whether their faces are turned inwards, so that the camera sees their backs.
        folder: folder for the image.
    """
    scene: Any = bpy.data.scenes.new("color check")
    scene.world, camera = bpy.data.worlds.new("white"), bpy.data.cameras.new("color check")
    scene.world.color = (1.0, 1.0, 1.0)
    # Since 5.0, a world has nodes, and they decide.
    for node in getattr(node_tree(scene.world, used=False), "nodes", ()):
        if node.bl_idname == "ShaderNodeBackground":
            node.inputs["Color"].default_value = (1.0, 1.0, 1.0, 1.0)
    camera.type, camera.ortho_scale = "ORTHO", 8.0
    mesh = mesh_data("sphere").copy()
    if back:
        mesh.flip_normals()
    mesh.materials.clear()
    mesh.materials.append(material)
    objects = [bpy.data.objects.new("color check", data) for data in (mesh, mesh, camera)]
    for target, x, color in zip(objects, (-2.0, 2.0, 0.0), (*_COLORS, np.zeros(3)), strict=True):
        target.location, target.color = (x, 0.0, 5.0 * (target.data is camera)), (*color, 1.0)
        scene.collection.objects.link(target)
    scene.camera, scene.render.engine, scene.render.film_transparent = objects[-1], "CYCLES", True
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", 16, False
    scene.render.resolution_x, scene.render.resolution_y = 2 * _SIDE, _SIDE
    scene.render.image_settings.file_format, scene.render.filepath = "OPEN_EXR", str(folder / "colors.exr")
    scene.render.image_settings.color_mode = "RGBA"
    with captured():
        bpy.ops.render.render(write_still=True, scene=scene.name)
    image: Any = bpy.data.images.load(scene.render.filepath)
    pixels = np.array(image.pixels).reshape(_SIDE, 2, _SIDE, 4)
    bpy.data.batch_remove([*objects, scene.world, scene, camera, mesh, image])
    return all(_share(pixels[:, k], color) >= _LEAST_PIXELS for k, color in enumerate(_COLORS))


def _share(pixels: Any, color: Any) -> float:
    """Share of the pixels of a sphere that show a color, (H, W, 4)."""
    # What is brighter than white is shown as white.
    shown = np.clip(pixels[pixels[..., 3] > 0.99][:, :3], 0.0, 1.0)
    light, wanted = shown.sum(axis=1), color / color.sum() - 1 / 3
    tints = shown / np.maximum(light, 1e-9)[:, None] - 1 / 3
    along = tints @ wanted / (wanted @ wanted)
    aside = np.linalg.norm(tints - along[:, None] * wanted, axis=1) / np.linalg.norm(wanted)
    near = (along >= _LEAST_LENGTH) & (aside <= _MOST_ASIDE * along) & (light >= _LEAST_LIGHT * color.sum())
    return float(near.mean()) if len(shown) else 0.0
