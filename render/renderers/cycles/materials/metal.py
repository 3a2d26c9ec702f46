"""`metal`: the brushed metal of CLEVR, a mix of two anisotropic GGX reflections in the object's color.

The brush direction runs around the object's Z axis (Cycles' default tangent). The defaults are those of the published
CLEVR material.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import SpecModel

TRANSMISSIVE = False


class Parameters(SpecModel):
    """Parameters of `metal`."""

    roughness: float = Field(
        0.447, ge=0, le=1, description="roughness of the broad reflection (no unit); 0 is a mirror"
    )
    sharp_roughness: float = Field(0.1, ge=0, le=1, description="roughness of the sharp reflection (no unit)")
    sharpness: float = Field(0.6, ge=0, le=1, description="weight of the sharp reflection in the mix (no unit)")
    anisotropy: float = Field(0.25, ge=-1, le=1, description="anisotropy of both reflections (no unit); 0 is isotropic")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    shared = {"distribution": "GGX", "Color": tree.color, "Anisotropy": parameters.anisotropy}
    lobes = [
        tree.add("BsdfAnisotropic", Roughness=roughness, **shared).outputs[0]
        for roughness in (parameters.roughness, parameters.sharp_roughness)
    ]
    return tree.mix(parameters.sharpness, *lobes)
