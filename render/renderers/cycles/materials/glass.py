"""`glass`: the colored glass of MEWL, a dielectric that refracts and reflects.

The object's color tints refracted and reflected light. The defaults are those of the published MEWL material. Light
passes through it, so images with much glass get more samples (render/geometry/sampling_plan.py). The id and depth
passes treat it as solid: objects behind it are hidden there. Window glass has an index of refraction of 1.5, water
1.33.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import SpecModel

TRANSMISSIVE = True


class Parameters(SpecModel):
    """Parameters of `glass`."""

    ior: float = Field(1.1, ge=1, le=4, description="index of refraction, inside over outside (no unit)")
    roughness: float = Field(0.0, ge=0, le=1, description="Beckmann roughness (no unit); 0 is perfectly smooth")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    inputs = {"Roughness": parameters.roughness, "IOR": parameters.ior}
    return tree.add("BsdfGlass", distribution="BECKMANN", Color=tree.color, **inputs).outputs[0]
