"""The top view of a Scene: locations, sizes, rotations and margins of objects, and cameras with what they see.

A stage with a ground is drawn from above. Each frame is rotated so that its first camera looks up the page: left,
right, front and behind are those of the image. A stage without a ground is drawn along the camera.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diorama.render.geometry.camera import Camera, dot
from diorama.render.geometry.display import display
from diorama.render.geometry.meshes import pointing_ray
from diorama.render.geometry.observer import eye_camera, front_of, place_of
from diorama.render.geometry.solid import world_vertices
from diorama.render.uses.draw.canvas import Point, Svg
from diorama.render.uses.draw.typography import FAINT, INK
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneObject
from diorama.scene_specs.model.stage import Stage, scene_stage
from diorama.scene_specs.rotation import Floats, Vec, transform
from diorama.scene_specs.shapes.convex_hull import convex_hull

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
_CAMERA, _POINTING, _LIGHT = "#2563a8", "#c2410c", "#f5c542"
_REACH = 60.0
# Visible ground is cut at this many camera heights from the camera.
_FAR = 6.0


def top_view(scene: Scene) -> str:
    """Draw the frames of a Scene, at most the first 60, as one SVG document.

    Raises:
        StageError: for an unknown stage.
        AssetError: for a pointer without a pointing direction.
    """
    stage = scene_stage(scene)
    frames = scene.frames[:_MAX_FRAMES]
    columns = min(_COLUMNS, len(frames))
    rows = math.ceil(len(frames) / columns)
    step = (PANEL + _RAIL + _GAP, PANEL + _RAIL + _HEAD + _GAP)
    width = columns * step[0] + _GAP
    fronts = any(_front_direction(item) for frame in frames for item in frame.objects)
    words = _legend_text(stage) + " Triangle: the front of an object, or where a person looks." * fronts
    legend = textwrap.wrap(words, int((width - 2 * _GAP) / _LETTER_WIDTH))
    height = rows * step[1] + _HEAD + _LEGEND_LINE * len(legend)
    page = Svg(width, height, f"Top view of {scene.id}")
    more = f" (first {_MAX_FRAMES} of {len(scene.frames)} frames)" if len(scene.frames) > _MAX_FRAMES else ""
    page.text((_GAP, 24), f"{scene.id}{more}", 17, fill=INK)
    for number, frame in enumerate(frames):
        at = (_GAP + number % columns * step[0], _HEAD + number // columns * step[1])
        cameras = [Camera.of(view.camera, scene.settings.width, scene.settings.height) for view in frame.views]
        _draw_frame(page, frame, stage, cameras, at)
    for number, line in enumerate(legend):
        page.text((_GAP, rows * step[1] + _HEAD + 10 + number * _LEGEND_LINE), line, 11, fill=FAINT)
    return page.markup()


def _page_axes(camera: Camera, stage: Stage) -> tuple[Vec, Vec]:
    """Return the world directions that point right and up on the page, unit vectors."""
    if stage.ground is None:
        down = camera.down
        return camera.right, (-down[0], -down[1], -down[2])
    directions = camera.directions()
    return directions["right"], directions["behind"]


def _draw_frame(page: Svg, frame: SceneFrame, stage: Stage, cameras: Sequence[Camera], at: Point) -> None:
    axes = _page_axes(cameras[0], stage)
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
        if seen := seen_ground(camera) if grounded else seen_at(camera, look_at):
            page.polygon([to_page(point) for point in seen], fill=_VIEW, fill_opacity=0.6, stroke="#9fbcd6")
    _draw_area(page, stage, to_page)
    for light in frame.lights:
        if light.kind == "area":
            _draw_light(page, light.name, to_page(light.location))
    margin = stage.placement.min_distance / 2
    for item, shape in zip(frame.objects, outlines, strict=True):
        _draw_object(page, frame, item, shape, margin, to_page)
    for view, camera in zip(frame.views, cameras, strict=True):
        _draw_camera(page, view.name or "camera", camera, to_page)
    _draw_axes(page, to_page, PANEL)
    page.close_window()
    page.rect(x, y, PANEL, PANEL, fill="none", stroke=_LINE)
    if stage.placement.axis_margin:
        _draw_rails(page, frame, stage.placement.axis_margin, to_page, (x, y))


def outline(item: SceneObject, axes: tuple[Vec, Vec]) -> Floats:
    """Return the convex outline of an object's mesh: (N, 2) corners along two axes, in order.

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
    frame: SceneFrame, stage: Stage, cameras: Sequence[Camera], outlines: Sequence[Floats], axes: tuple[Vec, Vec]
) -> Map:
    """Return a map that contains objects, cameras, area lights and the stage's area."""
    points: list[Vec] = [light.location for light in frame.lights if light.kind == "area"]
    points += [camera.location for camera in cameras]
    if stage.ground is not None:
        points += [(x, y, 0.0) for x in stage.placement.area.x for y in stage.placement.area.y]
    else:
        depths = [math.dist(view.camera.location, view.camera.look_at) for view in frame.views]
        points += [point for camera, depth in zip(cameras, depths, strict=True) for point in seen_at(camera, depth)]
    points_2d = np.concatenate([np.array([[dot(point, axis) for axis in axes] for point in points]), *outlines])
    low, high = points_2d.min(axis=0), points_2d.max(axis=0)
    side = max(float((high - low).max()), 1e-3) * 1.12
    middle = (low + high) / 2
    return Map(*axes, (float(middle[0]) - side / 2, float(middle[1]) - side / 2), PANEL / side, PANEL)


