"""The materials of a model, as imported: what they miss is filled in, and what reads or runs something is removed.

Each material multiplies its base color by the color of its object if the alpha of that is 1 (`painted`), and has an
emission of its base color beside its surface (`unlit`), which the renderer connects.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy
from PIL import Image

from diorama.render.ingest.importing import COLOR
from diorama.render.ingest.obj_text import Mtl, factors_of, is_clamped
from diorama.render.ingest.preparing import GRAY
from diorama.render.renderers.cycles.blend_material import generated_pixels, packed_pixels, sum_pixels
from diorama.render.renderers.cycles.model_objects import POINTERS, READERS
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.model_names import UNLIT_NODE
from diorama.scene_specs.rotation import Vec, rounded3

# Nodes of all materials together, with those in groups, as often as they are used: Cycles makes copies.
_MOST_NODES = 5_000
# A smaller alpha is taken for an exporter's error: nobody models an invisible part.
_LEAST_ALPHA = 0.05
# Formats whose materials name no colors of vertices.
_PLAIN = (".obj", ".ply", ".stl", ".dae")
_WHITE = (1.0, 1.0, 1.0, 1.0)

Note = Callable[[str], None]


def complete(materials: Sequence[Any], mtl: Mtl, colored: bool, suffix: str, note: Note) -> tuple[list[Any], list[Vec]]:
    """Prepare the materials of a model's slots.

    Args:
        materials: None where a slot has none.
        mtl: those of an .obj file, of which Blender's importer leaves some out.
        colored: whether the mesh has colors.
        suffix: of the format. In some, colors of vertices count that no material reads.

    Returns:
        A material for each slot, and its base color: linear RGB, gray for a texture.
    """
    used = [_undefined(colored, note) if material is None else _with_tree(material) for material in materials]
    white = suffix in (".glb", ".gltf")
    for node in [node for tree in _trees(used) for node in tree.nodes]:
        if node.type == "GROUP" and not isinstance(node.node_tree, bpy.types.ShaderNodeTree | None):
            note(f"node group {node.node_tree.name!r} is not there")
            node.node_tree = None
        elif node.name == UNLIT_NODE:
            # Another of this name would be taken for ours.
            node.name = "unlit"
        elif node.type == "OBJECT_INFO":
            note("a material depends on its object; all objects are one here")
        elif _reads_place(node):
            note(f"a material has the coordinates of its object (node {node.name!r}), which differ here")
    sizes: dict[int, int] = {}
    count = sum(_count_nodes(material.node_tree, sizes) for material in used)
    if count > _MOST_NODES:
        raise AssetError(f"found {count:,} nodes of materials; allowed: {_MOST_NODES:,}")
    for tree in _trees(used):
        _fill_missing_images(tree, white)
    factors, colors, prepared = factors_of(mtl), [], set[int]()
    for material, original in zip(used, materials, strict=True):
        shaders = _shaders(material)
        for node in material.node_tree.nodes if is_clamped(mtl.get(material.name, {})) else ():
            if node.type == "TEX_IMAGE":
                node.extension = "EXTEND"
        if suffix == ".obj":
            _take_luminance(material.node_tree)
        unread = colored and (suffix in _PLAIN or original is None) and not _reads_color(material)
        # Materials share groups.
        own = [(tree, socket) for tree, socket in shaders if socket.as_pointer() not in prepared]
        prepared.update(socket.as_pointer() for _, socket in own)
        for tree, socket in own:
            if material.name in factors and socket.links:
                _multiply(tree, socket, (*factors[material.name], 1.0))
            elif material.name in factors:
                socket.default_value = (*factors[material.name], 1.0)
            if unread:
                node = tree.nodes.new("ShaderNodeVertexColor")
                node.layer_name = COLOR
                _multiply(tree, socket, node.outputs["Color"])
        _make_visible(material, note)
        colors.append(_color_of(shaders))
        for tree, socket in own:
            info = tree.nodes.new("ShaderNodeObjectInfo")
            _multiply(tree, socket, info.outputs["Color"], info.outputs["Alpha"])
        _add_unlit(material, shaders)
    return used, colors


def _undefined(colored: bool, note: Note) -> Any:
    """Return the material of surfaces without one: gray, or the color of their corners."""
    if not colored:
        note("its materials are not defined; it is gray")
    material = _with_tree(bpy.data.materials.new("undefined"))
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = _WHITE if colored else (*GRAY, 1.0)
    shader.inputs["Roughness"].default_value = 0.8
    return material


def _with_tree(material: Any) -> Any:
    """Return a material with nodes; in 4.5, one may only have a color."""
    if material.node_tree is None or not (material.use_nodes or bpy.app.version >= (5, 0)):
        material.use_nodes = True
        for node in material.node_tree.nodes:
            if node.type == "BSDF_PRINCIPLED":
                node.inputs["Base Color"].default_value = material.diffuse_color
                node.inputs["Roughness"].default_value = material.roughness
                node.inputs["Metallic"].default_value = material.metallic
    return material


def _trees(materials: Sequence[Any]) -> list[Any]:
    """Return the node trees of materials, and the groups in them, each once."""
    trees: dict[str, Any] = {}
    waiting = [material.node_tree for material in materials]
    while waiting:
        tree = waiting.pop()
        if tree is not None and trees.setdefault(str(tree.as_pointer()), tree) is tree:
            waiting += [node.node_tree for node in tree.nodes if node.type == "GROUP"]
    return [*trees.values()]


def _reads_place(node: Any) -> bool:
    """Whether a node has coordinates that change as a model is turned, centered and scaled, or becomes one object."""
    if node.type in ("TEX_COORD", "NEW_GEOMETRY"):
        return any(node.outputs[name].links for name in ("Generated", "Object", "Position") if name in node.outputs)
    # Unlike that of an image, their default is no texture coordinate.
    vector = node.inputs.get("Vector") if node.type.startswith("TEX_") and node.type != "TEX_IMAGE" else None
    return vector is not None and not vector.links


def _count_nodes(tree: Any, sizes: dict[int, int]) -> int:
    """Count the nodes of a tree; `sizes` keeps the numbers of the groups in it."""
    key = tree.as_pointer()
    if key not in sizes:
        groups = [node.node_tree for node in tree.nodes if node.type == "GROUP" and node.node_tree is not None]
        sizes[key] = len(tree.nodes) + sum(_count_nodes(group, sizes) for group in groups)
    return sizes[key]


def _shaders(material: Any) -> list[tuple[Any, Any]]:
    """Tree and color input of each shader that is linked to something, also in groups."""
    nodes = [(tree, node) for tree in _trees([material]) for node in tree.nodes]
    shaders = [
        (tree, node)
        for tree, node in nodes
        if node.inputs and node.inputs[0].name in ("Color", "Base Color")
        if any(output.type == "SHADER" and output.links for output in node.outputs)
    ]
    # Where there is a Principled BSDF, the others don't count; nor does what is between an unlit surface and the rest.
    principled = [(tree, node) for tree, node in shaders if node.type == "BSDF_PRINCIPLED"]
    opaque = [(tree, node) for tree, node in shaders if node.type != "BSDF_TRANSPARENT"]
    return [(tree, node.inputs[0]) for tree, node in principled or opaque or shaders]


def _fill_missing_images(tree: Any, white: bool) -> None:
    """Let the factors of a material stay where an image is missing; Cycles would show magenta."""
    for node in [node for node in tree.nodes if node.type in ("TEX_IMAGE", "TEX_ENVIRONMENT") and node.image is None]:
        targets = [link.to_socket for output in node.outputs for link in output.links]
        # With its links.
        tree.nodes.remove(node)
        for target in targets:
            _set_neutral(target, white)


def _set_neutral(socket: Any, white: bool) -> None:
    """Give an input the value that changes nothing.

    Args:
        white: also base colors, which are factors otherwise.
    """
    if "Emission" in socket.name:
        socket.default_value = (0.0, 0.0, 0.0, 1.0)
    elif socket.type == "RGBA" and socket.node.type != "NORMAL_MAP" and (white or socket.name != "Base Color"):
        socket.default_value = _WHITE
    elif socket.name in ("Alpha", "Fac", "Factor"):
        socket.default_value = 1.0


def _reads_color(material: Any) -> bool:
    return any(node.type in ("VERTEX_COLOR", "ATTRIBUTE") for tree in _trees([material]) for node in tree.nodes)


def _multiply(tree: Any, socket: Any, color: Any, factor: Any = 1.0) -> None:
    """Multiply an input by a color or output, as far as another output says."""
    mix = tree.nodes.new("ShaderNodeMix")
    mix.data_type, mix.blend_type, mix.clamp_result = "RGBA", "MULTIPLY", False
    ends = {end.identifier: end for end in (*mix.inputs, *mix.outputs)}
    for value, end in ((socket, "A_Color"), (color, "B_Color"), (factor, "Factor_Float")):
        _give(tree, value, ends[end])
    tree.links.new(ends["Result_Color"], socket)


def _take_luminance(tree: Any) -> None:
    """Let the luminance of an image without alpha be the opacity, which is the default of the format."""
    images = [node for node in tree.nodes if node.type == "TEX_IMAGE"]
    colors = [node.image for node in images if node.outputs["Color"].links]
    for node in [node for node in images if node.outputs["Alpha"].links]:
        with suppress(Exception), Image.open(io.BytesIO(node.image.packed_file.data)) as opened:
            # What is a color, too, is opaque without an alpha.
            if not opened.has_transparency_data and node.image not in colors:
                node.image.colorspace_settings.name = "Non-Color"
                for link in list(node.outputs["Alpha"].links):
                    tree.links.new(node.outputs["Color"], link.to_socket)


def _give(tree: Any, value: Any, socket: Any) -> None:
    """Give an input a value, the output of a node, or what another input has."""
    if isinstance(value, bpy.types.NodeSocket) and not value.is_output:
        value = value.links[0].from_socket if value.links else tuple(value.default_value)
    if isinstance(value, bpy.types.NodeSocket):
        tree.links.new(value, socket)
    else:
        socket.default_value = value


def _make_visible(material: Any, note: Note) -> None:
    nodes = [node for tree in _trees([material]) for node in tree.nodes]
    for alpha in [node.inputs["Alpha"] for node in nodes if node.type == "BSDF_PRINCIPLED"]:
        if not alpha.links and alpha.default_value < _LEAST_ALPHA:
            alpha.default_value = 1.0
            note(f"material {material.name!r} is wholly transparent; made opaque")


def _color_of(shaders: Sequence[tuple[Any, Any]]) -> Vec:
    if not shaders or shaders[0][1].links:
        return GRAY
    return rounded3([*shaders[0][1].default_value][:3])


def _add_unlit(material: Any, shaders: Sequence[tuple[Any, Any]]) -> None:
    """Add the emission of the base color that `unlit` shows: that of the first shader outside of groups."""
    tree = material.node_tree
    emission = tree.nodes.new("ShaderNodeEmission")
    emission.name = UNLIT_NODE
    # The input now comes from the mix with the object's color, whose first input is the base.
    mixes = [socket.links[0].from_node for owner, socket in shaders if owner == tree]
    bases = [end for mix in mixes[:1] for end in mix.inputs if end.identifier == "A_Color"]
    _give(tree, bases[0] if bases else (*GRAY, 1.0), emission.inputs["Color"])


def emits(materials: Sequence[Any]) -> bool:
    """Whether a material may light others."""
    for node in [node for tree in _trees(materials) for node in tree.nodes]:
        if node.type == "EMISSION" and node.name != UNLIT_NODE:
            return True
        if node.type == "BSDF_PRINCIPLED":
            color, strength = node.inputs["Emission Color"], node.inputs["Emission Strength"]
            if (strength.links or strength.default_value > 0) and (color.links or any(color.default_value[:3])):
                return True
    return False


def pack_images(locate: Callable[[str], Path | None], note: Note) -> None:
    """Pack the images of materials, and remove those that are not there. Raises AssetError for too many pixels.

    Args:
        locate: reads a file by its path in the model, and notes if it is missing.
    """
    total = 0
    for image in [image for image in bpy.data.images if image.users and image.source != "VIEWER"]:
        path = None
        if image.source == "FILE" and not image.packed_file:
            path = locate(bpy.path.abspath(image.filepath))
        if path is not None:
            image.filepath = str(path)
            with suppress(RuntimeError):
                image.pack()
        size = _pixels(image)
        total = sum_pixels(total, size, f"image {image.name!r}")
        # Only here: Blender decodes what it is asked for the size of.
        if size == 0 or 0 in image.size:
            if path is not None or image.packed_file or image.source != "FILE":
                note(f"texture {image.name!r} can't be read as a picture")
            # Its path would stay, and the renderer would open it.
            bpy.data.images.remove(image)


def _pixels(image: Any) -> int:
    """Return an image's number of pixels, by headers where that can be; 0 of what is no packed image."""
    if image.source == "GENERATED":
        return generated_pixels(image)
    if image.source != "FILE" or not image.packed_file:
        return 0
    try:
        return packed_pixels(image, f"image {image.name!r}")
    except AssetError:
        if len(image.packed_files) > 1:
            raise
        # Blender reads more formats; decoding one is bounded here.
        return int(image.size[0] * image.size[1])


def strip() -> None:
    """Remove animation, drivers, custom properties, paths, and nodes that read or run something."""
    trees = [material.node_tree for material in bpy.data.materials if material.node_tree is not None]
    for block in (*bpy.data.materials, *trees, *bpy.data.node_groups, *bpy.data.images):
        block.animation_data_clear()
        for key in list(block.keys()):
            del block[key]
        if isinstance(block, bpy.types.Image):
            block.filepath_raw = ""
        elif isinstance(block, bpy.types.Material):
            block.displacement_method = "BUMP"
        for node in list(getattr(block, "nodes", ())):
            for link in list(node.inputs["Volume"].links) if node.type == "OUTPUT_MATERIAL" else ():
                block.links.remove(link)
            for pointer in POINTERS:
                if hasattr(node, pointer):
                    setattr(node, pointer, None)
            if node.type in READERS:
                block.nodes.remove(node)
