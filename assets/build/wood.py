"""Build `assets/materials/wood.blend`: `python -m diorama.assets.build.wood [FOLDER]`.

A node group "Wood": the object's color as a stain on grain that runs along the object's X axis and differs from
location to location, lightly varnished; for wooden pieces on a table.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy

# Grain a unit along and across, and how dark it gets at most.
ALONG, ACROSS = 0.9, 9.0
DARKEST = 0.5


def _group() -> Any:
    group = bpy.data.node_groups.new("Wood", "ShaderNodeTree")
    group.interface.new_socket("Color", in_out="INPUT", socket_type="NodeSocketColor")
    group.interface.new_socket("Shader", in_out="OUTPUT", socket_type="NodeSocketShader")
    nodes, links = group.nodes, group.links

    def node(kind: str, **inputs: object) -> Any:
        made = nodes.new(kind)
        for name, value in inputs.items():
            made.inputs[name].default_value = value
        return made

    entry, leave = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    place, item = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeObjectInfo")
    shift = nodes.new("ShaderNodeVectorMath")
    shift.operation = "ADD"
    links.new(place.outputs["Object"], shift.inputs[0])
    links.new(item.outputs["Location"], shift.inputs[1])
    stretch = node("ShaderNodeMapping", Scale=(ALONG, ACROSS, ACROSS))
    links.new(shift.outputs[0], stretch.inputs["Vector"])
    grain = node("ShaderNodeTexNoise", Scale=1.6, Detail=6.0, Roughness=0.62, Distortion=0.4)
    links.new(stretch.outputs[0], grain.inputs["Vector"])
    shade = node("ShaderNodeMapRange")
    for name, value in {"From Min": 0.35, "From Max": 0.7, "To Min": 1.0, "To Max": DARKEST}.items():
        shade.inputs[name].default_value = value
    links.new(grain.outputs["Fac"], shade.inputs["Value"])
    stained = nodes.new("ShaderNodeVectorMath")
    stained.operation = "SCALE"
    links.new(entry.outputs["Color"], stained.inputs[0])
    links.new(shade.outputs[0], stained.inputs["Scale"])
    bump = node("ShaderNodeBump", Strength=0.12, Distance=0.01)
    links.new(grain.outputs["Fac"], bump.inputs["Height"])
    surface = node("ShaderNodeBsdfPrincipled", Roughness=0.42)
    links.new(stained.outputs[0], surface.inputs["Base Color"])
    links.new(bump.outputs[0], surface.inputs["Normal"])
    links.new(surface.outputs[0], leave.inputs["Shader"])
    group.use_fake_user = True
    return group


def build(folder: Path) -> Path:
    """Write wood.blend into `folder` and return the file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "wood.blend"
    bpy.data.libraries.write(str(path.resolve()), {_group()}, fake_user=True, compress=False)
    return path


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "materials")
