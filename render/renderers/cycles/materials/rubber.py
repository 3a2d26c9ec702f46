"""`rubber`: the dull plastic of CLEVR, a diffuse body under a soft sheen and a broad white highlight.

Body and sheen have the object's color. A Fresnel term of index 1.7 mixes the Ashikhmin sheen over the Lambertian body,
another of index `ior` mixes the highlight, a Beckmann reflection of white 0.8, over both. The defaults are those of the
published CLEVR material.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import SpecModel

TRANSMISSIVE = False


class Parameters(SpecModel):
    """Parameters of `rubber`."""

    roughness: float = Field(0.35**0.5, ge=0, le=1, description="roughness of the highlight (no unit); 0 is a mirror")
    sheen_roughness: float = Field(0.6, ge=0, le=1, description="roughness of the sheen (no unit)")
    ior: float = Field(1.2, ge=1, le=4, description="index of refraction of the highlight (no unit)")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    diffuse = tree.add("BsdfDiffuse", Color=tree.color, Roughness=0.0)
    sheen = tree.add("BsdfSheen", distribution="ASHIKHMIN", Color=tree.color, Roughness=parameters.sheen_roughness)
    white = {"distribution": "BECKMANN", "Color": (0.8, 0.8, 0.8, 1.0)}
    gloss = tree.add("BsdfAnisotropic", Roughness=parameters.roughness, **white)
    body = tree.mix(tree.fresnel(1.7), diffuse.outputs[0], sheen.outputs[0])
    return tree.mix(tree.fresnel(parameters.ior), body, gloss.outputs[0])
