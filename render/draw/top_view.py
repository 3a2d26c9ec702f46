"""The top view of a Scene: locations, sizes, rotations and margins of objects, and cameras with what they see.

A stage with a ground is drawn from above. Each frame is rotated so that its first camera looks up the page: left,
right, front and behind are those of the image. A stage without a ground is drawn along the camera.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diorama.render.draw import top_view_marks as marks
from diorama.render.draw.canvas import FAINT, INK, Point, Svg
from diorama.render.draw.top_view_marks import Map, seen_at, seen_ground
from diorama.render.geometry.camera import Camera, dot
from diorama.render.geometry.rotation import Vec
from diorama.render.geometry.shapenet.repair import convex_hull
from diorama.render.geometry.solid import world_vertices
from diorama.render.model.errors import AssetError
from diorama.scene_specs.language.scene import Scene, SceneFrame, SceneObject
from diorama.scene_specs.language.stage import Stage, load_stage

Outline = NDArray[np.float64]

PANEL = 460
_GAP = 16
_HEAD = 34
_RAIL = 26
_LEGEND_LINE = 15
# Average width of a letter in the legend, pixels, for the widest default font of browsers.
_LETTER_WIDTH = 6.2
_COLUMNS = 4
_MAX_FRAMES = 60
_LINE, _VIEW = "#c3c8cd", "#dce9f5"


def top_view(scene: Scene) -> str:
    """Draw the frames of a Scene, at most the first 60, as one SVG document.

    Raises:
        StageError: for an unknown stage.
        AssetError: for a pointer without a pointing direction.
    """
    stage = load_stage(scene.stage)
    frames = scene.frames[:_MAX_FRAMES]
    columns = min(_COLUMNS, len(frames))
    rows = math.ceil(len(frames) / columns)
    step = (PANEL + _RAIL + _GAP, PANEL + _RAIL + _HEAD + _GAP)
    width = columns * step[0] + _GAP
    legend = textwrap.wrap(_legend(stage), int((width - 2 * _GAP) / _LETTER_WIDTH))
    height = rows * step[1] + _HEAD + _LEGEND_LINE * len(legend)
    page = Svg(width, height, f"Top view of {scene.id}")
    more = f" (first {_MAX_FRAMES} of {len(scene.frames)} frames)" if len(scene.frames) > _MAX_FRAMES else ""
    page.text((_GAP, 24), f"{scene.id}{more}", 17, fill=INK)
    for number, frame in enumerate(frames):
        at = (_GAP + number % columns * step[0], _HEAD + number // columns * step[1])
        cameras = [Camera.of(view.camera, scene.settings.width, scene.settings.height) for view in frame.views]
        _draw(page, frame, stage, cameras, at)
    for number, line in enumerate(legend):
        page.text((_GAP, rows * step[1] + _HEAD + 10 + number * _LEGEND_LINE), line, 11, fill=FAINT)
    return page.markup()


def _axes(camera: Camera, stage: Stage) -> tuple[Vec, Vec]:
    """The world directions that point right and up on the page, unit vectors."""
    if stage.ground is None:
        down = camera.down
        return camera.right, (-down[0], -down[1], -down[2])
    directions = camera.directions()
    return directions["right"], directions["behind"]


def _draw(page: Svg, frame: SceneFrame, stage: Stage, cameras: Sequence[Camera], at: Point) -> None:
    axes = _axes(cameras[0], stage)
    outlines = [outline(item, axes) for item in frame.objects]
    to_page = _map_of(frame, stage, cameras, outlines, axes)
    x, y = at[0] + _RAIL, at[1] + _HEAD
    page.text((x, at[1] + 22), frame.name, 14, fill=INK)
    page.open_window(x, y, PANEL, PANEL)
    page.rect(0, 0, PANEL, PANEL, fill="#fafbfc")
    grounded = stage.ground is not None
    # Without a ground the page is the image plane of the first camera, which can't show what other cameras see.
    for view, camera in zip(frame.views, cameras[: None if grounded else 1], strict=False):
        look_at = math.dist(view.camera.location, view.camera.look_at)
        seen = seen_ground(camera) if grounded else seen_at(camera, look_at)
        if seen:
            page.polygon([to_page(point) for point in seen], fill=_VIEW, fill_opacity=0.6, stroke="#9fbcd6")
    marks.draw_area(page, stage, to_page)
    for light in frame.lights:
        if light.kind == "area":
            marks.draw_light(page, light.name, to_page(light.location))
    margin = stage.placement.min_distance / 2
    for item, shape in zip(frame.objects, outlines, strict=True):
        marks.draw_object(page, frame, item, shape, margin, to_page)
    for view, camera in zip(frame.views, cameras, strict=True):
        marks.draw_camera(page, view.name or "camera", camera, to_page)
    marks.draw_axes(page, to_page, PANEL)
    page.close_window()
    page.rect(x, y, PANEL, PANEL, fill="none", stroke=_LINE)
    if stage.placement.axis_margin:
        _rails(page, frame, stage.placement.axis_margin, to_page, (x, y))


def outline(item: SceneObject, axes: tuple[Vec, Vec]) -> Outline:
    """The convex outline of an object's mesh: (N, 2) corners along two axes, in order.

    An object whose asset is missing gets a circle of its scale.
    """
    try:
        points = world_vertices(item)
    except AssetError:
        turns = np.linspace(0, 2 * math.pi, 48, endpoint=False)
        x, y = (dot(item.location, axis) for axis in axes)
        return np.stack([x + item.scale * np.cos(turns), y + item.scale * np.sin(turns)], axis=1)
    return np.array(convex_hull(np.round(points @ np.array(axes).T, 4)))


def _map_of(
    frame: SceneFrame, stage: Stage, cameras: Sequence[Camera], outlines: Sequence[Outline], axes: tuple[Vec, Vec]
) -> Map:
    """A map that contains objects, cameras, area lights and the stage's area."""
    points: list[Vec] = [light.location for light in frame.lights if light.kind == "area"]
    points += [camera.location for camera in cameras]
    if stage.ground is not None:
        points += [(x, y, 0.0) for x in stage.placement.area.x for y in stage.placement.area.y]
    else:
        depths = [math.dist(view.camera.location, view.camera.look_at) for view in frame.views]
        points += [point for camera, depth in zip(cameras, depths, strict=True) for point in seen_at(camera, depth)]
    along = np.array([[dot(point, axis) for axis in axes] for point in points])
    points_2d = np.concatenate([along, *outlines])
    low, high = points_2d.min(axis=0), points_2d.max(axis=0)
    side = max(float((high - low).max()), 1e-3) * 1.12
    middle = (low + high) / 2
    return Map(*axes, (float(middle[0]) - side / 2, float(middle[1]) - side / 2), PANEL / side, PANEL)


