"""`matte`: an ideal diffuse surface without highlights, with the object's color as its reflectance."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import SpecModel

TRANSMISSIVE = False


class Parameters(SpecModel):
    """Parameters of `matte`."""

    roughness: float = Field(0.0, ge=0, le=1, description="Oren-Nayar roughness (no unit); 0 is Lambertian")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    return tree.add("BsdfDiffuse", Color=tree.color, Roughness=parameters.roughness).outputs[0]
