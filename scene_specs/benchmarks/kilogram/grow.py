"""Random tangrams: pieces are added one by one, edge to edge, until all seven are placed. Exact and bounded.

Two adjacent pieces share one end of an edge, or its midpoint. `corners` is the share of pieces that only share a corner
instead. `symmetric` places pairs on both sides of a vertical axis (except the parallelogram, which has no twin).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.benchmarks.kilogram import Tangrams, pieces
from diorama.scene_specs.errors import DioramaError, UsageError, counted
from diorama.scene_specs.files.atomic import write_atomic
from diorama.scene_specs.files.writing import report_write_errors
from diorama.scene_specs.language.outlines import edges
from diorama.scene_specs.language.rng import generator, pick, shuffled
from diorama.scene_specs.tasks.benchmark import Series

# Attempts per piece, and per tangram. Two to six attempts per piece are usual.
PLACES = 600
STARTS = 60


@dataclass
class _Placed:
    """Pieces placed so far: piece -> polygon, and the spans of each."""

    polygons: dict[int, pieces.Polygon] = field(default_factory=dict)
    reach: list[tuple[pieces.Span, ...]] = field(default_factory=list)

    def free(self, polygon: pieces.Polygon) -> bool:
        mine = pieces.spans(polygon)
        return not any(pieces.overlap(mine, other) for other in self.reach)

    def add(self, piece: int, polygon: pieces.Polygon) -> None:
        self.polygons[piece] = polygon
        self.reach.append(pieces.spans(polygon))


def draw_tangram(seed: int, name: str, corners: float = 0.0, symmetric: bool = False) -> pieces.Tangram:
    """Draw a valid tangram from (seed, name).

    Args:
        corners: from 0 to 1.

    Raises:
        DioramaError: if none is found within the bounds (never observed).
    """
    for start in range(STARTS):
        rng = generator(seed, name, f"tangram-{start}")
        placed = _grow_symmetric(rng, corners) if symmetric else _grow_freely(rng, corners)
        if placed is None:
            continue
        tangram = pieces.Tangram(name, _to_origin([placed.polygons[piece] for piece in pieces.PIECES]))
        if not pieces.tangram_problems(tangram, by_edges=corners == 0 and not symmetric):
            return tangram
    raise DioramaError(f"tangram {name}, seed {seed}: none of {STARTS} attempts is valid; choose another seed")


def _grow_freely(rng: np.random.Generator, corners: float) -> _Placed | None:
    placed = _Placed()
    for piece in shuffled(rng, pieces.PIECES):
        place = _attach_piece(rng, placed, piece, corners) if placed.polygons else pick(rng, pieces.orientations(piece))
        if place is None:
            return None
        placed.add(piece, place)
    return placed


def _attach_piece(rng: np.random.Generator, placed: _Placed, piece: int, corners: float) -> pieces.Polygon | None:
    """Return a piece at a free position next to a placed one, None if no attempt finds one."""
    by_corner = float(rng.random()) < corners
    for _ in range(PLACES):
        host = pick(rng, list(placed.polygons.values()))
        look = pick(rng, pieces.orientations(piece))
        place = _corner_to_corner(rng, host, look) if by_corner else _attach_at_edge(rng, host, look)
        if place is not None and placed.free(place):
            return place
    return None


def _corner_to_corner(rng: np.random.Generator, host: pieces.Polygon, look: pieces.Polygon) -> pieces.Polygon:
    at, mine = pick(rng, host), pick(rng, look)
    return pieces.moved(look, (at[0] - mine[0], at[1] - mine[1]))


def _attach_at_edge(rng: np.random.Generator, host: pieces.Polygon, look: pieces.Polygon) -> pieces.Polygon | None:
    """Return a piece next to a random edge of the host, None if no edge of the piece is antiparallel to it."""
    a, b = pick(rng, list(edges(host)))
    facing = [(c, d) for c, d in edges(look) if _antiparallel(a, b, c, d)]
    if not facing:
        return None
    c, d = facing[0]
    # Align one end, the other end, or the midpoints.
    onto = ((b, c), (a, d), (_middle(a, b), _middle(c, d)))
    there, here = onto[int(rng.integers(3))]
    return pieces.moved(look, (there[0] - here[0], there[1] - here[1]))


def _antiparallel(a: pieces.Point, b: pieces.Point, c: pieces.Point, d: pieces.Point) -> bool:
    """Return whether the vectors ab and cd are antiparallel."""
    x1, y1, x2, y2 = b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]
    return (x1 * y2 - y1 * x2).sign() == 0 and (x1 * x2 + y1 * y2).sign() < 0


def _middle(a: pieces.Point, b: pieces.Point) -> pieces.Point:
    return ((a[0] + b[0]).half(), (a[1] + b[1]).half())


def _to_origin(polygons: Sequence[pieces.Polygon]) -> tuple[pieces.Polygon, ...]:
    """Return the polygons, shifted so that the least x and the least y are 0."""
    x = min(x for polygon in polygons for x, _ in polygon)
    y = min(y for polygon in polygons for _, y in polygon)
    return tuple(pieces.moved(polygon, (-x, -y)) for polygon in polygons)


def _grow_symmetric(rng: np.random.Generator, corners: float) -> _Placed | None:
    """Place square and medium triangle on the axis x = 0, the other triangles in pairs, then the parallelogram."""
    placed = _Placed()
    order = [1, 5] if rng.integers(2) else [5, 1]
    pairs = [(6, 7), (3, 4)] if rng.integers(2) else [(3, 4), (6, 7)]
    rest: list[int | tuple[int, int]] = [order[1], *pairs]
    for step in (order[0], *shuffled(rng, rest)):
        if not (_on_axis(rng, placed, step) if isinstance(step, int) else _attach_pair(rng, placed, step, corners)):
            return None
    place = _attach_piece(rng, placed, 2, corners)
    if place is None:
        return None
    placed.add(2, place)
    return placed


def _mirrored_orientations(piece: int) -> Iterator[pieces.Polygon]:
    """Yield the orientations of a piece that are their own mirror image, with the axis at x = 0."""
    for look in pieces.orientations(piece):
        low, high = pieces.spans(look)[0]
        if (low + high).a % 2 or (low + high).b % 2:
            continue
        middle = (low + high).half()
        there = pieces.moved(look, (-middle, pieces.ZERO))
        if {*there} == {*pieces.mirrored_x(there)}:
            yield there


def _on_axis(rng: np.random.Generator, placed: _Placed, piece: int) -> bool:
    looks = list(_mirrored_orientations(piece))
    if not placed.polygons:
        placed.add(piece, pick(rng, looks))
        return True
    heights = [y for polygon in placed.polygons.values() for _, y in polygon]
    for _ in range(PLACES):
        look = pick(rng, looks)
        place = pieces.moved(look, (pieces.Root2(0), pick(rng, heights) - pick(rng, look)[1]))
        if placed.free(place) and any(pieces.touch(place, polygon) for polygon in placed.polygons.values()):
            placed.add(piece, place)
            return True
    return False


def _attach_pair(rng: np.random.Generator, placed: _Placed, pair: tuple[int, int], corners: float) -> bool:
    for _ in range(20):
        place = _attach_piece(rng, placed, pair[0], corners)
        if place is None:
            return False
        other = pieces.mirrored_x(place)
        if placed.free(other) and not pieces.overlap(pieces.spans(place), pieces.spans(other)):
            placed.add(pair[0], place)
            placed.add(pair[1], other)
            return True
    return False


Mask = NDArray[np.bool_]
SIDE = 32
# Silhouettes with a larger intersection over union count as the same figure.
MOST_ALIKE = 0.70
# Limits of the aspect ratio and of the share of its bounding box that a figure fills.
MOST_LONG = 2.6
FILLED = (0.22, 0.75)
# Consecutive rejected candidates after which no more are drawn.
PATIENCE = 300


def silhouette(tangram: pieces.Tangram, side: int = SIDE) -> Mask:
    """Return the pixels whose center a piece covers, (side, side) bool, row 0 on top; the longer side fills it."""
    polygons = [np.array(polygon) for polygon in tangram.floats()]
    points = np.concatenate(polygons)
    low, high = points.min(axis=0), points.max(axis=0)
    unit = float((high - low).max()) / side
    across = (np.arange(side) + 0.5 - side / 2) * unit
    x, y = np.meshgrid(across + (low[0] + high[0]) / 2, (low[1] + high[1]) / 2 - across)
    covered = np.zeros((side, side), dtype=bool)
    for polygon in polygons:
        inside = np.ones((side, side), dtype=bool)
        for (x1, y1), (x2, y2) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
            inside &= (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) >= 0
        covered |= inside
    return covered


def looks(mask: Mask) -> NDArray[np.float32]:
    """Return the mask in its 8 rotations by 90 degrees and reflections, (8, pixels) of 0 or 1."""
    turned = [np.rot90(flip, k).ravel() for flip in (mask, mask[:, ::-1]) for k in range(4)]
    stacked: NDArray[np.float32] = np.stack(turned).astype(np.float32)
    return stacked


def likeness(mask: Mask, others: NDArray[np.float32]) -> float:
    """Return the largest intersection over union with any of `others` (N, pixels), 0 if there are none."""
    if not len(others):
        return 0.0
    mine = looks(mask)
    common = mine @ others.T
    union = mine.sum(axis=1)[:, None] + others.sum(axis=1)[None, :] - common
    return float((common / union).max())


def well_formed(tangram: pieces.Tangram, mask: Mask) -> bool:
    """Return whether a figure is neither too thin nor too scattered."""
    width, height = np.ptp(np.concatenate([np.array(polygon) for polygon in tangram.floats()]), axis=0)
    filled = float(mask.sum()) / (mask.size * min(width, height) / max(width, height))
    return bool(max(width, height) <= MOST_LONG * min(width, height) and FILLED[0] <= filled <= FILLED[1])


def varied(tangrams: Iterable[pieces.Tangram], count: int, most_alike: float = MOST_ALIKE) -> Iterator[pieces.Tangram]:
    """Yield the first `count` tangrams that are well formed and differ from those before.

    Fewer if the candidates run out, or after 300 consecutive rejections.
    """
    kept = np.zeros((0, SIDE * SIDE), dtype=np.float32)
    rejected = 0
    for tangram in tangrams:
        if len(kept) == count or rejected == PATIENCE:
            return
        mask = silhouette(tangram)
        if well_formed(tangram, mask) and likeness(mask, kept) <= most_alike:
            rejected = 0
            kept = np.concatenate([kept, mask.reshape(1, -1).astype(np.float32)])
            yield tangram
        else:
            rejected += 1


def draw_varied(seed: int, count: int, corners: float, symmetric: float, most_alike: float) -> Iterator[pieces.Tangram]:
    """Draw different tangrams named t-<seed>-<number>.

    Args:
        symmetric: share of tangrams with pairs about an axis.
    """
    names = (f"t-{seed}-{number}" for number in itertools.count())
    styled = ((name, float(generator(seed, name, "style").random()) < symmetric) for name in names)
    return varied((draw_tangram(seed, name, corners, pairs) for name, pairs in styled), count, most_alike)


def write_tangrams(options: Tangrams) -> Series:
    """Write drawings to the folder `out`. Raises UsageError if a file is there that differs, or too few tangrams do."""

    def tangrams() -> Iterator[pieces.Tangram]:
        written = 0
        for tangram in draw_varied(options.seed, options.count, options.corners, options.symmetric, options.alike):
            path = options.out / f"{tangram.name}.svg"
            drawing = pieces.svg_text(pieces.figure_of(tangram))
            with report_write_errors(f"--out {path}"):
                if path.exists() and path.read_bytes() != drawing.encode():
                    raise UsageError(f"--out {path}: exists with other contents; name another folder")
                write_atomic(path, drawing)
            yield tangram
            written += 1
        if written < options.count:
            shortage = f"found only {written} of {options.count} tangrams this different"
            raise UsageError(f"--alike {options.alike}: {shortage}; raise --alike")

    return Series(tangrams(), options.count, "tangrams", f"{counted(options.count, 'tangram')} in {options.out}")
