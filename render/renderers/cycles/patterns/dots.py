"""`dots`: round dots of a darker shade of the object's color, in a regular grid."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `dots`."""

    distance: Positive = Field(0.5, description="of the centers of dots, halves of the object's height")
    radius: Positive = Field(0.15, description="of a dot, halves of the object's height")
    dark: float = Field(0.55, ge=0, le=1, description="lightness of the dots, share (no unit)")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output with the color."""
    # Without randomness, the cells of this texture are cubes about a point each.
    cells = tree.add("TexVoronoi", Vector=tree.point(own=True), Scale=1 / parameters.distance, Randomness=0.0)
    outside = tree.math("GREATER_THAN", cells.outputs["Distance"], parameters.radius / parameters.distance)
    return tree.shade(tree.color, tree.math("MULTIPLY_ADD", outside, 1.0 - parameters.dark, parameters.dark))
