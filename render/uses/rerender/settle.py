"""Let objects fall until they rest, with MuJoCo: for `render-specs settle`, and to check what would fall.

A simulation is not exact on every machine, so nothing compiles through it: its result is written into the spec.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diorama.render.compiler import compile_episode
from diorama.render.geometry.forms import Form, form_of
from diorama.render.uses.rerender.pin_layout import pin_layout
from diorama.scene_specs.asset_roots import in_asset_roots
from diorama.scene_specs.errors import CompileError, SpecError, UsageError
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneObject, Settings
from diorama.scene_specs.model.spec import EpisodeSpec, FrameSpec, object_name
from diorama.scene_specs.model.stage import load_stage
from diorama.scene_specs.rotation import Floats, matrix_euler, matrix_quaternion, rotation_matrix, rounded3

# Seconds: of a step, of the longest simulation, and for which everything must be slow enough to rest.
_STEP, LONGEST, _REST = 0.002, 10.0, 0.25
# Blender units per second (and radians) up to which an object rests, and of the random push at the start.
_SLOW, _PUSH = 0.01, 0.05
# Without rolling friction, nothing round comes to rest. Soft contacts would sink by more than the contact check allows.
_WORLD = f"""
<option timestep="{_STEP}" gravity="0 0 -9.81" cone="elliptic" impratio="10"/>
<default><geom friction="0.8 0.02 0.02" condim="6" solref="0.005 1" density="1000"/></default>
"""


@dataclass(frozen=True)
class Settled:
    """What became of a frame.

    Attributes:
        objects: all of them, those that fell where they ended.
        restless: names of those that still move.
        steps: number of steps of the simulation.
    """

    objects: tuple[SceneObject, ...]
    restless: tuple[str, ...]
    steps: int


@in_asset_roots
def settle(spec: EpisodeSpec | Scene, settings: Settings, asset_roots: Sequence[Path] = ()) -> EpisodeSpec:
    """Return a spec with the resting poses of the objects that drop, and with all that the compiler decided as numbers.

    Raises:
        CompileError: no layout was found, or an object does not come to rest.
        UsageError: MuJoCo is not installed, a Scene was passed, no object drops, the stage has no ground, or the
            resting places break a constraint.
        AssetError: a mesh can't be read.
    """
    if isinstance(spec, Scene):
        raise UsageError(f"episode {spec.id}: found a resolved scene, whose objects are where they are; give its spec")
    if not any(item.drop for frame in spec.frames for item in frame.objects):
        raise UsageError(f'episode {spec.id}: no object drops; give those that should fall `"drop": true`')
    if load_stage(spec.stage).ground is None:
        raise UsageError(f"episode {spec.id}: stage {spec.stage!r} has no ground to fall on; choose another stage")
    scene = compile_episode(spec, settings, asset_roots)
    frames, written = list(scene.frames), list(spec.frames)
    for k, frame in enumerate(spec.frames):
        if free := [object_name(item, j) for j, item in enumerate(frame.objects) if item.drop]:
            frames[k], written[k] = _settled_frame(spec, frame, scene.frames[k], free)
    scene = scene.model_copy(update={"frames": tuple(frames)})
    try:
        return pin_layout(spec.model_copy(update={"frames": tuple(written)}), scene, asset_roots, relax=False)
    except (CompileError, SpecError) as error:
        raise UsageError(f"at rest: {error}; drop the objects elsewhere, or change the constraint") from error


def _settled_frame(
    spec: EpisodeSpec, frame: FrameSpec, scene: SceneFrame, free: Sequence[str]
) -> tuple[SceneFrame, FrameSpec]:
    push = generator(spec.seed, spec.id, "settle").uniform(-_PUSH, _PUSH, (len(free), 3))
    result = simulate(scene.objects, dict(zip(free, push, strict=True)))
    if result.restless:
        names = ", ".join(result.restless)
        problem = f"{names} did not come to rest in {LONGEST:g} s; start lower or on a flat face, or leave out `drop`"
        error = CompileError(problem)
        error.episode, error.frame = spec.id, scene.name
        raise error
    engine = f"mujoco {load_mujoco().__version__}"
    origin = {"engine": engine, "seed": spec.seed, "steps": result.steps, "objects": [*free]}
    truth = {**(frame.truth or {}), "settled": origin}
    # Without its start, pin_layout writes the end.
    start = dict.fromkeys(("location", "rotation_deg", "place", "view")) | {"drop": False}
    kept = tuple(item.model_copy(update=start if item.drop else {}) for item in frame.objects)
    return (
        scene.model_copy(update={"objects": result.objects, "truth": truth}),
        frame.model_copy(update={"objects": kept, "truth": truth}),
    )


def load_mujoco() -> Any:
    """Return the module of MuJoCo. Raises UsageError if it is not installed."""
    try:
        import mujoco
    except ImportError:
        raise UsageError("settle needs MuJoCo, which is not installed: pip install 'diorama-render[physics]'") from None
    return mujoco


def simulate(objects: Sequence[SceneObject], push: dict[str, Any], seconds: float = LONGEST) -> Settled:
    """Let objects fall on the ground and on each other until all rest.

    Args:
        push: name -> speed at the start, (3,) Blender units per second, of each object that is free.
        seconds: length of the longest simulation.

    Raises:
        UsageError: MuJoCo is not installed.
        AssetError: a mesh can't be read.
    """
    mujoco = load_mujoco()
    model = mujoco.MjModel.from_xml_string(_world_xml(objects, push))
    data = mujoco.MjData(model)
    names = [item.name for item in objects if item.name in push]
    for k, name in enumerate(names):
        data.qvel[6 * k : 6 * k + 3] = push[name]
    # The last step in which each object moved: one that swings stops for a moment.
    steps, last = 0, np.zeros(len(names))
    while steps < seconds / _STEP and steps - last.max(initial=0) < _REST / _STEP:
        mujoco.mj_step(model, data)
        steps += 1
        last[~(np.abs(data.qvel.reshape(-1, 6)) < _SLOW).all(axis=1)] = steps
    restless = tuple(name for name, step in zip(names, last, strict=True) if steps - step < _REST / _STEP)
    moved = {}
    for item in objects:
        if item.name in push:
            body = data.body(_body_name(item))
            place = {
                "location": rounded3(body.xpos),
                "rotation_deg": rounded3(np.degrees(matrix_euler(body.xmat.reshape(3, 3).tolist()))),
            }
            moved[item.name] = item.model_copy(update=place)
    return Settled(tuple(moved.get(item.name, item) for item in objects), restless, steps)


def _body_name(item: SceneObject) -> str:
    return f"body-{item.index}"


def _world_xml(objects: Sequence[SceneObject], free: Collection[str]) -> str:
    """Return the world in MuJoCo's XML."""
    assets, bodies = [], ['<geom type="plane" size="0 0 1"/>']
    for item in objects:
        form, geoms = form_of(item.shape, item.outline), []
        if item.shape == "sphere":
            geoms.append(f'<geom type="sphere" size="{item.scale!r}"/>')
        for k, points in enumerate(_convex_parts(form) if not geoms else ()):
            assets.append(f'<mesh name="{item.index}-{k}" vertex="{_numbers_text(points * item.scale)}"/>')
            geoms.append(f'<geom type="mesh" mesh="{item.index}-{k}"/>')
        quaternion = _numbers_text(np.array(matrix_quaternion(rotation_matrix(item.rotation_deg))))
        joint = "<freejoint/>" if item.name in free else ""
        start = f'<body name="{_body_name(item)}" pos="{_numbers_text(np.array(item.location))}" quat="{quaternion}">'
        bodies.append(f"{start}{joint}{''.join(geoms)}</body>")
    return f"<mujoco>{_WORLD}<asset>{''.join(assets)}</asset><worldbody>{''.join(bodies)}</worldbody></mujoco>"


def _convex_parts(form: Form) -> Iterator[Floats]:
    """Points whose convex hulls make up a form: a hull of all would close a bowl with a lid."""
    if not form.cavities:
        yield form.vertices
        return
    for part in form.parts:
        for_each = [np.column_stack([part.outline, np.full(len(part.outline), z)]) for z in (part.low, part.high)]
        yield np.concatenate(for_each)


def _numbers_text(numbers: Floats) -> str:
    return " ".join(map(repr, np.ravel(numbers).tolist()))
