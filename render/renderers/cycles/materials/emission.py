"""`emission`: a surface that glows in its color and lights its surroundings.

parameter   type          default           meaning
color       linear RGB    (from the object) color of the emitted light
strength    number > 0    1                 factor on the emitted radiance (no unit); 1 shows the color exactly
"""

from __future__ import annotations

from typing import Any

from render.renderers.cycles.materials.nodes import Tree
from scene_specs.language.scene import SceneMaterial


def build(material: SceneMaterial) -> Any:
    """The Blender material."""
    tree = Tree(f"emission {material.strength:g}")
    return tree.finish(tree.add("Emission", Color=tree.color, Strength=material.strength).outputs[0])
