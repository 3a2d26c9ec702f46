"""Cameras and lights of a frame: the stage's with jitter, or as given."""

from __future__ import annotations

from render.compiler.attributes import Fail, rounded, rounded3
from render.compiler.rng import Keys
from render.geometry.rotation import Vec
from render.scene import SceneCamera, SceneLight, SceneView
from scene_specs.spec import CameraSpec, FrameSpec, LightSpec
from scene_specs.stage import Stage, StageLight


def _moved(place: Vec, jitter: float, keys: Keys, purpose: str) -> Vec:
    if not jitter:
        return rounded3(place)
    u = keys.generator(purpose).random(3).tolist()
    return rounded3([p + (2 * x - 1) * jitter for p, x in zip(place, u, strict=True)])


def _camera(spec: CameraSpec, stage: Stage, keys: Keys, purpose: str, fail: Fail) -> SceneCamera:
    base = stage.camera
    default = base.jitter if spec.location is None else 0.0
    location = _moved(spec.location or base.location, default if spec.jitter is None else spec.jitter, keys, purpose)
    look_at = rounded3(spec.look_at or base.look_at)
    if location == look_at:
        raise fail(f"{purpose}: it stands at the point it looks at, {list(look_at)}")
    return SceneCamera(
        location=location,
        look_at=look_at,
        lens=rounded(spec.lens or base.lens),
        sensor_width=rounded(spec.sensor_width or base.sensor_width),
        clip=base.clip,
    )


def draw_views(frame: FrameSpec, stage: Stage, keys: Keys, fail: Fail) -> tuple[SceneView, ...]:
    """The frame's named views, or its one camera. Raises what `fail` makes of a problem."""
    if frame.views:
        return tuple(
            SceneView(name=view.name, camera=_camera(view, stage, keys, f"view {view.name}", fail))
            for view in frame.views
        )
    return (SceneView(name=None, camera=_camera(frame.camera or CameraSpec(), stage, keys, "camera", fail)),)


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
