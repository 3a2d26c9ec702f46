"""`sand`: dry sand, with grains of several tones and shallow ripples."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import LinearColor, NotNegative, Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `sand`."""

    color: LinearColor = Field((0.62, 0.52, 0.37), description="linear RGB of the grains")
    grain: Positive = Field(0.035, description="size of grains, Blender units")
    tones: float = Field(0.2, ge=0, le=1, description="how far grains differ in lightness, share (no unit)")
    ripples: NotNegative = Field(0.12, description="height of ripples, Blender units")
    turn: float = Field(40.0, ge=-360, le=360, description="of the ripples about Z, degrees")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    point = tree.point(turn=parameters.turn)
    grains = tree.add("TexVoronoi", voronoi_dimensions="2D", Vector=point, Scale=1 / parameters.grain, Randomness=1.0)
    any_tone = tree.add("SeparateXYZ", _0=grains.outputs["Color"]).outputs[0]
    tone = tree.choose(tree.seen(parameters.grain), any_tone, 0.5)
    drift = tree.noise(point, 0.5, 2.0, 0.5)
    across = tree.add("SeparateXYZ", _0=point).outputs[0]
    phase = tree.math("MULTIPLY_ADD", drift, 9.0, tree.math("MULTIPLY", across, 4.0))
    ripple = tree.math("MULTIPLY_ADD", tree.math("SINE", phase), 0.5, tree.math("MULTIPLY", drift, 1.5))
    light = tree.math("MULTIPLY_ADD", tone, parameters.tones, 1.05 - parameters.tones / 2)
    color = tree.shade(parameters.color, tree.math("MULTIPLY", light, tree.math("MULTIPLY_ADD", ripple, 0.12, 0.9)))
    rough = tree.math("MULTIPLY_ADD", tone, 0.025, ripple)
    return tree.add("BsdfDiffuse", Color=color, Roughness=0.4, Normal=tree.bump(rough, parameters.ripples)).outputs[0]
