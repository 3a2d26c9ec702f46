"""Writes models with Blender itself: `python -m tests.render.ingest.blender_files FOLDER TEXTURE`.

Each shows a box, 2 wide, 4 deep and 6 high, with its texture and a factor.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy
from PIL import Image

from diorama.scene_specs.language.model_names import UNLIT_NODE

FACTOR = (1.0, 0.5, 0.25, 1.0)


def start() -> Any:
    """An empty scene with the box; the object."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_cube_add(size=2)
    box = bpy.context.object
    box.name, box.data.name = "Box", "Box"
    for vertex in box.data.vertices:
        vertex.co = [half * side for half, side in zip((1, 2, 3), vertex.co, strict=True)]
    for face in box.data.polygons:
        for corner, place in zip(face.loop_indices, ((0, 0), (1, 0), (1, 1), (0, 1)), strict=True):
            box.data.uv_layers[0].data[corner].uv = place
    return box


def textured(box: Any, texture: str, factor: bool = False) -> Any:
    """Give it a material that shows an image, perhaps times FACTOR; the material."""
    material = bpy.data.materials.new("Paint")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    node = nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.load(texture)
    base = nodes["Principled BSDF"].inputs["Base Color"]
    if factor:
        mix = nodes.new("ShaderNodeMix")
        mix.data_type, mix.blend_type = "RGBA", "MULTIPLY"
        ends = {end.identifier: end for end in (*mix.inputs, *mix.outputs)}
        ends["Factor_Float"].default_value, ends["B_Color"].default_value = 1.0, FACTOR
        links.new(node.outputs["Color"], ends["A_Color"])
        links.new(ends["Result_Color"], base)
    else:
        links.new(node.outputs["Color"], base)
    box.data.materials.append(material)
    return material


def save(path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False, relative_remap=False)


def write_all(folder: Path, texture: str) -> None:
    for name in ("fbx", "usdc", "usdz"):
        textured(start(), texture)
        if name == "fbx":
            bpy.ops.preferences.addon_enable(module="io_scene_fbx")
            bpy.ops.export_scene.fbx(filepath=str(folder / "box.fbx"), path_mode="COPY", embed_textures=True)
        else:
            bpy.ops.wm.usd_export(filepath=str(folder / f"box.{name}"))
    textured(start(), texture, factor=True)
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    bpy.ops.export_scene.gltf(filepath=str(folder / "box.glb"))
    if bpy.app.version < (5, 0):
        bpy.ops.export_scene.gltf(filepath=str(folder / "draco.glb"), export_draco_mesh_compression_enable=True)
    bpy.ops.file.pack_all()
    save(folder / "packed.blend")
    write_scene(folder / "scene.blend", texture)
    write_subdivided(folder / "subdivided.blend")
    write_named(folder / "named.blend")
    write_stereo(folder / "stereo.blend")
    write_parts(folder / "parts.blend")
    write_noise(folder / "noise.blend")


def write_subdivided(path: Path) -> None:
    """The box inside out, which only a render subdivides."""
    box = start()
    box.data.flip_normals()
    modifier = box.modifiers.new("Subdivision", "SUBSURF")
    modifier.subdivision_type, modifier.levels, modifier.render_levels = "SIMPLE", 0, 1
    modifier.show_viewport = False
    save(path)


def write_named(path: Path) -> None:
    """The box in green, beside a red light that has the name of what our reader adds."""
    box = start()
    material = bpy.data.materials.new("Paint")
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0, 1, 0, 1)
    light = material.node_tree.nodes.new("ShaderNodeEmission")
    light.name, light.inputs["Color"].default_value = UNLIT_NODE, (1, 0, 0, 1)
    box.data.materials.append(material)
    save(path)


def write_stereo(path: Path) -> None:
    """The box with an image whose second view is larger than allowed."""
    for name, side in (("v_L.png", 16), ("v_R.png", 9000)):
        Image.new("1", (side, side)).save(path.with_name(name))
    box = start()
    bpy.context.scene.render.use_multiview = True
    image = textured(box, str(path.with_name("v_L.png"))).node_tree.nodes["Image Texture"].image
    image.use_multiview, image.views_format = True, "INDIVIDUAL"
    image.filepath = str(path.with_name("v_L.png"))
    image.reload()
    image.pack()
    save(path)
    for name in ("v_L.png", "v_R.png"):
        path.with_name(name).unlink()


def write_noise(path: Path) -> None:
    """The box with a noise of its own coordinates."""
    box = start()
    material = bpy.data.materials.new("Paint")
    material.use_nodes = True
    node = material.node_tree.nodes.new("ShaderNodeTexNoise")
    material.node_tree.links.new(node.outputs["Color"], material.node_tree.nodes["Principled BSDF"].inputs["Roughness"])
    box.data.materials.append(material)
    save(path)


def write_parts(path: Path) -> None:
    """Three parts, of which the window hides the first and a render the last."""
    box = start()
    box.hide_set(True)
    lid = bpy.data.objects.new("Lid", box.data.copy())
    # Its place counts from the middle of the box.
    lid.parent, lid.location = box, (10, 0, 0)
    bpy.context.scene.collection.objects.link(lid)
    lid.hide_render = True
    spare = bpy.data.collections.new("Spare")
    bpy.context.scene.collection.children.link(spare)
    for name, place in (("Spare lid", 0), ("Spare box", 50)):
        copied = bpy.data.objects.new(name, box.data.copy())
        copied.location = (place, 100, 0)
        spare.objects.link(copied)
    spare.hide_render = True
    tube = bpy.data.curves.new("Tube", "CURVE")
    tube.dimensions, tube.bevel_depth = "3D", 1.0
    tube.splines.new("POLY").points.add(1)
    tube.splines[0].points[1].co = (0, 0, 6, 1)
    tube.bevel_resolution = 0
    pipe = bpy.data.objects.new("Pipe", tube)
    pipe.hide_render = True
    bpy.context.scene.collection.objects.link(pipe)
    save(path)


def write_scene(path: Path, texture: str) -> None:
    """Half the box, which a modifier mirrors, a key that makes it as deep, and objects that no render shows."""
    box = start()
    textured(box, texture, factor=True)
    mesh = box.data
    for vertex in mesh.vertices:
        vertex.co.x = max(vertex.co.x, 0)
        vertex.co.y /= 2
    box.shape_key_add(name="Basis")
    key = box.shape_key_add(name="Deep")
    for vertex, point in zip(mesh.vertices, key.data, strict=True):
        point.co.y = 2 * vertex.co.y
    key.value = 1.0
    mirror = box.modifiers.new("Mirror", "MIRROR")
    mirror.use_clip = True
    hidden = bpy.data.objects.new("Hidden", mesh.copy())
    hidden.hide_render, hidden.location = True, (50, 0, 0)
    bpy.context.scene.collection.objects.link(hidden)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT")))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    bpy.ops.file.pack_all()
    save(path)


if __name__ == "__main__":
    write_all(Path(sys.argv[1]), sys.argv[2])
