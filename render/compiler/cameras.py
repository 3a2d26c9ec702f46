"""Cameras and lights of a frame: the stage's with jitter, or as given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from render.compiler.attributes import Item, rounded, rounded3
from render.compiler.looks import Fail
from render.compiler.rng import Keys
from render.geometry.camera import Camera
from render.geometry.orbit import direction, distance
from render.geometry.rotation import Vec
from render.model.scene import SceneCamera, SceneLight, SceneView
from scene_specs.language.diagnostics import form_diagnostics, path_text
from scene_specs.language.spec import CameraSpec, FrameSpec, LightSpec
from scene_specs.language.stage import Stage, StageLight

# Share of the image's shorter side that the objects fill where neither spec nor stage says.
_FRAMING = 0.9


def _moved(place: Vec, jitter: float, keys: Keys, purpose: str) -> Vec:
    if not jitter:
        return rounded3(place)
    u = keys.generator(purpose).random(3).tolist()
    return rounded3([p + (2 * x - 1) * jitter for p, x in zip(place, u, strict=True)])


def _orbits(spec: CameraSpec, stage: Stage) -> bool:
    """Whether the camera is to stand about what it looks at, rather than at a given place."""
    if spec.location is not None:
        return False
    given = (spec.yaw_deg, spec.elevation_deg, spec.distance, spec.framing)
    return stage.camera.framing is not None or any(value is not None for value in given)


def _about(items: Sequence[Item], look_at: Vec | None, otherwise: Vec) -> tuple[Vec, float]:
    """Middle and radius of a sphere that holds all objects that have a place; `look_at` is the middle if given."""
    bodies = [(item.location, item.reach) for item in items if item.location is not None]
    middle = look_at or otherwise
    if bodies and look_at is None:
        low = [min(place[k] - reach for place, reach in bodies) for k in range(3)]
        high = [max(place[k] + reach for place, reach in bodies) for k in range(3)]
        middle = ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2)
    return middle, max((math.dist(place, middle) + reach for place, reach in bodies), default=1.0)


def _made(purpose: str, fail: Fail, **numbers: Any) -> SceneCamera:
    """A camera of these numbers. Raises what `fail` makes of those that no camera can have."""
    if numbers["location"] == numbers["look_at"]:
        raise fail(f"{purpose}: it stands at the point it looks at, {list(numbers['look_at'])}")
    try:
        return SceneCamera(**numbers)
    except ValidationError as error:
        issues = form_diagnostics(error, SceneCamera, numbers)
        raise fail(f"{purpose}: " + "; ".join(f"{path_text(one.path)}: {one.problem}" for one in issues)) from error


def _orbit(spec: CameraSpec, stage: Stage, items: Sequence[Item], purpose: str, fail: Fail) -> SceneCamera:
    """A camera at yaw and elevation about the objects, as far off as asked for, or as `framing` asks."""
    base = stage.camera
    away = [a - b for a, b in zip(base.location, base.look_at, strict=True)]
    flat = math.hypot(away[0], away[1])
    yaw = math.degrees(math.atan2(away[0], -away[1])) if spec.yaw_deg is None else spec.yaw_deg
    elevation = math.degrees(math.atan2(away[2], flat)) if spec.elevation_deg is None else spec.elevation_deg
    middle, radius = _about(items, spec.look_at, base.look_at)
    lens, sensor = spec.lens or base.lens, spec.sensor_width or base.sensor_width
    framing = spec.framing or base.framing or _FRAMING
    longer, shorter = max(stage.size), min(stage.size)
    off, ortho = spec.distance or 0.0, base.ortho_scale
    if ortho is not None and spec.distance is None:
        ortho = rounded(2 * radius / framing * longer / shorter)
    if spec.distance is None:
        off = radius + math.dist(base.location, base.look_at) if ortho else 0.0
        off = off or distance(radius, framing, sensor / lens / 2 * shorter / longer)
    towards = direction(yaw, elevation)
    place = rounded3([m + off * t for m, t in zip(middle, towards, strict=True)])
    near, far = base.clip
    # A model fills the picture from any distance, so the clip range goes with it.
    clip = (rounded(min(near, max(off - radius, 0.0) / 2 or near)), rounded(max(far, 2 * (off + radius))))
    return _made(
        purpose,
        fail,
        location=place,
        look_at=rounded3(middle),
        lens=rounded(lens),
        sensor_width=rounded(sensor),
        clip=clip,
        ortho_scale=ortho,
    )


def _camera(spec: CameraSpec, stage: Stage, items: Sequence[Item], keys: Keys, purpose: str, fail: Fail) -> SceneCamera:
    base = stage.camera
    if _orbits(spec, stage):
        return _orbit(spec, stage, items, purpose, fail)
    default = base.jitter if spec.location is None else 0.0
    location = _moved(spec.location or base.location, default if spec.jitter is None else spec.jitter, keys, purpose)
    return _made(
        purpose,
        fail,
        location=location,
        look_at=rounded3(spec.look_at or base.look_at),
        lens=rounded(spec.lens or base.lens),
        sensor_width=rounded(spec.sensor_width or base.sensor_width),
        clip=base.clip,
        ortho_scale=base.ortho_scale,
    )


def draw_views(frame: FrameSpec, stage: Stage, items: Sequence[Item], keys: Keys, fail: Fail) -> tuple[SceneView, ...]:
    """The frame's named views, or its one camera. items: what a camera without a place of its own is to hold.

    Raises what `fail` makes of a problem.
    """
    if frame.views:
        return tuple(
            SceneView(name=view.name, camera=_camera(view, stage, items, keys, f"view {view.name}", fail))
            for view in frame.views
        )
    camera = _camera(frame.camera or CameraSpec(), stage, items, keys, "camera", fail)
    return (SceneView(name=None, camera=camera),)


def first_eye(frame: FrameSpec, stage: Stage, keys: Keys, fail: Fail) -> Camera:
    """Directions of the deciding camera, before there is anything to be seen; its distance counts for nothing."""
    spec = frame.views[0] if frame.views else frame.camera or CameraSpec()
    purpose = f"view {frame.views[0].name}" if frame.views else "camera"
    return Camera.of(_camera(spec, stage, (), keys, purpose, fail), *stage.size)


def _light(light: StageLight, change: LightSpec | None, keys: Keys) -> SceneLight:
    location, jitter, energy, color = light.location, light.jitter, light.energy, light.color
    if change is not None:
        if change.location is not None:
            location, jitter = change.location, 0.0
        jitter = jitter if change.jitter is None else change.jitter
        energy = energy if change.energy is None else change.energy
        color = color if change.color is None else change.color
    return SceneLight(
        name=light.name,
        kind=light.kind,
        energy=rounded(energy),
        color=rounded3(color),
        size=light.size,
        location=_moved(location, jitter, keys, f"light {light.name}"),
        look_at=light.look_at,
        rotation_rad=light.rotation_rad,
    )


def draw_lights(frame: FrameSpec, stage: Stage, keys: Keys, fail: Fail) -> tuple[SceneLight, ...]:
    """The stage's lights, jittered, with the frame's changes. Raises what `fail` makes of a problem."""
    changes = {change.name: change for change in frame.lights}
    known = [light.name for light in stage.lights]
    for name in changes:
        if name not in known:
            raise fail(f"unknown light {name!r}; stage {stage.name} has: {', '.join(known)}")
    return tuple(_light(light, changes.get(light.name), keys) for light in stage.lights)
