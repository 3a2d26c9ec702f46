"""`rubber`: the matte plastic of CLEVR, a diffuse body under a soft sheen and a broad white highlight.

    parameter   type          default           meaning
    color       linear RGB    (from the object) reflectance of the diffuse body and of the sheen

    fixed       value         meaning
    body        roughness 0   Lambertian
    sheen       roughness 0.6 Ashikhmin sheen, mixed over the body by a Fresnel term of IOR 1.7
    highlight   white 0.8     Beckmann reflection of roughness 0.35^0.5, mixed on top by a Fresnel term of IOR 1.2

The values are those of the published CLEVR material.
"""

from __future__ import annotations

from typing import Any

from render.renderers.cycles.materials.nodes import Tree
from scene_specs.language.scene import SceneMaterial


def build(material: SceneMaterial) -> Any:
    """The Blender material."""
    tree = Tree("rubber")
    diffuse = tree.add("BsdfDiffuse", Color=tree.color, Roughness=0.0)
    sheen = tree.add("BsdfSheen", distribution="ASHIKHMIN", Color=tree.color, Roughness=0.6)
    gloss = tree.add("BsdfAnisotropic", distribution="BECKMANN", Color=(0.8, 0.8, 0.8, 1.0), Roughness=0.35**0.5)
    body = tree.mix(tree.add("Fresnel", IOR=1.7).outputs[0], diffuse.outputs[0], sheen.outputs[0])
    return tree.finish(tree.mix(tree.add("Fresnel", IOR=1.2).outputs[0], body, gloss.outputs[0]))