def _draw_rails(page: Svg, frame: SceneFrame, margin: float, to_page: Map, at: Point) -> None:
    """Draw each object's span of half an axis margin to both sides, on a rail below and a rail beside the panel.

    If two spans of a rail overlap, two objects are closer along that axis than the margin.
    """
    half = max(margin / 2 * to_page.scale, 1.0)
    for item in frame.objects:
        if frame.pointer is not None and item.index == frame.pointer.index:
            continue
        look = {"fill": _color_of(item), "fill_opacity": 0.6, "stroke": INK, "stroke_width": 0.6}
        x, y = to_page(item.location)
        page.rect(at[0] + x - half, at[1] + PANEL + 4, 2 * half, 8, **look)
        page.rect(at[0] - 12, at[1] + y - half, 8, 2 * half, **look)


def _legend_text(stage: Stage) -> str:
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


@dataclass(frozen=True)
class Map:
    """Maps world coordinates to a panel.

    Attributes:
        right: the world directions that point right and up on the page.
        up: the world directions that point right and up on the page.
        low: coordinates of the lower left corner along them.
        scale: pixels per Blender unit.
        height: height of the panel, pixels.
    """

    right: Vec
    up: Vec
    low: Point
    scale: float
    height: float

    def flat(self, across: float, up: float) -> Point:
        """Return the pixel of a point that is given along the two axes."""
        return ((across - self.low[0]) * self.scale, self.height - (up - self.low[1]) * self.scale)

    def direction(self, vector: Vec) -> Point:
        """Return a world vector on the page, in pixels; y points down."""
        return (dot(vector, self.right) * self.scale, -dot(vector, self.up) * self.scale)

    def __call__(self, point: Vec) -> Point:
        return self.flat(dot(point, self.right), dot(point, self.up))


def _color_of(item: SceneObject) -> str:
    """Return an object's color as an image shows it in even light."""
    red, green, blue = display(np.array(item.color_linear, dtype=np.float32)).tolist()
    return f"rgb({red},{green},{blue})"


def _draw_area(page: Svg, stage: Stage, to_page: Map) -> None:
    """Draw where the stage places objects: its area on the ground, or its named places."""
    dashed = {"fill": "none", "stroke": FAINT, "stroke_dasharray": "5 4"}
    if stage.ground is not None:
        x, y = stage.placement.area.x, stage.placement.area.y
        corners = [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])]
        page.polygon([to_page((a, b, 0.0)) for a, b in corners], **dashed)
    for name, spot in (stage.places or {}).items():
        at = to_page(spot.location)
        page.circle(at, spot.radius * to_page.scale, **dashed)
        page.text((at[0], at[1] - spot.radius * to_page.scale - 4), name, 10, fill=FAINT, text_anchor="middle")


def _draw_object(page: Svg, frame: SceneFrame, item: SceneObject, outline: Floats, margin: float, to_page: Map) -> None:
    """Draw an object with its name, its rotation, its front, and what it points or looks at.

    Args:
        outline: (N, 2) coordinates along the axes of the map.
        margin: half the minimum distance, Blender units; 0 for none.
    """
    center = to_page(item.location)
    pointer = frame.pointer if frame.pointer is not None and frame.pointer.index == item.index else None
    if pointer is None and margin:
        radius = (item.scale + margin) * to_page.scale
        page.circle(center, radius, fill="none", stroke=FAINT, stroke_width=0.7, stroke_dasharray="2 3")
    points = [to_page.flat(across, up) for across, up in outline.tolist()]
    page.polygon(points, fill=_color_of(item), fill_opacity=0.85, stroke=INK, stroke_width=1)
    for observer in frame.observers:
        if observer.index == item.index:
            _draw_pointing(page, frame, eye_camera(item).location, observer.looks_at, to_page)
    if pointer is not None:
        _, tip = pointing_ray(item.shape, item.rotation_deg, item.scale, item.location)
        _draw_pointing(page, frame, tip, pointer.target, to_page)
    else:
        # The object's own X axis, the direction of a rotation by 0 degrees.
        ((x, y, z),) = transform(np.array([[1.0, 0.0, 0.0]]), item.rotation_deg, item.scale, item.location).tolist()
        page.line(center, to_page((x, y, z)), stroke=INK, stroke_width=1.4)
        page.circle(center, 2, fill=INK)
    if (front := _front_direction(item)) and any(ahead := to_page.direction((*front, 0.0))):
        (x, y), size = ahead, math.hypot(*ahead)
        base, x, y = (center[0] + x * item.scale, center[1] + y * item.scale), x / size, y / size
        ends = ((-5, 0), (0, 10), (5, 0))
        page.polygon([(base[0] + x * up - y * side, base[1] + y * up + x * side) for side, up in ends], fill=_POINTING)
    halo = {"stroke": "#ffffff", "stroke_width": 3, "paint_order": "stroke"}
    page.text((center[0], max(y for _, y in points) + 12), item.name, 11, fill=INK, text_anchor="middle", **halo)


