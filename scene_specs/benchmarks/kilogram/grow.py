"""Random tangrams: pieces are added one by one, edge to edge, until all seven are placed. Exact and bounded.

Two adjacent pieces share one end of an edge, or its midpoint. `corners` is the share of pieces that only share a corner
instead. `symmetric` places pairs on both sides of a vertical axis (except the parallelogram, which has no twin).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from diorama.scene_specs.benchmarks.kilogram.pieces import (
    PIECES,
    Point,
    Polygon,
    Tangram,
    mirrored_x,
    moved,
    orientations,
)
from diorama.scene_specs.benchmarks.kilogram.root2 import ZERO, Root2
from diorama.scene_specs.benchmarks.kilogram.validity import Span, overlap, spans, tangram_problems, touch
from diorama.scene_specs.language.errors import DioramaError
from diorama.scene_specs.language.outlines import edges
from diorama.scene_specs.language.rng import generator, pick, shuffled

# Attempts per piece, and per tangram. Two to six attempts per piece are usual.
PLACES = 600
STARTS = 60


@dataclass
class _Placed:
    """Pieces placed so far: piece -> polygon, and the spans of each."""

    polygons: dict[int, Polygon] = field(default_factory=dict)
    reach: list[tuple[Span, ...]] = field(default_factory=list)

    def free(self, polygon: Polygon) -> bool:
        mine = spans(polygon)
        return not any(overlap(mine, other) for other in self.reach)

    def add(self, piece: int, polygon: Polygon) -> None:
        self.polygons[piece] = polygon
        self.reach.append(spans(polygon))


def draw_tangram(seed: int, name: str, corners: float = 0.0, symmetric: bool = False) -> Tangram:
    """Draw a valid tangram from (seed, name). corners: from 0 to 1.

    Raises DioramaError if none is found within the bounds (never observed).
    """
    for start in range(STARTS):
        rng = generator(seed, name, f"tangram-{start}")
        placed = _symmetric(rng, corners) if symmetric else _freely(rng, corners)
        if placed is None:
            continue
        tangram = Tangram(name, _to_origin([placed.polygons[piece] for piece in PIECES]))
        if not tangram_problems(tangram, by_edges=corners == 0 and not symmetric):
            return tangram
    raise DioramaError(f"tangram {name}, seed {seed}: none of {STARTS} attempts is valid; choose another seed")


def _freely(rng: np.random.Generator, corners: float) -> _Placed | None:
    placed = _Placed()
    for piece in shuffled(rng, PIECES):
        if not placed.polygons:
            placed.add(piece, pick(rng, orientations(piece)))
            continue
        place = _place(rng, placed, piece, corners)
        if place is None:
            return None
        placed.add(piece, place)
    return placed


def _place(rng: np.random.Generator, placed: _Placed, piece: int, corners: float) -> Polygon | None:
    """Return a piece at a free position next to a placed one, None if no attempt finds one."""
    by_corner = float(rng.random()) < corners
    for _ in range(PLACES):
        host = pick(rng, list(placed.polygons.values()))
        look = pick(rng, orientations(piece))
        place = _corner_to_corner(rng, host, look) if by_corner else _edge_to_edge(rng, host, look)
        if place is not None and placed.free(place):
            return place
    return None


def _corner_to_corner(rng: np.random.Generator, host: Polygon, look: Polygon) -> Polygon:
    at, mine = pick(rng, host), pick(rng, look)
    return moved(look, (at[0] - mine[0], at[1] - mine[1]))


def _edge_to_edge(rng: np.random.Generator, host: Polygon, look: Polygon) -> Polygon | None:
    """Return a piece next to a random edge of the host, None if no edge of the piece is antiparallel to it."""
    a, b = pick(rng, list(edges(host)))
    facing = [(c, d) for c, d in edges(look) if _against(a, b, c, d)]
    if not facing:
        return None
    c, d = facing[0]
    # Align one end, the other end, or the midpoints.
    onto = ((b, c), (a, d), (_middle(a, b), _middle(c, d)))
    there, here = onto[int(rng.integers(3))]
    return moved(look, (there[0] - here[0], there[1] - here[1]))


def _against(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Return whether the vectors ab and cd are antiparallel."""
    x1, y1, x2, y2 = b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]
    return (x1 * y2 - y1 * x2).sign() == 0 and (x1 * x2 + y1 * y2).sign() < 0


def _middle(a: Point, b: Point) -> Point:
    return ((a[0] + b[0]).half(), (a[1] + b[1]).half())


def _to_origin(polygons: Sequence[Polygon]) -> tuple[Polygon, ...]:
    """Return the polygons, shifted so that the least x and the least y are 0."""
    x = min(x for one in polygons for x, _ in one)
    y = min(y for one in polygons for _, y in one)
    return tuple(moved(one, (-x, -y)) for one in polygons)


def _symmetric(rng: np.random.Generator, corners: float) -> _Placed | None:
    """Place square and medium triangle on the axis x = 0, the other triangles in pairs, then the parallelogram."""
    placed = _Placed()
    order = [1, 5] if rng.integers(2) else [5, 1]
    pairs = [(6, 7), (3, 4)] if rng.integers(2) else [(3, 4), (6, 7)]
    rest: list[int | tuple[int, int]] = [order[1], *pairs]
    for step in (order[0], *shuffled(rng, rest)):
        if not (_on_axis(rng, placed, step) if isinstance(step, int) else _pair(rng, placed, step, corners)):
            return None
    place = _place(rng, placed, 2, corners)
    if place is None:
        return None
    placed.add(2, place)
    return placed


def _centered(piece: int) -> Iterator[Polygon]:
    """Yield the orientations of a piece that are their own mirror image, with the axis at x = 0."""
    for look in orientations(piece):
        low, high = spans(look)[0]
        if (low + high).a % 2 or (low + high).b % 2:
            continue
        middle = (low + high).half()
        there = moved(look, (-middle, ZERO))
        if {*there} == {*mirrored_x(there)}:
            yield there


def _on_axis(rng: np.random.Generator, placed: _Placed, piece: int) -> bool:
    looks = list(_centered(piece))
    if not placed.polygons:
        placed.add(piece, pick(rng, looks))
        return True
    heights = [y for one in placed.polygons.values() for _, y in one]
    for _ in range(PLACES):
        look = pick(rng, looks)
        place = moved(look, (Root2(0), pick(rng, heights) - pick(rng, look)[1]))
        if placed.free(place) and any(touch(place, one) for one in placed.polygons.values()):
            placed.add(piece, place)
            return True
    return False


def _pair(rng: np.random.Generator, placed: _Placed, pieces: tuple[int, int], corners: float) -> bool:
    for _ in range(20):
        place = _place(rng, placed, pieces[0], corners)
        if place is None:
            return False
        other = mirrored_x(place)
        if placed.free(other) and not overlap(spans(place), spans(other)):
            placed.add(pieces[0], place)
            placed.add(pieces[1], other)
            return True
    return False
