"""`grain`: painted wood, whose grain shows through the object's color."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `grain`."""

    scale: Positive = Field(1.6, description="of the rings, per half of the object's height")
    dark: float = Field(0.6, ge=0, le=1, description="lightness of the darkest rings, share (no unit)")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output with the color."""
    along = tree.add("VectorMath", operation="MULTIPLY", _0=tree.point(), _1=(1.0, 1.0, 0.15)).outputs[0]
    rings = tree.add("TexNoise", Vector=along, Scale=parameters.scale, Detail=2.0, Distortion=0.6).outputs["Fac"]
    band = tree.math("MULTIPLY", tree.math("PINGPONG", tree.math("MULTIPLY", rings, 9.0), 0.5), 2.0)
    return tree.shade(tree.color, tree.math("MULTIPLY_ADD", band, 1.0 - parameters.dark, parameters.dark))
