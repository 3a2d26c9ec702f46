"""Exact geometry of the seven pieces, numbered as published: eight rotations, and both sides of the parallelogram.

Tangrams are validated exactly, too: the right pieces, without overlaps, all connected.

One unit is a quarter of a small triangle's leg (see root2), x to the right, y up, corners counter-clockwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, total_ordering
from math import sqrt

from diorama.scene_specs.language.outlines import edges, signed_area

_ROOT = sqrt(2.0)


@total_ordering
@dataclass(slots=True)
class Root2:
    """a + b * sqrt(2): ordered and hashable; `float()` rounds."""

    a: int
    b: int = 0

    def __add__(self, other: Root2) -> Root2:
        return Root2(self.a + other.a, self.b + other.b)

    def __sub__(self, other: Root2) -> Root2:
        return Root2(self.a - other.a, self.b - other.b)

    def __neg__(self) -> Root2:
        return Root2(-self.a, -self.b)

    def __mul__(self, other: Root2) -> Root2:
        return Root2(self.a * other.a + 2 * self.b * other.b, self.a * other.b + self.b * other.a)

    def half(self) -> Root2:
        """Return half of the number. Raises ValueError if a or b is odd."""
        if self.a % 2 or self.b % 2:
            raise ValueError(f"{self!r} has no half of the form a + b * sqrt(2) with integers a and b")
        return Root2(self.a // 2, self.b // 2)

    def sign(self) -> int:
        """Return the exact sign: -1, 0 or 1."""
        a, b = self.a, self.b
        if a >= 0 and b >= 0:
            return int(a > 0 or b > 0)
        if a <= 0 and b <= 0:
            return -1
        # Opposite signs: the larger of a^2 and 2 b^2 decides. They are never equal, as sqrt(2) is irrational.
        return (1 if a > 0 else -1) if a * a > 2 * b * b else (1 if b > 0 else -1)

    def __lt__(self, other: Root2) -> bool:
        return (self - other).sign() < 0

    def __hash__(self) -> int:
        return self.a * 1_000_003 + self.b

    def __float__(self) -> float:
        return self.a + self.b * _ROOT

    def __repr__(self) -> str:
        return f"Root2({self.a}, {self.b})"


ZERO = Root2(0)


Point = tuple[Root2, Root2]
Polygon = tuple[Point, ...]

PIECES: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7)
# In areas of a small triangle; the total is 16.
AREAS: Mapping[int, int] = {1: 2, 2: 2, 3: 1, 4: 1, 5: 2, 6: 4, 7: 4}
PARALLELOGRAM = 2
# Eighths of a turn that map a piece to itself; 8 for pieces not listed.
_SYMMETRY: Mapping[int, int] = {1: 2, 2: 4}

# A rotation by 45 degrees divides by sqrt(2); coordinates of the base forms are chosen so that they stay integers.
_LEGS = {3: Root2(4), 4: Root2(4), 5: Root2(0, 4), 6: Root2(8), 7: Root2(8)}
_BASE: Mapping[int, Polygon] = {
    1: ((ZERO, ZERO), (Root2(4), ZERO), (Root2(4), Root2(4)), (ZERO, Root2(4))),
    2: ((ZERO, ZERO), (Root2(4), ZERO), (Root2(8), Root2(4)), (Root2(4), Root2(4))),
    **{piece: ((ZERO, ZERO), (leg, ZERO), (ZERO, leg)) for piece, leg in _LEGS.items()},
}


@dataclass(frozen=True)
class Tangram:
    """Seven placed pieces; polygons[k] is piece k + 1.

    Attributes:
        name: its id in files.
    """

    name: str
    polygons: tuple[Polygon, ...]

    def floats(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        """Return (7 pieces, corners, xy) as floats, in legs of a small triangle."""
        return tuple(tuple((float(x) / 4, float(y) / 4) for x, y in polygon) for polygon in self.polygons)


def _over_root(value: Root2) -> Root2:
    """Divide by r = sqrt(2): (a + b r) / r = b + a / 2 r."""
    return Root2(value.b, value.a // 2)


@lru_cache(maxsize=64)
def oriented(piece: int, eighths: int, mirrored: bool = False) -> Polygon:
    """Return a piece rotated by `eighths` times 45 degrees, with its first corner at the origin; mirrored first."""
    corners: Sequence[Point] = _BASE[piece]
    if mirrored:
        corners = [(x, -y) for x, y in reversed(corners)]
    for _ in range(eighths % 8):
        corners = [(_over_root(x - y), _over_root(x + y)) for x, y in corners]
    return moved(tuple(corners), (-corners[0][0], -corners[0][1]))


def moved(polygon: Polygon, by: Point) -> Polygon:
    """Return a polygon shifted by a vector."""
    return tuple((x + by[0], y + by[1]) for x, y in polygon)


def mirrored_x(polygon: Polygon) -> Polygon:
    """Return a polygon reflected at x = 0, still counter-clockwise."""
    return tuple((-x, y) for x, y in reversed(polygon))


@lru_cache(maxsize=8)
def orientations(piece: int) -> tuple[Polygon, ...]:
    """Return all orientations of a piece: 2 of the square, 8 of a triangle, 4 of each side of the parallelogram."""
    turns = range(_SYMMETRY.get(piece, 8))
    sides = (False, True) if piece == PARALLELOGRAM else (False,)
    return tuple(oriented(piece, turn, side) for side in sides for turn in turns)


def double_area(polygon: Polygon) -> Root2:
    """Return twice the signed area, positive counter-clockwise."""
    total = ZERO
    for (x1, y1), (x2, y2) in edges(polygon):
        total = total + (x1 * y2 - x2 * y1)
    return total


XY = tuple[float, float]
Corners = tuple[XY, ...]


@dataclass(frozen=True)
class Figure:
    """A drawing. polygons[k] is piece k + 1: corners in user units, x right, y down.

    Attributes:
        view_box: x, y, width, height.
    """

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
        return tuple(tuple(((x - x0) * scale, (y - y0) * scale) for x, y in polygon) for polygon in self.polygons)


def figure_of(tangram: Tangram) -> Figure:
    """Return the drawing of a tangram: legs of small triangles are 40 units, the view box is tight."""
    polygons = [[(40 * x, -40 * y) for x, y in polygon] for polygon in tangram.floats()]
    xs = [x for polygon in polygons for x, _ in polygon]
    ys = [y for polygon in polygons for _, y in polygon]
    moved = tuple(tuple((x - min(xs), y - min(ys)) for x, y in polygon) for polygon in polygons)
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


# All edges lie along multiples of 45 degrees, so two pieces are disjoint exactly if their projections on x, y, x + y or
# x - y are (separating axis theorem: the axes are normal to edges).
Span = tuple[Root2, Root2]


def spans(polygon: Polygon) -> tuple[Span, Span, Span, Span]:
    """Return the least and greatest x, y, x + y and x - y."""
    lines = zip(*((x, y, x + y, x - y) for x, y in polygon), strict=True)
    first, second, third, fourth = ((min(line), max(line)) for line in lines)
    return (first, second, third, fourth)


def overlap(first: Sequence[Span], second: Sequence[Span]) -> bool:
    """Return whether two pieces, given by their spans, share an area."""
    return all(
        (low_b - high_a).sign() < 0 and (low_a - high_b).sign() < 0
        for (low_a, high_a), (low_b, high_b) in zip(first, second, strict=True)
    )


def _cross(a: Point, b: Point, c: Point) -> Root2:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _dot(a: Point, b: Point, c: Point) -> Root2:
    return (b[0] - a[0]) * (c[0] - a[0]) + (b[1] - a[1]) * (c[1] - a[1])


def edges_meet(first: Polygon, second: Polygon) -> bool:
    """Return whether two pieces that do not overlap share part of an edge, longer than a point."""
    for a, b in edges(first):
        for c, d in edges(second):
            if _cross(a, b, c).sign() or _cross(a, b, d).sign():
                continue
            # c and d lie on the line through a and b: compare their positions along it with the edge.
            low, high = sorted((_dot(a, b, c), _dot(a, b, d)))
            if high.sign() > 0 and (low - _dot(a, b, b)).sign() < 0:
                return True
    return False


def touch(first: Polygon, second: Polygon) -> bool:
    """Return whether two pieces that do not overlap have a point in common."""
    for this, that in ((first, second), (second, first)):
        for a, b in edges(this):
            for c in that:
                inside = _dot(a, b, c)
                if _cross(a, b, c).sign() == 0 and inside.sign() >= 0 and (inside - _dot(a, b, b)).sign() <= 0:
                    return True
    return False


def connected(polygons: Sequence[Polygon], by_edges: bool = True) -> bool:
    """Return whether all pieces are connected.

    Args:
        by_edges: a common point is not enough, only part of an edge.
    """
    meet = edges_meet if by_edges else touch
    reached, todo = {0}, [0]
    while todo:
        here = todo.pop()
        for k in range(len(polygons)):
            if k not in reached and meet(polygons[here], polygons[k]):
                reached.add(k)
                todo.append(k)
    return len(reached) == len(polygons)


def is_piece(polygon: Polygon, piece: int) -> bool:
    """Return whether a polygon is this piece, turned by a multiple of 45 degrees, mirrored or not."""
    wanted = _from_lowest(polygon)
    looks = orientations(piece)
    return any(wanted == _from_lowest(look) for look in (*looks, *map(mirrored_x, looks)))


def _from_lowest(polygon: Polygon) -> Polygon:
    """Return the polygon with its lowest corner (of several, the leftmost) first and at the origin."""
    start = min(range(len(polygon)), key=lambda k: (polygon[k][1], polygon[k][0]))
    x0, y0 = polygon[start]
    return tuple((x - x0, y - y0) for x, y in (*polygon[start:], *polygon[:start]))


def tangram_problems(tangram: Tangram, by_edges: bool = False) -> list[str]:
    """Return why a tangram is invalid, [] if it is valid.

    Args:
        by_edges: see `connected`.
    """
    problems = []
    if len(tangram.polygons) != len(PIECES):
        return [f"{len(tangram.polygons)} pieces; there are {len(PIECES)}"]
    for piece, polygon in zip(PIECES, tangram.polygons, strict=True):
        # Twice the area of a small triangle is 16 units.
        if not is_piece(polygon, piece) or double_area(polygon) != Root2(16 * AREAS[piece]):
            problems.append(f"piece {piece} is not the piece it should be, or not turned by a multiple of 45 degrees")
    reach = [spans(polygon) for polygon in tangram.polygons]
    for j in range(len(reach)):
        problems += [f"pieces {i + 1} and {j + 1} overlap" for i in range(j) if overlap(reach[i], reach[j])]
    if not connected(tangram.polygons, by_edges):
        problems.append("the pieces are not connected")
    return problems
