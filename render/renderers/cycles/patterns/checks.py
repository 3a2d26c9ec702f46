"""`checks`: cubes of two shades of the object's color, in turns."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `checks`."""

    side: Positive = Field(0.4, description="of a field, halves of the object's height")
    dark: float = Field(0.62, ge=0, le=1, description="lightness of the darker shade, share (no unit)")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output with the color."""
    fields = tree.add("TexChecker", Vector=tree.point(own=True), Scale=1 / parameters.side).outputs["Fac"]
    return tree.shade(tree.color, tree.math("MULTIPLY_ADD", fields, 1.0 - parameters.dark, parameters.dark))
