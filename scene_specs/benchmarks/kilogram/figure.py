"""A tangram as a drawing: seven polygons in the frame of its view box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from diorama.scene_specs.benchmarks.kilogram.pieces import Tangram
from diorama.scene_specs.language.outlines import edges, signed_area

XY = tuple[float, float]
Corners = tuple[XY, ...]


@dataclass(frozen=True)
class Figure:
    """A drawing. polygons[k] is piece k + 1: corners in user units, x right, y down. view_box: x, y, width, height."""

    name: str
    polygons: tuple[Corners, ...]
    view_box: tuple[float, float, float, float]

    def squared(self) -> tuple[float, float, float]:
        """Return x, y and side of the square view box: padded on both ends of its shorter side."""
        x, y, width, height = self.view_box
        side = max(width, height)
        return (x + (width - side) / 2, y + (height - side) / 2, side)

    def placed(self, side: float) -> tuple[Corners, ...]:
        """Return the polygons in a square image of this side, with the origin at the top left and y down."""
        x0, y0, whole = self.squared()
        scale = side / whole
        return tuple(tuple(((x - x0) * scale, (y - y0) * scale) for x, y in one) for one in self.polygons)


def figure_of(tangram: Tangram) -> Figure:
    """Return the drawing of a tangram: legs of small triangles are 40 units, the view box is tight."""
    polygons = [[(40 * x, -40 * y) for x, y in one] for one in tangram.floats()]
    xs = [x for one in polygons for x, _ in one]
    ys = [y for one in polygons for _, y in one]
    moved = tuple(tuple((x - min(xs), y - min(ys)) for x, y in one) for one in polygons)
    return Figure(tangram.name, moved, (0.0, 0.0, max(xs) - min(xs), max(ys) - min(ys)))


def inset(polygon: Sequence[XY], by: float) -> Corners:
    """Return a convex polygon with every edge moved inwards, () if nothing is left.

    The result is the part of the polygon that a line of twice this width along its edges leaves uncovered.
    """
    if by == 0:
        return tuple(polygon)
    points = list(polygon) if signed_area(polygon) > 0 else list(polygon)[::-1]
    lines = []
    for (x1, y1), (x2, y2) in edges(points):
        length = sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2)
        if length == 0:
            return ()
        nx, ny = -(y2 - y1) / length, (x2 - x1) / length
        lines.append((nx, ny, nx * x1 + ny * y1 + by))
    corners = []
    for k in range(len(lines)):
        (a, b, c), (d, e, f) = lines[k - 1], lines[k]
        cross = a * e - b * d
        if abs(cross) < 1e-9:
            return ()
        corners.append(((c * e - b * f) / cross, (a * f - c * d) / cross))
    inside = all(nx * x + ny * y >= c - 1e-9 for nx, ny, c in lines for x, y in corners)
    return tuple(corners) if inside else ()


def svg_text(figure: Figure) -> str:
    """Return the published SVG: seven polygons with ids, light gray with a white border."""
    x, y, width, height = figure.view_box
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" baseProfile="full" version="1.1" '
        f'viewBox="{x:g} {y:g} {width:.6g} {height:.6g}" width="100%" height="100%">',
        "<defs/>",
    ]
    for piece, polygon in enumerate(figure.polygons, start=1):
        points = " ".join(f"{px:.6f},{py:.6f}" for px, py in polygon)
        lines.append(f'<polygon fill="lightgray" id="{piece}" points="{points}" stroke="white" stroke-width="1"/>')
    return "\n".join([*lines, "</svg>", ""])
