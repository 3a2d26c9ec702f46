"""`matte`: plain Lambertian paint, nothing that shines.

color       object colour, linear RGB
"""

from __future__ import annotations

from typing import Any

from render.cycles.materials.nodes import Tree
from render.scene import SceneMaterial


def build(material: SceneMaterial) -> Any:
    """The Blender material."""
    tree = Tree("matte")
    return tree.finish(tree.add("BsdfDiffuse", Color=tree.color, Roughness=0.0).outputs[0])
