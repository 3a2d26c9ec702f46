"""`matte`: an ideal diffuse (Lambertian) surface without highlights.

parameter   type          default           meaning
color       linear RGB    (from the object) diffuse reflectance

fixed       value         meaning
roughness   0             Lambertian; larger values would be Oren-Nayar
"""

from __future__ import annotations

from typing import Any

from render.renderers.cycles.materials.nodes import Tree
from scene_specs.language.scene import SceneMaterial


def build(material: SceneMaterial) -> Any:
    """The Blender material."""
    tree = Tree("matte")
    return tree.finish(tree.add("BsdfDiffuse", Color=tree.color, Roughness=0.0).outputs[0])
