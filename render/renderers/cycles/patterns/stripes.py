"""`stripes`: bands of two shades of the object's color."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `stripes`."""

    width: Positive = Field(0.24, description="of a band, halves of the object's height")
    turn: float = Field(0.0, ge=-360, le=360, description="of the bands about Z, degrees")
    upright: bool = Field(False, description="whether bands stand instead of lying")
    dark: float = Field(0.62, ge=0, le=1, description="lightness of the darker shade, share (no unit)")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output with the color."""
    place = tree.add("SeparateXYZ", _0=tree.point(turn=parameters.turn, own=True))
    at = tree.math("DIVIDE", place.outputs[0 if parameters.upright else 2], parameters.width)
    second = tree.math("FLOORED_MODULO", tree.math("FLOOR", at), 2.0)
    return tree.shade(tree.color, tree.math("MULTIPLY_ADD", second, parameters.dark - 1.0, 1.0))
