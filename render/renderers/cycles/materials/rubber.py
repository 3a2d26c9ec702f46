"""`rubber`: CLEVR's matte plastic.

color       object color, linear RGB

Diffuse under a soft sheen (Ashikhmin, roughness 0.6) by a Fresnel of IOR 1.7, under a broad white highlight (Beckmann,
roughness 0.35^0.5, white 0.8) by a Fresnel of IOR 1.2. Numbers of the published CLEVR material.
"""

from __future__ import annotations

from typing import Any

from render.model.scene import SceneMaterial
from render.renderers.cycles.materials.nodes import Tree


def build(material: SceneMaterial) -> Any:
    """The Blender material."""
    tree = Tree("rubber")
    diffuse = tree.add("BsdfDiffuse", Color=tree.color, Roughness=0.0)
    sheen = tree.add("BsdfSheen", distribution="ASHIKHMIN", Color=tree.color, Roughness=0.6)
    gloss = tree.add("BsdfAnisotropic", distribution="BECKMANN", Color=(0.8, 0.8, 0.8, 1.0), Roughness=0.35**0.5)
    body = tree.mix(tree.add("Fresnel", IOR=1.7).outputs[0], diffuse.outputs[0], sheen.outputs[0])
    return tree.finish(tree.mix(tree.add("Fresnel", IOR=1.2).outputs[0], body, gloss.outputs[0]))
