"""Build `assets/materials/checker.blend`: `python -m diorama.assets.build.checker [FOLDER]`.

A node group "Checker": squares of the object's color and of white, glossy; and "Stripes", along the object's Z. They
show how to add a material, and the tests use them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy


def _group(name: str, kind: str) -> Any:
    """Build a node group with a Color input and a shader output, with the pattern of a texture node of type `kind`."""
    group = bpy.data.node_groups.new(name, "ShaderNodeTree")
    group.interface.new_socket("Color", in_out="INPUT", socket_type="NodeSocketColor")
    group.interface.new_socket("Shader", in_out="OUTPUT", socket_type="NodeSocketShader")
    nodes, links = group.nodes, group.links
    entry, leave = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    place = nodes.new("ShaderNodeTexCoord")
    texture = nodes.new(kind)
    links.new(place.outputs["Object"], texture.inputs["Vector"])
    surface = nodes.new("ShaderNodeBsdfPrincipled")
    surface.inputs["Roughness"].default_value = 0.25
    if kind == "ShaderNodeTexChecker":
        # An odd offset keeps the squares' edges off the faces of a cube, where they would flicker.
        texture.inputs["Scale"].default_value = 2.5
        texture.inputs["Color2"].default_value = (0.9, 0.9, 0.9, 1.0)
        links.new(entry.outputs["Color"], texture.inputs["Color1"])
        links.new(texture.outputs["Color"], surface.inputs["Base Color"])
    else:
        texture.bands_direction = "Z"
        texture.inputs["Scale"].default_value = 1.6
        mix = nodes.new("ShaderNodeMixRGB")
        mix.inputs["Color2"].default_value = (0.9, 0.9, 0.9, 1.0)
        links.new(texture.outputs["Fac"], mix.inputs["Fac"])
        links.new(entry.outputs["Color"], mix.inputs["Color1"])
        links.new(mix.outputs["Color"], surface.inputs["Base Color"])
    links.new(surface.outputs[0], leave.inputs["Shader"])
    group.use_fake_user = True
    return group


def build(folder: Path) -> Path:
    """Write checker.blend into `folder` and return the file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    groups = {_group("Checker", "ShaderNodeTexChecker"), _group("Stripes", "ShaderNodeTexWave")}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "checker.blend"
    bpy.data.libraries.write(str(path.resolve()), groups, fake_user=True, compress=False)
    return path


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "materials")
