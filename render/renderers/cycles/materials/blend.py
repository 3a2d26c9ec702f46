"""`blend`: a shader node group from a user's .blend file.

blend       path of the file below an asset root
group       name of a shader node group with a shader output
color       object color; goes to the group's input called "Color", if it has one

Only the node group is taken from the file, scripts stay off, and the path was checked by the compiler.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from render.model.errors import AssetError
from render.model.scene import SceneMaterial
from render.renderers.cycles.materials.nodes import Tree


def build(material: SceneMaterial, path: Path) -> Any:
    """The Blender material. Raises AssetError if the file or the group is not there or has no shader output."""
    assert material.group is not None
    if not path.is_file():
        raise AssetError(f"{path}: no such .blend file")
    try:
        with bpy.data.libraries.load(str(path), link=False) as (there, taken):
            groups = list(there.node_groups)
            taken.node_groups = [name for name in groups if name == material.group]
    except OSError as error:
        raise AssetError(f"{path}: Blender cannot read it: {error}") from error
    if not taken.node_groups:
        raise AssetError(f"{path}: no node group {material.group!r}; there are: {', '.join(sorted(groups)) or 'none'}")
    tree = Tree(f"{material.blend}:{material.group}")
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = taken.node_groups[0]
    shaders = [socket for socket in node.outputs if socket.type == "SHADER"]
    if not shaders:
        raise AssetError(f"{path}: node group {material.group!r} has no shader output")
    if "Color" in node.inputs:
        tree.link(tree.color, node.inputs["Color"])
    return tree.finish(shaders[0])
