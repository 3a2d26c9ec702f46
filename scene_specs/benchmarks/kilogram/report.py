"""Measurements of drawings of tangrams: areas, angles, overlaps, gaps, view boxes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from diorama.scene_specs.benchmarks.kilogram.pieces import AREAS, PIECES, XY, Corners, Figure
from diorama.scene_specs.language.outlines import distance_to_edge, edges, signed_area, turn_of

# Name of each piece, and the angles of its corners in degrees, sorted.
_TRIANGLES = {3: "small", 4: "small", 5: "medium", 6: "large", 7: "large"}
_FORMS: Mapping[int, tuple[str, tuple[int, ...]]] = {
    1: ("square", (90, 90, 90, 90)),
    2: ("parallelogram", (45, 45, 135, 135)),
    **{piece: (f"{size} triangle", (45, 45, 90)) for piece, size in _TRIANGLES.items()},
}
# Tolerances. Areas and overlaps: shares of the total area; gaps: legs of a small triangle; margins: shares of the
# longer side.
MOST_AREA = 0.02
MOST_ANGLE_DEG = 2.0
MOST_OVERLAP = 0.005
MOST_GAP = 0.02
MOST_MARGIN = 0.02
MARGIN_OUTSIDE = 0.005


@dataclass(frozen=True)
class Measured:
    """Measurements of a drawing.

    Attributes:
        area: the largest |area / expected - 1| of a piece.
        angle_deg: the largest distance of an edge from a multiple of 45 degrees, after the best rotation of the figure.
        overlap: shared area over total area.
        clusters: number of groups that do not touch.
        margin: of the view box around the pieces, over its longer side; negative if it cuts them.
    """

    name: str
    area: float
    angle_deg: float
    overlap: float
    clusters: int
    margin: float
    diagnostics: tuple[str, ...]


def measure(figure: Figure) -> Measured:
    """Measure a drawing and report what exceeds the tolerances."""
    shapes = [polygon if signed_area(polygon) > 0 else polygon[::-1] for polygon in figure.polygons]
    diagnostics = []
    for piece, shape in zip(PIECES, shapes, strict=True):
        if len(shape) != (expected := len(_FORMS[piece][1])):
            diagnostics.append(f"piece {piece} has {len(shape)} corners; expected {expected}")
        if any(cross <= 0 for cross, _ in _corner_products(shape)):
            diagnostics.append(f"piece {piece} is not convex")
    whole = sum(map(signed_area, shapes))
    if diagnostics or whole <= 0:
        none = math.nan
        return Measured(figure.name, none, none, none, 0, none, tuple(diagnostics or ["the pieces have no area"]))
    off = [signed_area(shape) / (whole * AREAS[piece] / 16) - 1 for piece, shape in zip(PIECES, shapes, strict=True)]
    angle = _largest_angle_error(shapes)
    shared = sum(signed_area(cut) for a, b in combinations(shapes, 2) if len(cut := clipped(a, b)) > 2) / whole
    clusters = _count_clusters(shapes, MOST_GAP * math.sqrt(whole / 8))
    margin = _largest_margin(figure)
    for piece, excess, shape in zip(PIECES, off, shapes, strict=True):
        if abs(excess) > MOST_AREA:
            diagnostics.append(f"piece {piece}'s area is off by {100 * excess:+.1f} %")
        name, angles = _FORMS[piece]
        corners = sorted(180 - math.degrees(math.atan2(cross, dot)) for cross, dot in _corner_products(shape))
        if max(abs(a - b) for a, b in zip(corners, angles, strict=True)) > 2 * MOST_ANGLE_DEG:
            listed = ", ".join(f"{corner:.0f}" for corner in corners)
            diagnostics.append(f"piece {piece} has corners of {listed} degrees; it is a {name}")
    if angle > MOST_ANGLE_DEG:
        diagnostics.append(f"an edge is {angle:.1f} degrees off a multiple of 45")
    if shared > MOST_OVERLAP:
        diagnostics.append(f"pieces overlap by {100 * shared:.2f} % of the area")
    if clusters > 1:
        diagnostics.append(f"the pieces lie in {clusters} places that do not touch")
    if margin > MOST_MARGIN:
        diagnostics.append(f"the view box is wider than the pieces by {100 * margin:.1f} % of its side")
    elif margin < -MARGIN_OUTSIDE:
        diagnostics.append(f"the view box cuts off {-100 * margin:.1f} % of its side")
    return Measured(figure.name, max(map(abs, off)), angle, shared, clusters, margin, tuple(diagnostics))


def _corner_products(polygon: Corners) -> Iterator[tuple[float, float]]:
    """Yield the cross and dot product of the two edges at each corner."""
    for k in range(len(polygon)):
        (ax, ay), (bx, by), (cx, cy) = polygon[k - 2], polygon[k - 1], polygon[k]
        yield (bx - ax) * (cy - by) - (by - ay) * (cx - bx), (bx - ax) * (cx - bx) + (by - ay) * (cy - by)


def _largest_angle_error(shapes: Sequence[Corners]) -> float:
    """Return the largest distance of an edge from a multiple of 45 degrees, after the best rotation of the figure."""
    sides = [side for shape in shapes for side in edges(shape)]
    turns = [math.degrees(math.atan2(y2 - y1, x2 - x1)) % 45 for (x1, y1), (x2, y2) in sides]
    # The rotation of the drawing: the circular mean with a period of 45 degrees.
    x = sum(math.cos(math.radians(8 * turn)) for turn in turns)
    y = sum(math.sin(math.radians(8 * turn)) for turn in turns)
    own = math.degrees(math.atan2(y, x)) / 8
    return max(abs((turn - own + 22.5) % 45 - 22.5) for turn in turns)


def clipped(polygon: Sequence[XY], window: Sequence[XY]) -> Corners:
    """Return the part of a convex polygon inside another, both clockwise on a screen; () if there is none."""
    kept = list(polygon)
    for a, b in edges(window):
        sides = [turn_of(a, b, point) for point in kept]
        cut: list[XY] = []
        for k, (point, side) in enumerate(zip(kept, sides, strict=True)):
            before, other = kept[k - 1], sides[k - 1]
            if (side > 0) != (other > 0):
                t = other / (other - side)
                cut.append((before[0] + t * (point[0] - before[0]), before[1] + t * (point[1] - before[1])))
            if side > 0:
                cut.append(point)
        kept = cut
    return tuple(kept)


def _count_clusters(shapes: Sequence[Corners], gap: float) -> int:
    group = list(range(len(shapes)))
    for i, j in combinations(range(len(shapes)), 2):
        if group[i] != group[j] and apart(shapes[i], shapes[j]) <= gap:
            old, new = group[j], group[i]
            group = [new if cluster == old else cluster for cluster in group]
    return len({*group})


def apart(first: Corners, second: Corners) -> float:
    """Return the distance of two convex polygons, 0 if they overlap."""
    if len(clipped(first, second)) > 2:
        return 0.0
    both = ((first, second), (second, first))
    return min(distance_to_edge(point, *side) for here, there in both for point in here for side in edges(there))


def _largest_margin(figure: Figure) -> float:
    x, y, width, height = figure.view_box
    xs = [px for polygon in figure.polygons for px, _ in polygon]
    ys = [py for polygon in figure.polygons for _, py in polygon]
    sides = (min(xs) - x, min(ys) - y, x + width - max(xs), y + height - max(ys))
    scale = max(width, height)
    return min(sides) / scale if min(sides) < -MARGIN_OUTSIDE * scale else max(sides) / scale
