"""`original` and `painted`: the materials that a model brings along.

color       linear RGB, or a texture in sRGB; replaced by the object's color where the object's alpha is 1 (`painted`)
roughness, metallic, specular, alpha    as Blender's Principled BSDF means them

Both sides of a face look alike: models of the wild have faces of either direction.
"""

from __future__ import annotations

from typing import Any

from render.geometry.shapenet import ModelMaterial
from render.renderers.cycles.materials.nodes import Tree


def build(look: ModelMaterial, image: Any | None) -> Any:
    """The Blender material of one of a model's materials. image: its texture's datablock."""
    tree = Tree(f"model {look.name}"[:60])
    mix = tree.add("Mix", data_type="RGBA", blend_type="MIX")
    factor, first, second = (next(s for s in mix.inputs if s.identifier == name) for name in _MIX_INPUTS)
    tree.link(tree.alpha, factor)
    tree.link(tree.color, second)
    if image is None:
        first.default_value = (*look.color, 1.0)
    else:
        picture = tree.add("TexImage", interpolation="Linear", extension="REPEAT")
        picture.image = image
        tree.link(picture.outputs["Color"], first)
    body = tree.add("BsdfPrincipled", Roughness=look.roughness, Metallic=look.metallic, Alpha=look.alpha)
    body.inputs["Specular IOR Level"].default_value = look.specular
    tree.link(next(s for s in mix.outputs if s.identifier == "Result_Color"), body.inputs["Base Color"])
    return tree.finish(body.outputs[0])


# A mix node has inputs of all types under the same names; only identifiers tell them apart.
_MIX_INPUTS = ("Factor_Float", "A_Color", "B_Color")
