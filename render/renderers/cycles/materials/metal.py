"""`metal`: CLEVR's brushed metal.

color       object color, linear RGB

Two GGX lobes in the object's color with anisotropy 0.25 (roughness 0.447 and 0.1), mixed 0.6 towards the sharper one.
The brush runs round the object's Z axis (Cycles' default tangent). Numbers of the published CLEVR material.
"""

from __future__ import annotations

from typing import Any

from render.model.scene import SceneMaterial
from render.renderers.cycles.materials.nodes import Tree


def build(material: SceneMaterial) -> Any:
    """The Blender material."""
    tree = Tree("metal")
    lobes = [
        tree.add("BsdfAnisotropic", distribution="GGX", Color=tree.color, Roughness=roughness, Anisotropy=0.25)
        for roughness in (0.447, 0.1)
    ]
    return tree.finish(tree.mix(0.6, lobes[0].outputs[0], lobes[1].outputs[0]))
