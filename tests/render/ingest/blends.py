"""Reads the .blend of a model back, as the renderer does, and evaluates its materials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.language.model_names import UNLIT_NODE
from diorama.scene_specs.shapes.shapenet import Model, blend_of

Floats = NDArray[Any]
# Blender 5 has other importers, without some libraries.
OLD = bpy.app.version < (5, 0)


def mesh_of(model: Model) -> Any:
    """The mesh, appended to this process's Blender."""
    with bpy.data.libraries.load(str(blend_of(model))) as (available, appended):
        appended.meshes = available.meshes
    (mesh,) = appended.meshes
    return mesh


def principled(material: Any) -> Any:
    """Its one Principled BSDF."""
    (shader,) = [node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED"]
    return shader


def layer(mesh: Any, name: str) -> Floats:
    """Values (T, 3, n) of the corners of triangles."""
    attribute = mesh.attributes[name]
    field = {"FLOAT": "value", "FLOAT_COLOR": "color"}.get(attribute.data_type, "vector")
    return np.array([getattr(entry, field) for entry in attribute.data]).reshape(len(mesh.polygons), 3, -1)


def shown(mesh: Any, name: str = "Base Color") -> Floats:
    """An input of the surface at the center of each triangle: (T, n), colors in linear RGB.

    "Base Color" is what `unlit` emits, without the color of the object.
    """
    values = []
    for material in mesh.materials:
        nodes = material.node_tree.nodes
        socket = nodes[UNLIT_NODE].inputs["Color"] if name == "Base Color" else principled(material).inputs[name]
        values.append(_evaluated(mesh, socket))
    return np.array([values[face.material_index][number] for number, face in enumerate(mesh.polygons)])


def _evaluated(mesh: Any, socket: Any) -> Any:
    """Values (T, n) of an input."""
    if not socket.links:
        constant = socket.default_value
        row = [constant] if isinstance(constant, float) else list(constant)[:3]
        return np.tile(row, (len(mesh.polygons), 1))
    link = socket.links[0]
    node, output = link.from_node, link.from_socket.name
    match node.type:
        case "TEX_IMAGE":
            texels = _texels(node, _coordinates(mesh, node.inputs["Vector"]))
            return texels[:, 3:] if output == "Alpha" else texels[:, :3]
        case "VERTEX_COLOR" | "ATTRIBUTE":
            name = node.layer_name if node.type == "VERTEX_COLOR" else node.attribute_name
            default = mesh.color_attributes[mesh.color_attributes.render_color_index].name
            values = layer(mesh, name or default).mean(axis=1)
            return values[:, 3:] if output == "Alpha" else values[:, :3]
        case "MIX":
            ends = {end.identifier: end for end in node.inputs}
            assert node.blend_type == "MULTIPLY" and ends["Factor_Float"].default_value == 1.0
            return _evaluated(mesh, ends["A_Color"]) * _evaluated(mesh, ends["B_Color"])
        case "MATH":
            first, second = (_evaluated(mesh, end) for end in list(node.inputs)[:2])
            operations: dict[str, Callable[[], Floats]] = {
                "MULTIPLY": lambda: first * second,
                "SUBTRACT": lambda: first - second,
                "LESS_THAN": lambda: (first < second) * 1.0,
                "GREATER_THAN": lambda: (first > second) * 1.0,
                "ROUND": lambda: np.round(first),
            }
            return operations[node.operation]()
        case "VECT_MATH":
            assert node.operation == "MULTIPLY_ADD"
            first, second, third = (_evaluated(mesh, end) for end in list(node.inputs)[:3])
            return first * second + third
        case "SEPARATE_COLOR":
            channel = ("Red", "Green", "Blue").index(output)
            return _evaluated(mesh, node.inputs[0])[:, channel : channel + 1]
        case "RGB" | "VALUE":
            constant = node.outputs[0].default_value
            row = [constant] if node.type == "VALUE" else list(constant)[:3]
            return np.tile(row, (len(mesh.polygons), 1))
    raise AssertionError(f"a {node.type} between surface and texture")


def _coordinates(mesh: Any, socket: Any) -> Any:
    """Texture coordinates (T, 2) at the centers of triangles."""
    node = socket.links[0].from_node if socket.links else None
    if node is not None and node.type == "MAPPING":
        assert node.vector_type == "POINT"
        move, turn, scale = (np.array(node.inputs[key].default_value) for key in ("Location", "Rotation", "Scale"))
        u, v = (_coordinates(mesh, node.inputs["Vector"]) * scale[:2]).T
        cos, sin = np.cos(turn[2]), np.sin(turn[2])
        return np.stack([cos * u - sin * v, sin * u + cos * v], axis=1) + move[:2]
    assert node is None or node.type in ("UVMAP", "TEX_COORD")
    name = node.uv_map if node is not None and node.type == "UVMAP" else ""
    default = next(entry.name for entry in mesh.uv_layers if entry.active_render)
    return layer(mesh, name or default).mean(axis=1)


def _texels(node: Any, coordinates: Floats) -> Floats:
    """Colors (T, 4) of an image, linear unless it holds data."""
    width, height = node.image.size
    pixels = np.array(node.image.pixels).reshape(height, width, 4)
    if node.image.colorspace_settings.name == "sRGB":
        colors = pixels[..., :3]
        pixels[..., :3] = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    u, v = (coordinates % 1 if node.extension == "REPEAT" else coordinates.clip(0, 1 - 1e-6)).T
    if node.extension == "MIRROR":
        u, v = (1 - np.abs(coordinates % 2 - 1) * (1 - 1e-6)).T
    rows = pixels[(v * height).astype(int), (u * width).astype(int)]
    outside = ((coordinates < 0) | (coordinates > 1)).any(axis=1)
    return np.where((outside & (node.extension == "CLIP"))[:, None], 0.0, rows)
