"""Reads the .blend of a model back, as the renderer does."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from diorama.scene_specs.language.model_names import UNLIT_NODE
from diorama.scene_specs.shapes.shapenet import Model, blend_of


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


def value(material: Any, name: str) -> Any:
    """A number, or three or four of them, of an input of the Principled BSDF; None if something is linked to it."""
    socket = principled(material).inputs[name]
    if name == "Base Color":
        # Behind the mix with the object's color.
        socket = next(end for end in socket.links[0].from_node.inputs if end.identifier == "A_Color")
    if socket.links:
        return None
    return socket.default_value if isinstance(socket.default_value, float) else tuple(socket.default_value)


def images(material: Any) -> list[Any]:
    """The images of its textures."""
    return [node.image for node in material.node_tree.nodes if node.type == "TEX_IMAGE"]


def shown(material: Any, u: float, v: float) -> tuple[float, ...]:
    """The base color at a texture coordinate, by what `unlit` emits: linear RGB of constants, textures and products."""
    return _evaluated(material.node_tree.nodes[UNLIT_NODE].inputs["Color"], u, v)


def _evaluated(socket: Any, u: float, v: float) -> tuple[float, ...]:
    if not socket.links:
        return tuple(socket.default_value)[:3]
    node = socket.links[0].from_node
    if node.type == "TEX_IMAGE":
        u, v = _placed(node.inputs["Vector"], u, v)
        width, height = node.image.size
        texels = np.array(node.image.pixels).reshape(height, width, 4)
        return tuple(_linear(texels[int(v % 1 * height), int(u % 1 * width), :3]))
    if node.type == "MIX":
        first, second = (next(end for end in node.inputs if end.identifier == name) for name in ("A_Color", "B_Color"))
        assert node.blend_type == "MULTIPLY"
        return tuple(np.multiply(_evaluated(first, u, v), _evaluated(second, u, v)))
    if node.type == "RGB":
        return tuple(node.outputs[0].default_value)[:3]
    raise AssertionError(f"a {node.type} between surface and texture")


def _placed(socket: Any, u: float, v: float) -> tuple[float, float]:
    """Where a Mapping node moves a coordinate."""
    if not socket.links or socket.links[0].from_node.type != "MAPPING":
        return u, v
    inputs = socket.links[0].from_node.inputs
    scale, move = inputs["Scale"].default_value, inputs["Location"].default_value
    return u * scale[0] + move[0], v * scale[1] + move[1]


def _linear(values: Any) -> Any:
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
