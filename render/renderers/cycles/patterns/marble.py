"""`marble`: clouds and thin veins of darker shades of the object's color."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `marble`."""

    scale: Positive = Field(1.1, description="of the clouds, per half of the object's height")
    width: Positive = Field(0.05, description="of veins, share of the clouds' range (no unit)")
    dark: float = Field(0.5, ge=0, le=1, description="lightness of the veins, share (no unit)")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output with the color."""
    noise = tree.add("TexNoise", Vector=tree.point(), Scale=parameters.scale, Detail=4.0, Distortion=1.2)
    near = tree.math("ABSOLUTE", tree.math("SUBTRACT", noise.outputs["Fac"], 0.5))
    stone = tree.add(
        "MapRange", Value=near, From_Min=0.0, From_Max=parameters.width, To_Min=parameters.dark, To_Max=1.0
    )
    return tree.shade(tree.color, stone.outputs[0])
