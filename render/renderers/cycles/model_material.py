"""`original`, `painted` and `unlit`: the materials that a model brings along.

    parameter   type          default           meaning
    color       linear RGB    0.5               base color of the model's material
    texture     sRGB image    none              base color from the texture coordinates, in place of `color`
    roughness   number 0-1    0.5               0 is smooth
    metallic    number 0-1    0                 0 is a dielectric, 1 a metal
    specular    number 0-1    0.5               level of the dielectric reflection
    alpha       number 0-1    1                 opacity

All are inputs of Blender's Principled BSDF, read from the model's files. With `painted`, the object's color replaces
the base color: a mix node uses it where the alpha of the object's color is 1. With `unlit`, the model emits the color
or texture, whatever the light. Both sides of a face look alike, because models of unknown origin have faces of
either orientation.
"""

from __future__ import annotations

from typing import Any

from diorama.render.geometry.shapenet import ModelMaterial
from diorama.render.renderers.cycles.node_tree import Tree


def build_model_material(look: ModelMaterial, image: Any | None) -> Any:
    """The Blender material of one material of a model.

    Args:
        image: data-block of its texture, or None.
    """
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


def build_unlit(look: ModelMaterial, image: Any | None, wraps: bool) -> Any:
    """The material that emits the color or texture.

    The color at a point is the bilinear mean of the sRGB values of the four nearest texels, whose alpha is ignored.

    Args:
        wraps: whether texture coordinates leave the image.
    """
    tree = Tree(f"unlit {look.name}"[:60])
    color: Any = (*look.color, 1.0)
    if image is not None:
        # Otherwise the last texels would be mixed with those of the opposite edge.
        picture = tree.add("TexImage", interpolation="Linear", extension="REPEAT" if wraps else "EXTEND")
        picture.image = image
        image.alpha_mode = "NONE"
        color = picture.outputs["Color"]
    return tree.finish(tree.add("Emission", Color=color).outputs[0])


# The inputs of a mix node have the same names for all types; only their identifiers differ.
_MIX_INPUTS = ("Factor_Float", "A_Color", "B_Color")
