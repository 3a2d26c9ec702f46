"""`emission`: a surface that glows in its color and lights its surroundings.

It takes its color from the object; at strength 1 the image shows the color exactly.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import SpecModel

TRANSMISSIVE = False
EMISSIVE = True


class Parameters(SpecModel):
    """Parameters of `emission`."""

    strength: float = Field(1.0, gt=0, le=1e4, description="multiplier of the emitted radiance (no unit)")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    return tree.add("Emission", Color=tree.color, Strength=parameters.strength).outputs[0]
