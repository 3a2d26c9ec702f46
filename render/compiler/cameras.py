"""Cameras and lights of a frame: the stage's with jitter, or as specified."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import ValidationError

from diorama.render.compiler.attributes import Item
from diorama.render.geometry.camera import Camera, orbit_direction, orbit_distance, unit
from diorama.render.geometry.raster import Pose, rasterize
from diorama.render.geometry.solid import is_inside, solid, world_vertices
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.language.diagnostics import path_text
from diorama.scene_specs.language.rng import Keys
from diorama.scene_specs.language.validation import form_diagnostics
from diorama.scene_specs.model.scene import SceneCamera, SceneFrame, SceneLight, SceneObject, SceneView, Settings
from diorama.scene_specs.model.spec import CameraSpec, FrameSpec, LightSpec
from diorama.scene_specs.model.stage import Stage, StageLight, orbits
from diorama.scene_specs.rotation import Vec, rounded, rounded3

# Share of the shorter image side that the objects fill, unless the spec or the stage specifies it.
_FRAMING = 0.9
# Nearest clip plane, Blender units: nearer ones leave too few digits for the depth of what is far away.
_LEAST_NEAR = 0.001


def _add_jitter(place: Vec, jitter: float, keys: Keys, purpose: str) -> Vec:
    if not jitter:
        return rounded3(place)
    u = keys.generator(purpose).random(3).tolist()
    return rounded3([p + (2 * x - 1) * jitter for p, x in zip(place, u, strict=True)])


def _bounding_sphere(items: Sequence[Item], look_at: Vec | None, default: Vec) -> tuple[Vec, float]:
    """Center and radius of a sphere that contains all objects with a location; `look_at` is its center if specified."""
    bodies = [(item.location, item.reach) for item in items if item.location is not None]
    middle = look_at or default
    if bodies and look_at is None:
        low = [min(place[k] - reach for place, reach in bodies) for k in range(3)]
        high = [max(place[k] + reach for place, reach in bodies) for k in range(3)]
        middle = ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2)
    return middle, max((math.dist(place, middle) + reach for place, reach in bodies), default=1.0)


def _orbit_fields(spec: CameraSpec, stage: Stage, optics: Mapping[str, float], items: Sequence[Item]) -> dict[str, Any]:
    """Fields of a camera at a yaw and elevation about the objects, at its distance or where they fill `framing`."""
    base = stage.camera
    x, y, z = (a - b for a, b in zip(base.location, base.look_at, strict=True))
    yaw = math.degrees(math.atan2(x, -y)) if spec.yaw_deg is None else spec.yaw_deg
    elevation = math.degrees(math.atan2(z, math.hypot(x, y))) if spec.elevation_deg is None else spec.elevation_deg
    center, radius = _bounding_sphere(items, spec.look_at, base.look_at)
    framing = spec.framing or base.framing or _FRAMING
    opening = optics["sensor_width"] / optics["lens"] / 2
    longer, shorter = max(stage.size), min(stage.size)
    away_by, ortho = spec.distance or 0.0, base.ortho_scale
    if ortho is not None and spec.distance is None:
        ortho = rounded(2 * radius / framing * longer / shorter)
    if spec.distance is None:
        away_by = radius + math.dist(base.location, base.look_at) if ortho else 0.0
        away_by = away_by or orbit_distance(radius, framing, opening * shorter / longer)
    location = rounded3([m + away_by * t for m, t in zip(center, orbit_direction(yaw, elevation), strict=True)])
    near, far = base.clip
    # A model of any size can fill the image, so the clip range scales with the distance.
    clip = (rounded(min(near, max(away_by - radius, 0.0) / 2 or near)), rounded(max(far, 2 * (away_by + radius))))
    return {"location": location, "look_at": rounded3(center), "clip": clip, "ortho_scale": ortho}


def _optics(spec: CameraSpec, stage: Stage) -> dict[str, float]:
    """Return the focal length and the size of the sensor along the longer side of the image, mm."""
    sensor = spec.sensor_width or stage.camera.sensor_width
    if (matrix := spec.intrinsics) is not None:
        return {"lens": matrix.fx * sensor / max(matrix.width, matrix.height), "sensor_width": sensor}
    return {"lens": spec.lens or stage.camera.lens, "sensor_width": sensor}


def _compile_camera(spec: CameraSpec, stage: Stage, items: Sequence[Item], keys: Keys, purpose: str) -> SceneCamera:
    base, optics = stage.camera, _optics(spec, stage)
    if orbits(spec, stage):
        fields = _orbit_fields(spec, stage, optics, items)
    else:
        default = base.jitter if spec.location is None else 0.0
        jitter = default if spec.jitter is None else spec.jitter
        location = _add_jitter(spec.location or base.location, jitter, keys, purpose)
        look_at = rounded3(spec.look_at or base.look_at)
        fields = {"location": location, "look_at": look_at, "clip": base.clip, "ortho_scale": base.ortho_scale}
    fields |= {key: rounded(value) for key, value in optics.items()}
    if (matrix := spec.intrinsics) is not None:
        longer = max(matrix.width, matrix.height)
        across, up = (matrix.width / 2 - matrix.cx) / longer, (matrix.cy - matrix.height / 2) / longer
        fields["shift"] = (rounded(across), rounded(up))
    if spec.right is not None:
        x, y, _ = unit((*spec.right, 0.0))
        fields["right"] = (rounded(x), rounded(y))
    if fields["location"] == fields["look_at"]:
        raise CompileError(f"{purpose}: its location is the point that it looks at, {list(fields['look_at'])}")
    try:
        return SceneCamera(**fields)
    except ValidationError as error:
        issues = form_diagnostics(error, SceneCamera, fields)
        problems = "; ".join(f"{path_text(issue.path)}: {issue.problem}" for issue in issues)
        raise CompileError(f"{purpose}: {problems}") from error


def _specified_cameras(frame: FrameSpec) -> list[tuple[str | None, CameraSpec, str]]:
    """Name, spec and purpose of each view's camera, or of the frame's one camera."""
    if frame.views:
        return [(view.name, view, f"view {view.name}") for view in frame.views]
    return [(None, frame.camera or CameraSpec(), "camera")]


def draw_views(frame: FrameSpec, stage: Stage, items: Sequence[Item], keys: Keys) -> tuple[SceneView, ...]:
    """Decide the views of a frame, or its one camera.

    Args:
        items: the objects that a camera without a location shows.

    Raises:
        CompileError: a camera has invalid numbers.
    """
    return tuple(
        SceneView(name=name, camera=_compile_camera(spec, stage, items, keys, purpose))
        for name, spec, purpose in _specified_cameras(frame)
    )


def first_eye(frame: FrameSpec, stage: Stage, keys: Keys) -> Camera:
    """Return the first camera before the objects exist; its orientation is final, its distance is not."""
    _, spec, purpose = _specified_cameras(frame)[0]
    return Camera.of(_compile_camera(spec, stage, (), keys, purpose), *stage.size)


def fit_clip_ranges(
    views: Sequence[SceneView], objects: Sequence[SceneObject], size: tuple[int, int]
) -> tuple[SceneView, ...]:
    """Return views whose clip ranges contain what they show: one rule for all cameras.

    `far` grows to twice the depth of the farthest vertex if that lies beyond it, `near` shrinks to half the depth of
    the nearest surface in the image. What is behind a camera does not count.

    Args:
        objects: of the frame, with the pointer and observers.
        size: (width, height) of the stage, pixels.

    Raises:
        CompileError: a camera is inside an object, or nearer to it than can be rendered.
    """
    return tuple(_fit_clip_range(view, objects, size) for view in views)


def _fit_clip_range(view: SceneView, objects: Sequence[SceneObject], size: tuple[int, int]) -> SceneView:
    eye, (near, far) = Camera.of(view.camera, *size), view.camera.clip
    purpose = "camera" if view.name is None else f"view {view.name}"
    for item in objects:
        body = solid(item.shape, item.outline)
        reach = body.radius * item.scale
        middle = float(eye.project(np.array([item.location]))[0, 2])
        if near <= middle - reach and middle + reach <= view.camera.clip[1]:
            continue
        vertices = world_vertices(item)
        if math.dist(eye.location, item.location) < reach and is_inside(eye.location, vertices, body.corners):
            raise CompileError(f"{purpose}: it is inside the object {item.name!r}; move one of them")
        depth = float(eye.project(vertices)[:, 2].max())
        far = max(far, rounded(2 * depth)) if depth > view.camera.clip[1] else far
        pose = Pose(item.rotation_deg, item.scale, item.location)
        nearest = float(rasterize(body, pose, replace(eye, clip=(_LEAST_NEAR / 10, near))).depth.min(initial=math.inf))
        near = min(near, rounded(nearest / 2)) if nearest < near else near
        if near < _LEAST_NEAR:
            problem = f"the object {item.name!r} is {nearest:.3g} Blender units in front of it"
            raise CompileError(f"{purpose}: {problem}; at least {2 * _LEAST_NEAR} are needed, so move one of them")
    if (near, far) == view.camera.clip:
        return view
    return view.model_copy(update={"camera": view.camera.model_copy(update={"clip": (near, far)})})


def fits(size: tuple[int, int], settings: Settings) -> bool:
    """Return whether images have the aspect ratio of `size`, (width, height)."""
    return size[0] * settings.height == size[1] * settings.width


def _margins(size: tuple[int, int], settings: Settings) -> float:
    """How much more an orthographic camera must see in images of these settings to see all that `size` shows."""
    image = (settings.width, settings.height)
    return max(image) / max(size) * max(size[0] / image[0], size[1] / image[1])


def _view_size(camera: SceneCamera, settings: Settings) -> tuple[float, tuple[int, int]]:
    """Scale and size (width, height), without margins, of what a camera shows in images of these settings.

    A camera of a flat stage is at the middle of its canvas. Of another one, nobody knows where margins begin.
    """
    canvas = (round(2 * camera.look_at[0]), round(2 * camera.look_at[1]))
    if min(canvas) > 0 and camera.ortho_scale == rounded(max(canvas) * _margins(canvas, settings)):
        return float(max(canvas)), canvas
    return camera.ortho_scale or 0.0, (settings.width, settings.height)


def fit_frame(frame: SceneFrame, size: tuple[int, int], settings: Settings, before: Settings | None) -> SceneFrame:
    """Fit the cameras of a flat frame to the aspect ratio of the image; they get margins where it differs.

    Other frames are unchanged: what their cameras see beside the objects depends on the aspect ratio by design.

    Args:
        size: (width, height) of images that show exactly what has to be seen.
        before: settings for which the frame was fitted; its margins of that time go.
    """
    if frame.pixels is None or fits(size, settings):
        return frame
    views = []
    for view in frame.views:
        scale, shown = view.camera.ortho_scale, size
        if scale is not None and before is not None:
            scale, shown = _view_size(view.camera, before)
        wider = None if scale is None else rounded(scale * _margins(shown, settings))
        views.append(view.model_copy(update={"camera": view.camera.model_copy(update={"ortho_scale": wider})}))
    return frame.model_copy(update={"views": tuple(views)})


def _compile_light(light: StageLight, change: LightSpec | None, keys: Keys) -> SceneLight:
    given = {} if change is None else change.model_dump(exclude_none=True)
    fields = {**light.model_dump(), **({"jitter": 0.0} if "location" in given else {}), **given}
    fields["location"] = _add_jitter(fields["location"], fields.pop("jitter"), keys, f"light {light.name}")
    return SceneLight(**{**fields, "energy": rounded(fields["energy"]), "color": rounded3(fields["color"])})


def draw_lights(frame: FrameSpec, stage: Stage, keys: Keys) -> tuple[SceneLight, ...]:
    """Return the stage's lights with jitter and the frame's changes."""
    changes = {change.name: change for change in frame.lights}
    return tuple(_compile_light(light, changes.get(light.name), keys) for light in stage.lights)
