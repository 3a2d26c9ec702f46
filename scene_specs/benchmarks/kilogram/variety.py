"""How different tangrams look, and a choice of those that differ: by silhouette, whatever way up and on either side."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from scene_specs.benchmarks.kilogram.grow import draw_tangram
from scene_specs.benchmarks.kilogram.pieces import Tangram
from scene_specs.language.rng import generator

Mask = NDArray[np.bool_]
SIDE = 32
# Silhouettes that share more of their common area than this count as the same figure.
MOST_ALIKE = 0.70
# Longer side over shorter, and the share of the frame around it that a figure fills: needles and crumbs are left out.
MOST_LONG = 2.6
FILLED = (0.22, 0.75)
# Candidates in a row that are all refused, before no more are drawn.
PATIENCE = 300


def silhouette(tangram: Tangram, side: int = SIDE) -> Mask:
    """(side, side) bool, row 0 on top: pixels whose center a piece covers. The longer side fills it, centered."""
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
    """(8, pixels) 0 or 1: turned by quarters, on either side."""
    turned = [np.rot90(flip, k).ravel() for flip in (mask, mask[:, ::-1]) for k in range(4)]
    stacked: NDArray[np.float32] = np.stack(turned).astype(np.float32)
    return stacked


def likeness(one: Mask, others: NDArray[np.float32]) -> float:
    """The greatest share of area in common (intersection over union) with any of `others` (N, pixels); 0 for none."""
    if not len(others):
        return 0.0
    mine = looks(one)
    common = mine @ others.T
    union = mine.sum(axis=1)[:, None] + others.sum(axis=1)[None, :] - common
    return float((common / union).max())


def well_formed(tangram: Tangram, mask: Mask) -> bool:
    """Neither a needle nor a heap of crumbs."""
    points = np.concatenate([np.array(polygon) for polygon in tangram.floats()])
    width, height = points.max(axis=0) - points.min(axis=0)
    filled = float(mask.sum()) / (mask.size * min(width, height) / max(width, height))
    return bool(max(width, height) <= MOST_LONG * min(width, height) and FILLED[0] <= filled <= FILLED[1])


def varied(tangrams: Iterable[Tangram], count: int, most_alike: float = MOST_ALIKE) -> Iterator[Tangram]:
    """The first `count` of them that are well formed and unlike those chosen before; fewer where they run out, or after
    300 candidates without one.
    """
    kept = np.zeros((0, SIDE * SIDE), dtype=np.float32)
    refused = 0
    for tangram in tangrams:
        if len(kept) == count or refused == PATIENCE:
            return
        mask = silhouette(tangram)
        if well_formed(tangram, mask) and likeness(mask, kept) <= most_alike:
            refused = 0
            kept = np.concatenate([kept, mask.reshape(1, -1).astype(np.float32)])
            yield tangram
        else:
            refused += 1


def drawn_varied(seed: int, count: int, corners: float, symmetric: float, most_alike: float) -> Iterator[Tangram]:
    """Random tangrams called t-<seed>-<number>, no two alike. symmetric: share of those with pairs about an axis."""

    def candidates() -> Iterator[Tangram]:
        for number in itertools.count():
            name = f"t-{seed}-{number}"
            pairs = float(generator(seed, name, "style").random()) < symmetric
            yield draw_tangram(seed, name, corners, pairs)

    yield from varied(candidates(), count, most_alike)
