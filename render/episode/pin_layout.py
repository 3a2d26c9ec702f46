"""A spec with what the compiler decided written into it: one thing can be changed and all others stay.

Compiled again, a settled spec gives the very Scene that it was settled by; `pin_layout` has made sure of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from render.compiler import compile_episode
from render.model.errors import DioramaError, UsageError
from render.model.json_diff import differences, preview_json
from render.model.scene import Scene, SceneFrame, SceneObject, SceneView
from scene_specs.language.model_names import is_model
from scene_specs.language.spec import AreaSpec, CameraSpec, EpisodeSpec, FrameSpec, LightSpec, ObjectSpec, object_name
from scene_specs.language.stage import load_stage
from scene_specs.reading.source import parse_episode

# Kinds of constraint that hold for whole layouts: with every place given the compiler may read them more strictly
# than it did when it searched (beside a pointer, an axis margin counts along right only).
_OF_LAYOUTS = ("axis_margin", "min_distance", "in_frame", "min_visible_pixels")


def pin_layout(spec: EpisodeSpec, scene: Scene, asset_roots: Sequence[Path] = ()) -> EpisodeSpec:
    """`spec` with every place, turn, look, camera and light of `scene`.

    Constraints stay, so a change that breaks a stated relation is refused; where given places can't be held to the
    frame's layout constraints, those are left out and the relations stay. Raises UsageError if the spec language can't
    state what the Scene has, with the first place that would change.
    """
    problem = ""
    area = load_stage(spec.stage).placement.area
    for strict in (True, False):
        frames = [_frame(frame, scene.frames[k], area, strict) for k, frame in enumerate(spec.frames)]
        try:
            # Through text: what a model holds is not checked again by model_copy.
            settled = parse_episode(spec.model_copy(update={"frames": tuple(frames)}).model_dump_json())
            again = compile_episode(settled, scene.settings, asset_roots)
        except DioramaError as error:
            problem = str(error)
            continue
        found = next(_moved(scene, again), None)
        if found is None:
            assert isinstance(settled, EpisodeSpec)
            return settled
        problem = found
    raise UsageError(
        f"episode {spec.id}: what was decided can't be held by its spec: {problem}; use --set-scene, which changes the "
        "Scene itself, or --recompile, which decides anew what the spec leaves open"
    )


def _moved(old: Scene, new: Scene) -> Iterator[str]:
    before, after = (scene.model_dump(mode="json")["frames"] for scene in (old, new))
    for path, a, b in differences(before, after):
        yield f"frames{path} {preview_json(a)} would become {preview_json(b)}"


def _frame(frame: FrameSpec, decided: SceneFrame, area: AreaSpec, strict: bool) -> FrameSpec:
    pointer = decided.objects[decided.pointer.index - 1] if decided.pointer is not None else None
    standing = [item for item in decided.objects if item is not pointer]
    around = _area(frame.area or area, standing)
    named = [*frame.objects, *(ObjectSpec() for _ in standing[len(frame.objects) :])]
    update: dict[str, Any] = {
        "objects": tuple(_object(spec, item, k) for k, (spec, item) in enumerate(zip(named, standing, strict=True))),
        "random_objects": None,
        "lights": _lights(frame, decided),
        "area": frame.area if around == area else around,
    }
    if frame.views:
        pairs = zip(frame.views, decided.views, strict=True)
        update["views"] = tuple(view.model_copy(update=_camera(view, seen)) for view, seen in pairs)
    else:
        camera = frame.camera or CameraSpec()
        update["camera"] = camera.model_copy(update=_camera(camera, decided.views[0]))
    if frame.pointer is not None and pointer is not None:
        update["pointer"] = frame.pointer.model_copy(update={"location": pointer.location})
    if not strict:
        kept = (c for c in frame.constraints if all(getattr(c, kind) is None for kind in _OF_LAYOUTS))
        update["constraints"] = tuple(kept)
    return frame.model_copy(update=update)


def _area(area: AreaSpec, standing: Sequence[SceneObject]) -> AreaSpec:
    """Beside a pointer the stage's own rules may place objects outside the area; given places must lie in it."""
    xs, ys = ([item.location[k] for item in standing] for k in (0, 1))
    return AreaSpec(x=(min([area.x[0], *xs]), max([area.x[1], *xs])), y=(min([area.y[0], *ys]), max([area.y[1], *ys])))


def _object(spec: ObjectSpec, item: SceneObject, index: int) -> ObjectSpec:
    """What the spec leaves open, from the Scene. What is given in other words stays in them: a place, a view."""
    x, y, z = item.location
    decided: dict[str, Any] = {"name": object_name(spec, index), "shape": item.outline or item.shape}
    if not is_model(item.shape):
        # A model's own looks are what it has where none is given.
        decided |= {"color": item.color, "material": item.material.name}
    if spec.place is None:
        # Two numbers stand it on the ground, also when its size is changed.
        decided["location"] = (x, y) if z == item.scale else item.location
        if spec.normalize is not False and spec.footprint is None:
            decided["size"] = item.size or item.scale
    if spec.view is None:
        decided["rotation_deg"] = item.rotation_deg
    return spec.model_copy(update={name: value for name, value in decided.items() if getattr(spec, name) is None})


def _camera(spec: CameraSpec, view: SceneView) -> dict[str, Any]:
    # One that stands about its objects goes on doing so.
    if any(value is not None for value in (spec.yaw_deg, spec.elevation_deg, spec.distance, spec.framing)):
        return {}
    camera = view.camera
    decided = {"location": camera.location, "look_at": camera.look_at, "lens": camera.lens, "jitter": 0.0}
    return {**decided, "sensor_width": camera.sensor_width}


def _lights(frame: FrameSpec, decided: SceneFrame) -> tuple[LightSpec, ...]:
    given = {light.name: light for light in frame.lights}
    lights = []
    for light in decided.lights:
        update: dict[str, Any] = {"energy": light.energy, "color": light.color}
        if light.kind == "area":
            update |= {"location": light.location, "jitter": 0.0}
        lights.append(given.get(light.name, LightSpec(name=light.name)).model_copy(update=update))
    return tuple(lights)
