"""`stone`: pale slabs of limestone or marble, with clouds, veins, small grains and narrow joints."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import LinearColor, Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `stone`."""

    color: LinearColor = Field((0.6, 0.57, 0.51), description="linear RGB of the stone")
    vein: LinearColor = Field((0.36, 0.33, 0.29), description="linear RGB of the veins")
    scale: Positive = Field(0.45, description="of the clouds, per Blender unit")
    clouds: float = Field(0.3, ge=0, le=1, description="how far places differ in lightness, share (no unit)")
    veins: float = Field(0.55, ge=0, le=1, description="how strong veins are (no unit)")
    roughness: float = Field(0.35, ge=0, le=1, description="of the polish (no unit); 0 is a mirror")
    slab: Positive = Field(4.5, description="side of a slab, Blender units")
    turn: float = Field(35.0, ge=-360, le=360, description="of slabs and veins about Z, degrees")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    floor = tree.point(turn=parameters.turn)
    slab, joint = tree.bricks(floor, parameters.slab, parameters.slab, 0.025, 0.5)
    # Each slab is cut from another place.
    point = tree.moved(floor, tree.math("MULTIPLY", slab, 50.0))
    clouds = tree.noise(point, parameters.scale, 5.0, 0.62, 0.4)
    # Veins follow the clouds where these cross their mean: thin lines that branch and fade.
    stretched = tree.add("VectorMath", operation="MULTIPLY", _0=point, _1=(0.1, 0.4, 1.0)).outputs[0]
    fold = tree.noise(stretched, 1.0, 4.0, 0.55, 0.4)
    near = tree.math("ABSOLUTE", tree.math("SUBTRACT", fold, 0.5))
    line = tree.add("MapRange", Value=near, From_Min=0.0, From_Max=0.03, To_Min=1.0, To_Max=0.0).outputs[0]
    # They come and go along their way, which breaks the rings that such lines are.
    strong = tree.add(
        "MapRange", Value=clouds, From_Min=0.45, From_Max=0.65, To_Min=0.0, To_Max=parameters.veins
    ).outputs[0]
    faded = tree.math("MULTIPLY", line, strong)
    grains = tree.noise(point, 14.0, 1.0, 0.7)
    light = tree.math("MULTIPLY_ADD", clouds, 2 * parameters.clouds, 0.95 - parameters.clouds)
    speckled = tree.math("ADD", light, tree.math("MULTIPLY", grains, 0.1))
    strong_joint = tree.math("MULTIPLY", joint, 0.6)
    color = tree.blend(
        tree.math("MAXIMUM", faded, strong_joint), tree.shade(parameters.color, speckled), parameters.vein
    )
    return tree.glazed(color, 1.3, parameters.roughness)
