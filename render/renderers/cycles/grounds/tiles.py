"""`tiles`: square ceramic tiles, each of its own tone, with grout between them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import LinearColor, Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `tiles`."""

    color: LinearColor = Field((0.6, 0.58, 0.53), description="linear RGB of the tiles")
    grout: LinearColor = Field((0.3, 0.29, 0.27), description="linear RGB of the grout")
    side: Positive = Field(1.9, description="of a tile, Blender units")
    gap: Positive = Field(0.035, description="width of the grout, Blender units")
    turn: float = Field(12.0, ge=-360, le=360, description="of the rows about Z, degrees")
    tones: float = Field(0.16, ge=0, le=1, description="how far tiles differ in lightness, share (no unit)")
    clouds: float = Field(0.14, ge=0, le=1, description="how far places in a tile differ in lightness, share (no unit)")
    roughness: float = Field(0.28, ge=0, le=1, description="of the glaze (no unit); 0 is a mirror")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    point = tree.point(turn=parameters.turn)
    tile, grout = tree.bricks(point, parameters.side, parameters.side, parameters.gap)
    # Each tile has clouds of its own.
    clouds = tree.noise(tree.moved(point, tree.math("MULTIPLY", tile, 50.0)), 1.4, 3.0, 0.62, 0.5)
    tone = tree.math("MULTIPLY_ADD", tile, parameters.tones, 1.0 - parameters.tones / 2)
    light = tree.math("ADD", tone, tree.math("MULTIPLY_ADD", clouds, 2 * parameters.clouds, -parameters.clouds))
    color = tree.blend(grout, tree.shade(parameters.color, light), parameters.grout)
    # Grout is lower, and dull.
    glaze = tree.math("SUBTRACT", 1.0, grout)
    return tree.glazed(color, 1.35, parameters.roughness, glaze, Normal=tree.bump(glaze, 0.02))
