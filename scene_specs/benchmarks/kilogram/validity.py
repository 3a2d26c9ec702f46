"""Whether a tangram is one, by exact arithmetic: the right pieces, no two of them in one place, all in one.

All edges lie along multiples of 45 degrees, so two pieces are apart exactly if they are along x, y, x + y or x - y
(of two convex forms, a line along an edge of one parts them or nothing does).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scene_specs.benchmarks.kilogram.pieces import (
    AREAS,
    PIECES,
    Point,
    Polygon,
    Tangram,
    double_area,
    mirrored_x,
    orientations,
)  # fmt: skip
from scene_specs.benchmarks.kilogram.root2 import Root2

Span = tuple[Root2, Root2]


def spans(polygon: Polygon) -> tuple[Span, Span, Span, Span]:
    """Least and greatest of x, y, x + y and x - y."""
    lines = (
        [x for x, _ in polygon],
        [y for _, y in polygon],
        [x + y for x, y in polygon],
        [x - y for x, y in polygon],
    )
    first, second, third, fourth = ((min(line), max(line)) for line in lines)
    return (first, second, third, fourth)


def overlap(one: Sequence[Span], other: Sequence[Span]) -> bool:
    """Whether two pieces, given by their spans, share an area."""
    return all(
        (low_b - high_a).sign() < 0 and (low_a - high_b).sign() < 0
        for (low_a, high_a), (low_b, high_b) in zip(one, other, strict=True)
    )


def edges(polygon: Polygon) -> Iterator[tuple[Point, Point]]:
    """The sides, counter-clockwise."""
    yield from zip(polygon, (*polygon[1:], polygon[0]), strict=True)


def _cross(a: Point, b: Point, c: Point) -> Root2:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _dot(a: Point, b: Point, c: Point) -> Root2:
    return (b[0] - a[0]) * (c[0] - a[0]) + (b[1] - a[1]) * (c[1] - a[1])


def edges_meet(one: Polygon, other: Polygon) -> bool:
    """Whether two pieces that don't overlap share a stretch of an edge, longer than a point."""
    for a, b in edges(one):
        for c, d in edges(other):
            if _cross(a, b, c).sign() or _cross(a, b, d).sign():
                continue
            # c and d lie on the line through a and b; their places along it, and the edge's length squared.
            low, high = sorted((_dot(a, b, c), _dot(a, b, d)))
            if high.sign() > 0 and (low - _dot(a, b, b)).sign() < 0:
                return True
    return False


def touch(one: Polygon, other: Polygon) -> bool:
    """Whether two pieces that don't overlap have a point in common."""
    for this, that in ((one, other), (other, one)):
        for a, b in edges(this):
            for c in that:
                inside = _dot(a, b, c)
                if _cross(a, b, c).sign() == 0 and inside.sign() >= 0 and (inside - _dot(a, b, b)).sign() <= 0:
                    return True
    return False


def connected(polygons: Sequence[Polygon], by_edges: bool = True) -> bool:
    """Whether all hang together; by_edges: by stretches of edges, where points are not enough."""
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
    """Whether it is this piece, turned by a multiple of 45 degrees, on either side."""
    wanted = _from_lowest(polygon)
    looks = orientations(piece)
    return any(wanted == _from_lowest(look) for look in (*looks, *map(mirrored_x, looks)))


def _from_lowest(polygon: Polygon) -> Polygon:
    """Shifted so that the lowest corner, of several the leftmost, is the origin and comes first."""
    start = min(range(len(polygon)), key=lambda k: (polygon[k][1], polygon[k][0]))
    x0, y0 = polygon[start]
    turned = (*polygon[start:], *polygon[:start])
    return tuple((x - x0, y - y0) for x, y in turned)


def exact_faults(tangram: Tangram, by_edges: bool = False) -> list[str]:
    """What keeps it from being a tangram; empty if it is one. by_edges: touching at points does not connect."""
    found = []
    if len(tangram.polygons) != len(PIECES):
        return [f"{len(tangram.polygons)} pieces; there are {len(PIECES)}"]
    for piece, polygon in zip(PIECES, tangram.polygons, strict=True):
        # Twice the area of a small triangle is 16 units.
        if not is_piece(polygon, piece) or double_area(polygon) != Root2(16 * AREAS[piece]):
            found.append(f"piece {piece} is not the piece it should be, or not turned by a multiple of 45 degrees")
    reach = [spans(polygon) for polygon in tangram.polygons]
    for j in range(len(reach)):
        found += [f"pieces {i + 1} and {j + 1} overlap" for i in range(j) if overlap(reach[i], reach[j])]
    if not connected(tangram.polygons, by_edges):
        found.append("the pieces do not hang together")
    return found
