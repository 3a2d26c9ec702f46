"""Random tangrams: piece is laid to piece, edge on edge, until all seven lie. Exact, bounded, from `rng` alone.

Two pieces laid together share one end of an edge, or the middle. `corners` is the share of pieces that hang on by a
corner instead; `symmetric` lays pairs to both sides of an upright axis (all but the parallelogram, which has no match).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from scene_specs.benchmarks.kilogram.pieces import PIECES, Point, Polygon, Tangram, mirrored_x, moved, orientations
from scene_specs.benchmarks.kilogram.root2 import ZERO, Root2
from scene_specs.benchmarks.kilogram.validity import Span, edges, exact_faults, overlap, spans, touch
from scene_specs.language.errors import DioramaError
from scene_specs.language.rng import generator, pick

# Places tried for one piece, and tangrams started, before giving up; two to six places are enough.
PLACES = 600
STARTS = 60


@dataclass
class _Lying:
    """What lies already: piece -> polygon, and the reach of each."""

    polygons: dict[int, Polygon] = field(default_factory=dict)
    reach: list[tuple[Span, ...]] = field(default_factory=list)

    def free(self, polygon: Polygon) -> bool:
        mine = spans(polygon)
        return not any(overlap(mine, other) for other in self.reach)

    def add(self, piece: int, polygon: Polygon) -> None:
        self.polygons[piece] = polygon
        self.reach.append(spans(polygon))


def draw_tangram(seed: int, name: str, corners: float = 0.0, symmetric: bool = False) -> Tangram:
    """A valid tangram from (seed, name). corners: from 0 to 1.

    Raises DioramaError where none is found within the bounds, which has not been seen.
    """
    for start in range(STARTS):
        rng = generator(seed, name, f"tangram-{start}")
        lying = _symmetric(rng, corners) if symmetric else _freely(rng, corners)
        if lying is None:
            continue
        tangram = Tangram(name, _to_origin([lying.polygons[piece] for piece in PIECES]))
        if not exact_faults(tangram, by_edges=corners == 0 and not symmetric):
            return tangram
    raise DioramaError(f"tangram {name}, seed {seed}: none of {STARTS} tries held; choose another seed")


def _freely(rng: np.random.Generator, corners: float) -> _Lying | None:
    lying = _Lying()
    for piece in (PIECES[int(k)] for k in rng.permutation(len(PIECES))):
        if not lying.polygons:
            lying.add(piece, pick(rng, orientations(piece)))
            continue
        place = _place(rng, lying, piece, corners)
        if place is None:
            return None
        lying.add(piece, place)
    return lying


def _place(rng: np.random.Generator, lying: _Lying, piece: int, corners: float) -> Polygon | None:
    """A free place of a piece on one of those that lie."""
    by_corner = float(rng.random()) < corners
    for _ in range(PLACES):
        host = pick(rng, list(lying.polygons.values()))
        look = pick(rng, orientations(piece))
        place = _corner_to_corner(rng, host, look) if by_corner else _edge_to_edge(rng, host, look)
        if place is not None and lying.free(place):
            return place
    return None


def _corner_to_corner(rng: np.random.Generator, host: Polygon, look: Polygon) -> Polygon:
    at, mine = pick(rng, host), pick(rng, look)
    return moved(look, (at[0] - mine[0], at[1] - mine[1]))


def _edge_to_edge(rng: np.random.Generator, host: Polygon, look: Polygon) -> Polygon | None:
    """Laid to an edge of the host that runs the other way, if one does."""
    a, b = pick(rng, list(edges(host)))
    facing = [(c, d) for c, d in edges(look) if _against(a, b, c, d)]
    if not facing:
        return None
    c, d = facing[0]
    # End on end, on either side, or middle on middle.
    onto = ((b, c), (a, d), (_middle(a, b), _middle(c, d)))
    there, here = onto[int(rng.integers(3))]
    return moved(look, (there[0] - here[0], there[1] - here[1]))


def _against(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether c to d runs opposite to a to b."""
    x1, y1, x2, y2 = b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]
    return (x1 * y2 - y1 * x2).sign() == 0 and (x1 * x2 + y1 * y2).sign() < 0


def _middle(a: Point, b: Point) -> Point:
    return ((a[0] + b[0]).half(), (a[1] + b[1]).half())


def _to_origin(polygons: Sequence[Polygon]) -> tuple[Polygon, ...]:
    """Shifted so that the least x and the least y of all are 0."""
    x = min(x for one in polygons for x, _ in one)
    y = min(y for one in polygons for _, y in one)
    return tuple(moved(one, (-x, -y)) for one in polygons)


def _symmetric(rng: np.random.Generator, corners: float) -> _Lying | None:
    """Square and medium triangle on the axis x = 0, the other triangles in pairs; then the parallelogram anywhere."""
    lying = _Lying()
    order = [1, 5] if rng.integers(2) else [5, 1]
    pairs = [(6, 7), (3, 4)] if rng.integers(2) else [(3, 4), (6, 7)]
    steps: list[int | tuple[int, int]] = [order[0]]
    rest: list[int | tuple[int, int]] = [order[1], *pairs]
    steps += [rest[int(k)] for k in rng.permutation(3)]
    for step in steps:
        if not (_on_axis(rng, lying, step) if isinstance(step, int) else _pair(rng, lying, step, corners)):
            return None
    place = _place(rng, lying, 2, corners)
    if place is None:
        return None
    lying.add(2, place)
    return lying


def _centered(piece: int) -> Iterator[Polygon]:
    """The looks of a piece that are their own mirror image, with the axis at x = 0."""
    for look in orientations(piece):
        low, high = spans(look)[0]
        if (low + high).a % 2 or (low + high).b % 2:
            continue
        middle = (low + high).half()
        there = moved(look, (-middle, ZERO))
        if {*there} == {*mirrored_x(there)}:
            yield there


def _on_axis(rng: np.random.Generator, lying: _Lying, piece: int) -> bool:
    looks = list(_centered(piece))
    if not lying.polygons:
        lying.add(piece, pick(rng, looks))
        return True
    heights = [y for one in lying.polygons.values() for _, y in one]
    for _ in range(PLACES):
        look = pick(rng, looks)
        place = moved(look, (Root2(0), pick(rng, heights) - pick(rng, look)[1]))
        if lying.free(place) and any(touch(place, one) for one in lying.polygons.values()):
            lying.add(piece, place)
            return True
    return False


def _pair(rng: np.random.Generator, lying: _Lying, pieces: tuple[int, int], corners: float) -> bool:
    for _ in range(20):
        place = _place(rng, lying, pieces[0], corners)
        if place is None:
            return False
        other = mirrored_x(place)
        if lying.free(other) and not overlap(spans(place), spans(other)):
            lying.add(pieces[0], place)
            lying.add(pieces[1], other)
            return True
    return False