def _front_direction(item: SceneObject) -> tuple[float, float] | None:
    """Return the direction of an object's front on the ground; None without."""
    return front_of(item.shape, item.rotation_deg, item.front_deg)


def _draw_pointing(page: Svg, frame: SceneFrame, start: Vec, target: str | Vec, to_page: Map) -> None:
    """Draw the line from a fingertip or the eyes of an observer to a point, or to the object of a name."""
    end = place_of(target, {other.name: other.location for other in frame.objects}) or start
    page.line(to_page(start), to_page(end), stroke=_POINTING, stroke_width=1.4, stroke_dasharray="4 3")


def _draw_camera(page: Svg, name: str, camera: Camera, to_page: Map) -> None:
    """Draw a camera and the edges of its view; nothing for one that looks along the view direction of the page."""
    at = to_page(camera.location)
    ahead = to_page.direction(camera.forward)
    if math.hypot(*ahead) < 0.02 * to_page.scale:
        return
    turn = math.atan2(ahead[1], ahead[0])
    half = camera.width / 2 / camera.focal
    for side in (-1, 1):
        start, angle = at, turn + side * math.atan(half)
        if camera.orthographic:
            across = to_page.direction(camera.right)
            start, angle = (at[0] + side * half * across[0], at[1] + side * half * across[1]), turn
        end = (start[0] + _REACH * math.cos(angle), start[1] + _REACH * math.sin(angle))
        page.line(start, end, stroke=_CAMERA, stroke_width=1.2)
    page.circle(at, 5, fill=_CAMERA)
    page.text((at[0] + 8, at[1] + 4), name, 11, fill=_CAMERA)


def _draw_light(page: Svg, name: str, at: Point) -> None:
    """Draw an area light."""
    x, y = at
    page.polygon([(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)], fill=_LIGHT, stroke=FAINT, stroke_width=0.7)
    page.text((x + 8, y + 4), name, 10, fill=FAINT)


def _draw_axes(page: Svg, to_page: Map, height: float) -> None:
    """Draw the world's axes that are not perpendicular to the page."""
    origin = (46.0, height - 46.0)
    for name, axis in {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}.items():
        x, y = (34 * part / to_page.scale for part in to_page.direction(axis))
        if math.hypot(x, y) < 8:
            continue
        page.line(origin, (origin[0] + x, origin[1] + y), stroke=FAINT, stroke_width=1.2)
        page.text((origin[0] + 1.25 * x, origin[1] + 1.25 * y + 4), name, 11, fill=FAINT, text_anchor="middle")


def seen_ground(camera: Camera) -> list[Vec]:
    """Return the outline of the part of the ground z = 0 that a camera sees, cut far away; empty if it sees none."""
    steps = [k / 8 for k in range(8)]
    # Around the image; several points along each side, because the horizon may cross it anywhere.
    border = [(t, 1.0) for t in steps] + [(1.0, 1 - t) for t in steps]
    border += [(1 - t, 0.0) for t in steps] + [(0.0, t) for t in steps]
    starts, directions = _camera_rays(camera, np.array(border))
    # Below the horizon, and from above the ground.
    hits = (directions[:, 2] < 0) & (starts[:, 2] > 0)
    if np.count_nonzero(hits) < 3:
        return []
    start, direction = starts[hits], directions[hits]
    with np.errstate(divide="ignore"):
        limit = _FAR * start[:, 2] / np.hypot(direction[:, 0], direction[:, 1])
    points = start + np.minimum(start[:, 2] / -direction[:, 2], limit)[:, None] * direction
    return [(x, y, 0.0) for x, y, _ in points.tolist()]


def seen_at(camera: Camera, depth: float) -> list[Vec]:
    """Return the four corners of what a camera sees at a depth along its axis, Blender units."""
    starts, directions = _camera_rays(camera, np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]))
    return [(x, y, z) for x, y, z in (starts + depth * directions).tolist()]


def _camera_rays(camera: Camera, at: Floats) -> tuple[Floats, Floats]:
    """Return starts and directions of rays, (N, 3) in the world, one unit of depth long. at: (N, 2) image shares."""
    offsets = (at * (camera.width, camera.height) - camera.center) / camera.focal
    sideways = offsets @ np.array([camera.right, camera.down])
    location, forward = (np.broadcast_to(vector, sideways.shape) for vector in (camera.location, camera.forward))
    return (location + sideways, forward) if camera.orthographic else (location, forward + sideways)
