"""What stands on a plan: objects, pointer, cameras, lights, the stage's room and the world's axes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from render.gallery.canvas import Point, Svg
from render.geometry.camera import Camera, Vec, dot
from render.geometry.display import display
from render.geometry.pointing import pointing_ray
from render.geometry.rotation import transform
from render.model.scene import SceneFrame, SceneObject
from scene_specs.language.stage import Stage

INK, FAINT = "#202428", "#6e747a"
_CAMERA, _POINTING, _LIGHT = "#2563a8", "#c2410c", "#f5c542"
_REACH = 60.0


@dataclass(frozen=True)
class Map:
    """World to panel. right, up: what goes right and up on the page. low: the lower left corner along them.

    scale: pixels a Blender unit. height: of the panel, pixels.
    """

    right: Vec
    up: Vec
    low: Point
    scale: float
    height: float

    def flat(self, across: float, up: float) -> Point:
        """Of a point given along the plan's axes."""
        return ((across - self.low[0]) * self.scale, self.height - (up - self.low[1]) * self.scale)

    def way(self, vector: Vec) -> Point:
        """A world vector on the page, pixels a Blender unit; y down."""
        return (dot(vector, self.right) * self.scale, -dot(vector, self.up) * self.scale)

    def __call__(self, point: Vec) -> Point:
        return self.flat(dot(point, self.right), dot(point, self.up))


def color_of(item: SceneObject) -> str:
    """An object's color as the picture shows it in even light."""
    red, green, blue = display(np.array(item.color_linear, dtype=np.float32)).tolist()
    return f"rgb({red},{green},{blue})"


def draw_area(page: Svg, stage: Stage, place: Map) -> None:
    """Where the stage places objects: its area on the ground, or its named places."""
    dashed = {"fill": "none", "stroke": FAINT, "stroke_dasharray": "5 4"}
    if stage.ground is not None:
        x, y = stage.placement.area.x, stage.placement.area.y
        corners = [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])]
        page.polygon([place((a, b, 0.0)) for a, b in corners], **dashed)
    for name, spot in (stage.places or {}).items():
        at = place(spot.location)
        page.circle(at, spot.radius * place.scale, **dashed)
        page.text((at[0], at[1] - spot.radius * place.scale - 4), name, 10, fill=FAINT, text_anchor="middle")


def draw_object(
    page: Svg, frame: SceneFrame, item: SceneObject, outline: NDArray[np.float64], margin: float, place: Map
) -> None:
    """One object, with its name and turn; a pointer with the line along which it points.

    outline: (N, 2) along the plan's axes. margin: half the least distance, Blender units; 0 for none.
    """
    center = place(item.location)
    pointer = frame.pointer is not None and frame.pointer.index == item.index
    if not pointer and margin:
        radius = (item.scale + margin) * place.scale
        page.circle(center, radius, fill="none", stroke=FAINT, stroke_width=0.7, stroke_dasharray="2 3")
    points = [place.flat(across, up) for across, up in outline.tolist()]
    page.polygon(points, fill=color_of(item), fill_opacity=0.85, stroke=INK, stroke_width=1)
    if pointer:
        _pointing(page, frame, item, place)
    else:
        # The object's own X axis: where a turn of 0 degrees looks.
        ((x, y, z),) = transform(np.array([[1.0, 0.0, 0.0]]), item.rotation_deg, item.scale, item.location).tolist()
        page.line(center, place((x, y, z)), stroke=INK, stroke_width=1.4)
        page.circle(center, 2, fill=INK)
    halo = {"stroke": "#ffffff", "stroke_width": 3, "paint_order": "stroke"}
    below = (center[0], max(y for _, y in points) + 12)
    page.text(below, item.name, 11, fill=INK, text_anchor="middle", **halo)


def _pointing(page: Svg, frame: SceneFrame, item: SceneObject, place: Map) -> None:
    assert frame.pointer is not None
    _, tip = pointing_ray(item.shape, item.rotation_deg, item.scale, item.location)
    target = next(other for other in frame.objects if other.name == frame.pointer.target)
    page.line(place(tip), place(target.location), stroke=_POINTING, stroke_width=1.4, stroke_dasharray="4 3")


def camera(page: Svg, name: str, camera: Camera, place: Map) -> None:
    """Where a camera stands and between which lines it sees; nothing for one that looks straight into the page."""
    at = place(camera.location)
    ahead = place.way(camera.forward)
    if math.hypot(*ahead) < 0.02 * place.scale:
        return
    turn = math.atan2(ahead[1], ahead[0])
    half = camera.width / 2 / camera.focal
    for side in (-1, 1):
        start, angle = at, turn + side * math.atan(half)
        if camera.orthographic:
            across = place.way(camera.right)
            start, angle = (at[0] + side * half * across[0], at[1] + side * half * across[1]), turn
        end = (start[0] + _REACH * math.cos(angle), start[1] + _REACH * math.sin(angle))
        page.line(start, end, stroke=_CAMERA, stroke_width=1.2)
    page.circle(at, 5, fill=_CAMERA)
    page.text((at[0] + 8, at[1] + 4), name, 11, fill=_CAMERA)


def light(page: Svg, name: str, at: Point) -> None:
    """An area light."""
    x, y = at
    page.polygon([(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)], fill=_LIGHT, stroke=FAINT, stroke_width=0.7)
    page.text((x + 8, y + 4), name, 10, fill=FAINT)


def compass(page: Svg, place: Map, height: float) -> None:
    """The world's axes, those that can be seen on the page."""
    origin = (46.0, height - 46.0)
    axes: dict[str, Vec] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    for name, axis in axes.items():
        x, y = (34 * part / place.scale for part in place.way(axis))
        if math.hypot(x, y) < 8:
            continue
        page.line(origin, (origin[0] + x, origin[1] + y), stroke=FAINT, stroke_width=1.2)
        page.text((origin[0] + 1.25 * x, origin[1] + 1.25 * y + 4), name, 11, fill=FAINT, text_anchor="middle")
