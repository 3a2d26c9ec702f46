"""Exact validation of tangrams: the right pieces, without overlaps, all connected.

All edges lie along multiples of 45 degrees, so two pieces are disjoint exactly if their projections on x, y, x + y or
x - y are (separating axis theorem: the axes are normal to edges).
"""

from __future__ import annotations

from collections.abc import Sequence

from diorama.scene_specs.benchmarks.kilogram.pieces import (
    AREAS,
    PIECES,
    Point,
    Polygon,
    Root2,
    Tangram,
    double_area,
    mirrored_x,
    orientations,
)  # fmt: skip
from diorama.scene_specs.language.outlines import edges

Span = tuple[Root2, Root2]


def spans(polygon: Polygon) -> tuple[Span, Span, Span, Span]:
    """Return the least and greatest x, y, x + y and x - y."""
    lines = zip(*((x, y, x + y, x - y) for x, y in polygon), strict=True)
    first, second, third, fourth = ((min(line), max(line)) for line in lines)
    return (first, second, third, fourth)


def overlap(one: Sequence[Span], other: Sequence[Span]) -> bool:
    """Return whether two pieces, given by their spans, share an area."""
    return all(
        (low_b - high_a).sign() < 0 and (low_a - high_b).sign() < 0
        for (low_a, high_a), (low_b, high_b) in zip(one, other, strict=True)
    )


def _cross(a: Point, b: Point, c: Point) -> Root2:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _dot(a: Point, b: Point, c: Point) -> Root2:
    return (b[0] - a[0]) * (c[0] - a[0]) + (b[1] - a[1]) * (c[1] - a[1])


def edges_meet(one: Polygon, other: Polygon) -> bool:
    """Return whether two pieces that do not overlap share part of an edge, longer than a point."""
    for a, b in edges(one):
        for c, d in edges(other):
            if _cross(a, b, c).sign() or _cross(a, b, d).sign():
                continue
            # c and d lie on the line through a and b: compare their positions along it with the edge.
            low, high = sorted((_dot(a, b, c), _dot(a, b, d)))
            if high.sign() > 0 and (low - _dot(a, b, b)).sign() < 0:
                return True
    return False


def touch(one: Polygon, other: Polygon) -> bool:
    """Return whether two pieces that do not overlap have a point in common."""
    for this, that in ((one, other), (other, one)):
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
    turned = (*polygon[start:], *polygon[:start])
    return tuple((x - x0, y - y0) for x, y in turned)


def tangram_problems(tangram: Tangram, by_edges: bool = False) -> list[str]:
    """Return why a tangram is invalid, [] if it is valid.

    Args:
        by_edges: see `connected`.
    """
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
        found.append("the pieces are not connected")
    return found
