"""`glass`: the colored glass of MEWL, a smooth dielectric that refracts and reflects.

    parameter   type          default           meaning
    color       linear RGB    (from the object) tint of refracted and reflected light

    fixed       value         meaning
    IOR         1.1           index of refraction, inside over outside (no unit)
    roughness   0             Beckmann distribution; 0 is perfectly smooth

The values are those of the published MEWL material. Light passes through it, so images with much glass get more samples
(render/geometry/glass.py). The id and depth passes treat it as solid: objects behind it are hidden there.
"""

from __future__ import annotations

from typing import Any

from render.renderers.cycles.materials.nodes import Tree
from scene_specs.language.scene import SceneMaterial


def build(material: SceneMaterial) -> Any:
    """The Blender material."""
    tree = Tree("glass")
    return tree.finish(
        tree.add("BsdfGlass", distribution="BECKMANN", Color=tree.color, Roughness=0.0, IOR=1.1).outputs[0]
    )
