"""`emission`: a surface that glows in its color and lights its surroundings.

color       object color, linear RGB
strength    factor on the radiance, 1 shows the color exactly (above 0, default 1)
"""

from __future__ import annotations

from typing import Any

from render.model.scene import SceneMaterial
from render.renderers.cycles.materials.nodes import Tree


def build(material: SceneMaterial) -> Any:
    """The Blender material."""
    tree = Tree(f"emission {material.strength:g}")
    return tree.finish(tree.add("Emission", Color=tree.color, Strength=material.strength).outputs[0])
