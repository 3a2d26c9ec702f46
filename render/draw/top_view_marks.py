"""The marks of a top view: objects, pointer, cameras with what they see, lights, the stage's area, the world's axes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diorama.render.draw.canvas import FAINT, INK, Point, Svg
from diorama.render.geometry.camera import Camera, dot
from diorama.render.geometry.display import display
from diorama.render.geometry.meshes import pointing_ray
from diorama.render.geometry.rotation import Vec, transform
from diorama.scene_specs.language.scene import SceneFrame, SceneObject
from diorama.scene_specs.language.stage import Stage

_CAMERA, _POINTING, _LIGHT = "#2563a8", "#c2410c", "#f5c542"
_REACH = 60.0
# Visible ground is cut at this many camera heights from the camera.
_FAR = 6.0


@dataclass(frozen=True)
class Map:
    """Maps world coordinates to a panel.

    Attributes:
        right: the world directions that point right and up on the page.
        up: the world directions that point right and up on the page.
        low: coordinates of the lower left corner along them.
        scale: pixels per Blender unit.
        height: of the panel, pixels.
    """

    right: Vec
    up: Vec
    low: Point
    scale: float
    height: float

    def flat(self, across: float, up: float) -> Point:
        """The pixel of a point that is given along the two axes."""
        return ((across - self.low[0]) * self.scale, self.height - (up - self.low[1]) * self.scale)

    def direction(self, vector: Vec) -> Point:
        """A world vector on the page, in pixels; y points down."""
        return (dot(vector, self.right) * self.scale, -dot(vector, self.up) * self.scale)

    def __call__(self, point: Vec) -> Point:
        return self.flat(dot(point, self.right), dot(point, self.up))


def color_of(item: SceneObject) -> str:
    """An object's color as an image shows it in even light."""
    red, green, blue = display(np.array(item.color_linear, dtype=np.float32)).tolist()
    return f"rgb({red},{green},{blue})"


def draw_area(page: Svg, stage: Stage, to_page: Map) -> None:
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


def draw_object(
    page: Svg, frame: SceneFrame, item: SceneObject, outline: NDArray[np.float64], margin: float, to_page: Map
) -> None:
    """Draw an object with its name and rotation, or a pointer with the line to its target.

    Args:
        outline: (N, 2) coordinates along the axes of the map.
        margin: half the minimum distance, Blender units; 0 for none.
    """
    center = to_page(item.location)
    pointer = frame.pointer is not None and frame.pointer.index == item.index
    if not pointer and margin:
        radius = (item.scale + margin) * to_page.scale
        page.circle(center, radius, fill="none", stroke=FAINT, stroke_width=0.7, stroke_dasharray="2 3")
    points = [to_page.flat(across, up) for across, up in outline.tolist()]
    page.polygon(points, fill=color_of(item), fill_opacity=0.85, stroke=INK, stroke_width=1)
    if pointer:
        _draw_pointing(page, frame, item, to_page)
    else:
        # The object's own X axis, the direction of a rotation by 0 degrees.
        ((x, y, z),) = transform(np.array([[1.0, 0.0, 0.0]]), item.rotation_deg, item.scale, item.location).tolist()
        page.line(center, to_page((x, y, z)), stroke=INK, stroke_width=1.4)
        page.circle(center, 2, fill=INK)
    halo = {"stroke": "#ffffff", "stroke_width": 3, "paint_order": "stroke"}
    below = (center[0], max(y for _, y in points) + 12)
    page.text(below, item.name, 11, fill=INK, text_anchor="middle", **halo)


def _draw_pointing(page: Svg, frame: SceneFrame, item: SceneObject, to_page: Map) -> None:
    assert frame.pointer is not None
    _, tip = pointing_ray(item.shape, item.rotation_deg, item.scale, item.location)
    target = next(other for other in frame.objects if other.name == frame.pointer.target)
    page.line(to_page(tip), to_page(target.location), stroke=_POINTING, stroke_width=1.4, stroke_dasharray="4 3")


def draw_camera(page: Svg, name: str, camera: Camera, to_page: Map) -> None:
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


def draw_light(page: Svg, name: str, at: Point) -> None:
    """Draw an area light."""
    x, y = at
    page.polygon([(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)], fill=_LIGHT, stroke=FAINT, stroke_width=0.7)
    page.text((x + 8, y + 4), name, 10, fill=FAINT)


def draw_axes(page: Svg, to_page: Map, height: float) -> None:
    """Draw the world's axes that are not perpendicular to the page."""
    origin = (46.0, height - 46.0)
    axes: dict[str, Vec] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    for name, axis in axes.items():
        x, y = (34 * part / to_page.scale for part in to_page.direction(axis))
        if math.hypot(x, y) < 8:
            continue
        page.line(origin, (origin[0] + x, origin[1] + y), stroke=FAINT, stroke_width=1.2)
        page.text((origin[0] + 1.25 * x, origin[1] + 1.25 * y + 4), name, 11, fill=FAINT, text_anchor="middle")


def seen_ground(camera: Camera) -> list[Vec]:
    """The outline of the part of the ground z = 0 that a camera sees, cut far away; empty if it sees none."""
    steps = [k / 8 for k in range(8)]
    # Around the image; several points along each side, because the horizon may cross it anywhere.
    border = [(t, 1.0) for t in steps] + [(1.0, 1 - t) for t in steps]
    border += [(1 - t, 0.0) for t in steps] + [(0.0, t) for t in steps]
    starts, directions = _rays(camera, np.array(border))
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
    """The four corners of what a camera sees at a depth along its axis, Blender units."""
    starts, directions = _rays(camera, np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]))
    return [(x, y, z) for x, y, z in (starts + depth * directions).tolist()]


def _rays(camera: Camera, at: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Starts and directions of rays, (N, 3) in the world, one unit of depth long. at: (N, 2) shares of the image."""
    offsets = (at * (camera.width, camera.height) - camera.center) / camera.focal
    sideways = offsets @ np.array([camera.right, camera.down])
    location, forward = (np.broadcast_to(vector, sideways.shape) for vector in (camera.location, camera.forward))
    return (location + sideways, forward) if camera.orthographic else (location, forward + sideways)
