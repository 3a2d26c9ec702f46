"""`fabric`: a cloth of crossing threads of uneven thickness."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from diorama.scene_specs.model.spec import LinearColor, NotNegative, Positive, SpecModel


class Parameters(SpecModel):
    """Parameters of `fabric`."""

    color: LinearColor = Field((0.62, 0.58, 0.5), description="linear RGB of the threads")
    thread: Positive = Field(0.11, description="distance of threads, Blender units")
    uneven: float = Field(0.3, ge=0, le=1, description="how far threads differ in lightness, share (no unit)")
    depth: NotNegative = Field(0.02, description="of the weave, Blender units")
    turn: float = Field(8.0, ge=-360, le=360, description="of the threads about Z, degrees")


def build(tree: Any, parameters: Parameters) -> Any:
    """Return the output of the surface's shader."""
    point = tree.point(turn=parameters.turn)
    place = tree.add("SeparateXYZ", _0=point)
    per = 1 / parameters.thread
    # Threads are thicker here and there along their length, and each has its own tone.
    waves, tones = [], []
    for across, along in ((0, 1), (1, 0)):
        at, other = (tree.math("MULTIPLY", place.outputs[k], per) for k in (across, along))
        number = tree.math("FLOOR", at)
        slub = tree.add(
            "CombineXYZ", X=tree.math("MULTIPLY", number, 7.3), Y=tree.math("MULTIPLY_ADD", other, 0.12, 51.3 * across)
        )
        tones.append(tree.noise(slub.outputs[0], 1.0, 1.0, 0.5))
        waves.append(tree.math("PINGPONG", tree.math("FRACT", at), 0.5))
    # Over and under: which thread is on top alternates like the fields of a chess board.
    checks = tree.add(
        "TexChecker", Vector=tree.add("VectorMath", operation="SCALE", _0=point, Scale=per).outputs[0], Scale=1.0
    )
    over = checks.outputs["Fac"]
    height = tree.math("ADD", tree.choose(over, *waves), tree.choose(over, waves[1], waves[0]), 0.0)
    round_ = tree.math("MULTIPLY_ADD", tree.choose(over, *waves), 1.4, 0.3)
    tone = tree.math("MULTIPLY_ADD", tree.choose(over, *tones), 2 * parameters.uneven, 1.0 - parameters.uneven)
    light = tree.math("MULTIPLY", tone, tree.math("MULTIPLY_ADD", round_, 0.5, 0.62))
    seen = tree.seen(parameters.thread / 3)
    color = tree.shade(parameters.color, tree.choose(seen, light, 0.945))
    normal = tree.bump(tree.math("MULTIPLY", height, seen), parameters.depth)
    return tree.add("BsdfDiffuse", Color=color, Roughness=0.6, Normal=normal).outputs[0]
