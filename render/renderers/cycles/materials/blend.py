"""`blend`: a shader node group from a user's .blend file.

    parameter   type          default           meaning
    blend       path          (required)        .blend file, relative to an asset root
    group       name          (required)        shader node group of the file with at least one shader output
    color       linear RGB    (from the object) connected to the group's input `Color`, if it has one

Only the node group is read from the file, its first shader output becomes the surface, and scripts stay disabled. The
compiler has checked that the path lies below an asset root. Light may pass through it, but it gets no extra samples.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from render.model.errors import AssetError
from render.renderers.cycles.materials.nodes import Tree
from scene_specs.language.scene import SceneMaterial


def build(material: SceneMaterial, path: Path) -> Any:
    """The Blender material. Raises AssetError for a missing file or group, or a group without shader output."""
    assert material.group is not None
    if not path.is_file():
        raise AssetError(f"{path}: no such .blend file")
    try:
        with bpy.data.libraries.load(str(path), link=False) as (available, imported):
            groups = list(available.node_groups)
            imported.node_groups = [name for name in groups if name == material.group]
    except OSError as error:
        raise AssetError(f"{path}: Blender cannot read it: {error}") from error
    if not imported.node_groups:
        raise AssetError(f"{path}: no node group {material.group!r}; there are: {', '.join(sorted(groups)) or 'none'}")
    tree = Tree(f"{material.blend}:{material.group}")
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = imported.node_groups[0]
    shaders = [socket for socket in node.outputs if socket.type == "SHADER"]
    if not shaders:
        raise AssetError(f"{path}: node group {material.group!r} has no shader output")
    if "Color" in node.inputs:
        tree.link(tree.color, node.inputs["Color"])
    return tree.finish(shaders[0])
