"""`metal`: the brushed metal of CLEVR, a mix of two anisotropic reflections.

    parameter   type          default           meaning
    color       linear RGB    (from the object) reflectance of both lobes

    fixed       value         meaning
    roughness   0.447, 0.1    of the two GGX lobes, 0 is smooth
    mix         0.6           share of the sharper lobe
    anisotropy  0.25          of both lobes, 0 is isotropic

The brush direction runs around the object's Z axis (Cycles' default tangent). The values are those of the published
CLEVR material.
"""

from __future__ import annotations

from typing import Any

from render.renderers.cycles.materials.nodes import Tree
from scene_specs.language.scene import SceneMaterial


def build(material: SceneMaterial) -> Any:
    """The Blender material."""
    tree = Tree("metal")
    lobes = [
        tree.add("BsdfAnisotropic", distribution="GGX", Color=tree.color, Roughness=roughness, Anisotropy=0.25)
        for roughness in (0.447, 0.1)
    ]
    return tree.finish(tree.mix(0.6, lobes[0].outputs[0], lobes[1].outputs[0]))
