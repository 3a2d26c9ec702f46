"""`concrete`: a cast floor, with clouds of cement, fine grit and small pores."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import LinearColor, Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `concrete`."""

    color: LinearColor = Field((0.5, 0.49, 0.46), description="linear RGB of the cement")
    scale: Positive = Field(0.35, description="of the clouds, per Blender unit")
    clouds: float = Field(0.4, ge=0, le=1, description="how far places differ in lightness, share (no unit)")
    grit: float = Field(0.25, ge=0, le=1, description="how far grains differ in lightness, share (no unit)")
    pores: float = Field(0.5, ge=0, le=1, description="how dark pores are (no unit)")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    point = tree.point()
    clouds = tree.noise(point, parameters.scale, 4.0, 0.6)
    grit = tree.choose(tree.seen(0.045), tree.noise(point, 22.0, 1.0, 0.8), 0.5)
    cells = tree.add("TexVoronoi", voronoi_dimensions="2D", Vector=point, Scale=4.0, Randomness=1.0)
    # A quarter of the cells has a pore: one in each would look like a grid.
    some = tree.math("GREATER_THAN", tree.add("SeparateXYZ", _0=cells.outputs["Color"]).outputs[0], 0.75)
    size = {"From_Min": 0.03, "From_Max": 0.09, "To_Min": parameters.pores, "To_Max": 0.0}
    pore = tree.math("MULTIPLY", some, tree.add("MapRange", Value=cells.outputs["Distance"], **size).outputs[0])
    light = tree.math("MULTIPLY_ADD", clouds, 2 * parameters.clouds, 1.0 - parameters.clouds - parameters.grit / 2)
    rough = tree.math("ADD", light, tree.math("MULTIPLY", grit, parameters.grit))
    color = tree.shade(parameters.color, tree.math("MULTIPLY", rough, tree.math("SUBTRACT", 1.0, pore)))
    normal = tree.bump(tree.math("SUBTRACT", grit, pore), 0.012)
    return tree.add("BsdfDiffuse", Color=color, Normal=normal).outputs[0]
