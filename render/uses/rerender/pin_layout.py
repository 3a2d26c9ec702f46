"""Write the compiler's choices into a spec, so that one of them can be edited while the others stay.

A pinned spec compiles to the same Scene again; `pin_layout` verifies this.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diorama.render.compiler import compile_episode
from diorama.scene_specs.errors import DioramaError, UsageError
from diorama.scene_specs.language.json_diff import differences, preview_json
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneObject, SceneView
from diorama.scene_specs.model.spec import (
    AreaSpec,
    CameraSpec,
    EpisodeSpec,
    FrameSpec,
    LightSpec,
    ObjectSpec,
    object_name,
)
from diorama.scene_specs.model.stage import load_stage
from diorama.scene_specs.reading.source import parse_episode

# Constraints on the complete layout. With every location specified the compiler may apply them more strictly than in
# its search (beside a pointer, the axis margin holds along `right` only).
_LAYOUT_CONSTRAINTS = ("axis_margin", "min_distance", "in_frame", "min_visible_pixels")


def pin_layout(spec: EpisodeSpec, scene: Scene, asset_roots: Sequence[Path] = (), relax: bool = True) -> EpisodeSpec:
    """Write every location, rotation, appearance, camera and light of a Scene into its spec.

    Constraints stay, so an edit that breaks a stated relation is an error. Where the specified locations don't satisfy
    the layout constraints of a frame, these are dropped and only the relations stay, or with `relax` off, refused.

    Args:
        spec: spec that the Scene was compiled from.
        scene: Scene with the layout.
        asset_roots: folders of .blend materials and meshes.
        relax: drop layout constraints that do not hold.

    Raises:
        CompileError, SpecError: with `relax` off, a constraint does not hold.
        UsageError: the spec language can't describe the Scene; names the first value that would change.
    """
    problem = ""
    area = load_stage(spec.stage).placement.area
    for strict in (True, False) if relax else (True,):
        frames = [_pin_frame(frame, scene.frames[k], area, strict) for k, frame in enumerate(spec.frames)]
        try:
            # Parsed from text, because model_copy does not validate.
            pinned: EpisodeSpec = parse_episode(spec.model_copy(update={"frames": tuple(frames)}).model_dump_json())
            recompiled = compile_episode(pinned, scene.settings, asset_roots)
        except DioramaError as error:
            if not relax:
                raise
            problem = str(error)
            continue
        before, after = (resolved.model_dump(mode="json")["frames"] for resolved in (scene, recompiled))
        difference = next(differences(before, after), None)
        if difference is None:
            return pinned
        path, old, new = difference
        problem = f"frames{path} {preview_json(old)} would become {preview_json(new)}"
    raise UsageError(
        f"episode {spec.id}: its spec can't describe the stored layout: {problem}; use --set-scene to edit the Scene "
        "itself, or --recompile to sample again what the spec leaves open"
    )


def _pin_frame(frame: FrameSpec, decided: SceneFrame, area: AreaSpec, strict: bool) -> FrameSpec:
    pointer = decided.objects[decided.pointer.index - 1] if decided.pointer is not None else None
    people = {observer.index: spec for observer, spec in zip(decided.observers, frame.observers, strict=True)}
    standing = [item for item in decided.objects if item is not pointer and item.index not in people]
    around = _area_for(frame.area or area, decided.objects if pointer is None else standing)
    named = [*frame.objects, *(ObjectSpec() for _ in standing[len(frame.objects) :])]
    update: dict[str, Any] = {
        "objects": tuple(_pin(spec, item, k) for k, (spec, item) in enumerate(zip(named, standing, strict=True))),
        "random_objects": None,
        "lights": _pin_lights(frame, decided),
        "area": frame.area if around == area else around,
    }
    if frame.views:
        update["views"] = tuple(map(_pin_camera, frame.views, decided.views))
    else:
        update["camera"] = _pin_camera(frame.camera or CameraSpec(), decided.views[0])
    if frame.pointer is not None and pointer is not None:
        update["pointer"] = frame.pointer.model_copy(update={"location": pointer.location})
    update["observers"] = tuple(
        spec.model_copy(update={"color": item.color or spec.color, "location": item.location})
        for item in decided.objects
        if (spec := people.get(item.index)) is not None
    )
    if not strict:
        kept = (c for c in frame.constraints if all(getattr(c, kind) is None for kind in _LAYOUT_CONSTRAINTS))
        update["constraints"] = tuple(kept)
    return frame.model_copy(update=update)


def _area_for(area: AreaSpec, standing: Sequence[SceneObject]) -> AreaSpec:
    """Return the area, enlarged to hold all objects: with a pointer, the stage may place them outside of it."""
    xs, ys = ([item.location[k] for item in standing] for k in (0, 1))
    return AreaSpec(x=(min([area.x[0], *xs]), max([area.x[1], *xs])), y=(min([area.y[0], *ys]), max([area.y[1], *ys])))


def _pin(spec: ObjectSpec, item: SceneObject, index: int) -> ObjectSpec:
    """Return the object with its open fields filled from the Scene; a specified place or view stays as it is."""
    x, y, z = item.location
    decided: dict[str, Any] = {"name": object_name(spec, index), "shape": item.outline or item.shape}
    if not is_model(item.shape):
        # A model without color and material keeps its own.
        decided |= {"color": item.color, "material": item.material.name}
    if spec.place is None:
        # Two coordinates keep it on the ground when its size changes.
        decided["location"] = (x, y) if z == item.scale else item.location
        if spec.normalize is not False and spec.footprint is None:
            decided["size"] = item.size or item.scale
    if spec.view is None:
        decided["rotation_deg"] = item.rotation_deg
    return spec.model_copy(update={name: value for name, value in decided.items() if getattr(spec, name) is None})


def _pin_camera(spec: CameraSpec, view: SceneView) -> CameraSpec:
    # A camera that orbits its objects keeps doing so.
    if any(value is not None for value in (spec.yaw_deg, spec.elevation_deg, spec.distance, spec.framing)):
        return spec
    camera = view.camera
    decided = {"location": camera.location, "look_at": camera.look_at, "jitter": 0.0}
    # A matrix K says the rest already.
    optics = {} if spec.intrinsics else {"lens": camera.lens, "sensor_width": camera.sensor_width}
    return spec.model_copy(update={**decided, **optics})


def _pin_lights(frame: FrameSpec, decided: SceneFrame) -> tuple[LightSpec, ...]:
    specified = {light.name: light for light in frame.lights}
    lights = []
    for light in decided.lights:
        placed = {"location": light.location, "jitter": 0.0} if light.kind == "area" else {}
        update = {"energy": light.energy, "color": light.color, **placed}
        lights.append(specified.get(light.name, LightSpec(name=light.name)).model_copy(update=update))
    return tuple(lights)
