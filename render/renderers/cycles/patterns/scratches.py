"""`scratches`: worn paint, with fine lines in a lighter and a darker shade of the object's color."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `scratches`."""

    scale: Positive = Field(2.2, description="of the lines, per half of the object's height")
    worn: float = Field(0.35, ge=0, le=1, description="how far lines and spots differ in lightness, share (no unit)")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output with the color."""
    shades = []
    for stretch in ((1.0, 14.0, 3.0), (9.0, 1.0, 12.0)):
        along = tree.add("VectorMath", operation="MULTIPLY", _0=tree.point(), _1=stretch).outputs[0]
        line = tree.add("TexNoise", Vector=along, Scale=parameters.scale, Detail=1.0, Roughness=0.8).outputs["Fac"]
        shades.append(tree.add("MapRange", Value=line, From_Min=0.62, From_Max=0.72).outputs[0])
    worn = tree.math("SUBTRACT", *shades)
    return tree.shade(tree.color, tree.math("MULTIPLY_ADD", worn, parameters.worn, 1.0))
