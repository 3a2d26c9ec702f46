"""Node groups of .blend files for tests, and what becomes of the color of an object with each, written beforehand.

    python tests/blend_groups.py FILE.blend

shown: the color shows, on both faces. null: the input `Color` leads to no surface. hidden: it does, but nobody would
see the color. front: it shows on fronts only, so that it may be on closed meshes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

VERDICTS = {
    "Plain": "shown", "Varnished": "shown", "Mottled": "shown", "Nested": "shown",
    "Without": "null", "Unlinked": "null", "Dead end": "null", "Second output": "null",
    "Tint": "hidden", "Bump": "hidden", "Factor 0": "hidden", "Inverted": "hidden", "Glaring": "hidden",
    "Lined": "front",
}  # fmt: skip


def write_groups(path: Path) -> None:
    """Write all groups into a .blend file, in a process of its own."""
    subprocess.run([sys.executable, __file__, str(path)], check=True, timeout=240, capture_output=True)


def _build(name: str) -> Any:
    import bpy

    group = bpy.data.node_groups.new(name, "ShaderNodeTree")
    if name != "Without":
        group.interface.new_socket("Color", in_out="INPUT", socket_type="NodeSocketColor")
    group.interface.new_socket("Shader", in_out="OUTPUT", socket_type="NodeSocketShader")
    if name == "Second output":
        group.interface.new_socket("Other", in_out="OUTPUT", socket_type="NodeSocketShader")
    nodes, link = group.nodes, group.links.new
    color = nodes.new("NodeGroupInput").outputs[0]
    leaving = nodes.new("NodeGroupOutput")
    body, other = (nodes.new("ShaderNodeBsdfDiffuse") for _ in range(2))
    surface = body.outputs[0]
    match name:
        case "Plain":
            link(color, body.inputs["Color"])
        case "Varnished":
            body = nodes.new("ShaderNodeBsdfPrincipled")
            body.inputs["Coat Weight"].default_value = 0.5
            surface = body.outputs[0]
            link(color, body.inputs["Base Color"])
        case "Mottled" | "Tint":
            mix = nodes.new("ShaderNodeMixRGB")
            mix.blend_type = "MULTIPLY" if name == "Mottled" else "MIX"
            mix.inputs["Fac"].default_value = 0.5 if name == "Mottled" else 0.2
            mix.inputs["Color1"].default_value = (0.8, 0.8, 0.8, 1.0)
            link(color, mix.inputs["Color1" if name == "Mottled" else "Color2"])
            if name == "Mottled":
                link(nodes.new("ShaderNodeTexNoise").outputs["Fac"], mix.inputs["Color2"])
            link(mix.outputs[0], body.inputs["Color"])
        case "Nested":
            inner = nodes.new("ShaderNodeGroup")
            inner.node_tree = _build("Plain")
            link(color, inner.inputs["Color"])
            surface = inner.outputs[0]
        case "Dead end":
            link(color, other.inputs["Color"])
        case "Second output":
            link(color, other.inputs["Color"])
            link(other.outputs[0], leaving.inputs[1])
        case "Bump":
            bump = nodes.new("ShaderNodeBump")
            link(color, bump.inputs["Height"])
            link(bump.outputs[0], body.inputs["Normal"])
        case "Factor 0" | "Lined":
            link(color, other.inputs["Color"])
            mix = nodes.new("ShaderNodeMixShader")
            mix.inputs[0].default_value = 0.0
            front, back = (body, other) if name == "Factor 0" else (other, body)
            link(front.outputs[0], mix.inputs[1])
            link(back.outputs[0], mix.inputs[2])
            if name == "Lined":
                link(nodes.new("ShaderNodeNewGeometry").outputs["Backfacing"], mix.inputs[0])
            surface = mix.outputs[0]
        case "Inverted":
            invert = nodes.new("ShaderNodeInvert")
            link(color, invert.inputs["Color"])
            link(invert.outputs[0], body.inputs["Color"])
        case "Glaring":
            glow = nodes.new("ShaderNodeEmission")
            glow.inputs["Strength"].default_value = 50.0
            link(color, glow.inputs["Color"])
            surface = glow.outputs[0]
    link(surface, leaving.inputs[0])
    return group


if __name__ == "__main__":
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.data.libraries.write(str(Path(sys.argv[1]).resolve()), {_build(name) for name in VERDICTS}, fake_user=True)