def _rails(page: Svg, frame: SceneFrame, margin: float, to_page: Map, at: Point) -> None:
    """Draw each object's span of half an axis margin to both sides, on a rail below and a rail beside the panel.

    If two spans of a rail overlap, two objects are closer along that axis than the margin.
    """
    half = max(margin / 2 * to_page.scale, 1.0)
    for item in frame.objects:
        if frame.pointer is not None and item.index == frame.pointer.index:
            continue
        look = {"fill": marks.color_of(item), "fill_opacity": 0.6, "stroke": INK, "stroke_width": 0.6}
        x, y = to_page(item.location)
        page.rect(at[0] + x - half, at[1] + PANEL + 4, 2 * half, 8, **look)
        page.rect(at[0] - 12, at[1] + y - half, 8, 2 * half, **look)


def _legend(stage: Stage) -> str:
    rules = stage.placement
    if stage.ground is None:
        return (
            "Seen along the first camera. Blue: what its image shows. "
            + (f"Dashed: the places of stage {stage.name!r}. " if stage.places else "")
            + "Line in an object: its X axis."
        )
    return (
        "Seen from above; the camera looks up the page. Blue: the part of the ground z = 0 that the image shows. "
        f"Dashed: where stage {stage.name!r} places objects. Line in an object: its X axis. Where the stage's rules "
        f"apply, dotted circles (min_distance {rules.min_distance:g}) and the spans on the rails at the edges "
        f"(axis_margin {rules.axis_margin:g}) do not overlap."
    )
