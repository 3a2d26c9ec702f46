"""`planks`: a floor of wooden boards, with grain along them and narrow gaps."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import LinearColor, Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `planks`."""

    color: LinearColor = Field((0.58, 0.42, 0.26), description="linear RGB of the wood")
    width: Positive = Field(1.1, description="of a board, Blender units")
    length: Positive = Field(9.0, description="of a board, Blender units")
    turn: float = Field(20.0, ge=-360, le=360, description="of the boards about Z, degrees")
    grain: float = Field(0.35, ge=0, le=1, description="share of light that the grain takes (no unit)")
    boards: float = Field(0.22, ge=0, le=1, description="how far boards differ in lightness, share (no unit)")
    roughness: float = Field(0.4, ge=0, le=1, description="of the varnish (no unit); 0 is a mirror")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    point = tree.point(turn=parameters.turn)
    board, gap = tree.bricks(point, parameters.length, parameters.width, 0.024, 0.37)
    # Each board is cut from another place of the tree.
    along = tree.add("VectorMath", operation="MULTIPLY", _0=point, _1=(0.22, 3.2, 1.0)).outputs[0]
    cut = tree.moved(along, *(tree.math("MULTIPLY", board, far) for far in (37.0, 91.0)))
    rings = tree.noise(cut, 1.0, 2.0, 0.55, 0.7)
    # Rings are bands of the noise: their edges are what eyes take for grain.
    bands = tree.math("FRACT", tree.math("MULTIPLY", rings, 7.0))
    soft = tree.math("PINGPONG", bands, 0.5)
    fibers = tree.choose(tree.seen(0.035), tree.noise(cut, 9.0, 1.0, 0.6), 0.5)
    dark = tree.math("MULTIPLY", tree.math("ADD", soft, fibers), parameters.grain)
    light = tree.math("MULTIPLY_ADD", board, parameters.boards, 1.0 + parameters.grain / 2 - parameters.boards / 2)
    lightness = tree.math("SUBTRACT", light, dark)
    flat = tree.math("MULTIPLY_ADD", gap, -0.65, 1.0)
    color = tree.shade(parameters.color, tree.math("MULTIPLY", lightness, flat))
    return tree.glazed(color, 1.3, parameters.roughness, Normal=tree.bump(flat, 0.012))
