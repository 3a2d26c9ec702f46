"""`glass`: MEWL's colored glass.

color       object color, linear RGB

Smooth refraction and reflection, IOR 1.1, Beckmann at roughness 0. Numbers of the published MEWL material.
Solid in the id pass: what the eye sees through it is not.
"""

from __future__ import annotations

from typing import Any

from render.model.scene import SceneMaterial
from render.renderers.cycles.materials.nodes import Tree


def build(material: SceneMaterial) -> Any:
    """The Blender material."""
    tree = Tree("glass")
    return tree.finish(
        tree.add("BsdfGlass", distribution="BECKMANN", Color=tree.color, Roughness=0.0, IOR=1.1).outputs[0]
    )
