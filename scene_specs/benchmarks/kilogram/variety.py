"""Similarity of silhouettes under rotation and reflection, and selection of tangrams that differ."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.benchmarks.kilogram import Tangrams
from diorama.scene_specs.benchmarks.kilogram.figure import figure_of, svg_text
from diorama.scene_specs.benchmarks.kilogram.grow import draw_tangram
from diorama.scene_specs.benchmarks.kilogram.pieces import Tangram
from diorama.scene_specs.language.atomic import write_atomic
from diorama.scene_specs.language.benchmark import Series
from diorama.scene_specs.language.errors import UsageError
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.language.tables import counted
from diorama.scene_specs.language.writing import report_write_errors

Mask = NDArray[np.bool_]
SIDE = 32
# Silhouettes with a larger intersection over union count as the same figure.
MOST_ALIKE = 0.70
# Limits of the aspect ratio and of the share of its bounding box that a figure fills.
MOST_LONG = 2.6
FILLED = (0.22, 0.75)
# Consecutive rejected candidates after which no more are drawn.
PATIENCE = 300


def silhouette(tangram: Tangram, side: int = SIDE) -> Mask:
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


def likeness(one: Mask, others: NDArray[np.float32]) -> float:
    """Return the largest intersection over union with any of `others` (N, pixels), 0 if there are none."""
    if not len(others):
        return 0.0
    mine = looks(one)
    common = mine @ others.T
    union = mine.sum(axis=1)[:, None] + others.sum(axis=1)[None, :] - common
    return float((common / union).max())


def well_formed(tangram: Tangram, mask: Mask) -> bool:
    """Return whether a figure is neither too thin nor too scattered."""
    width, height = np.ptp(np.concatenate([np.array(polygon) for polygon in tangram.floats()]), axis=0)
    filled = float(mask.sum()) / (mask.size * min(width, height) / max(width, height))
    return bool(max(width, height) <= MOST_LONG * min(width, height) and FILLED[0] <= filled <= FILLED[1])


def varied(tangrams: Iterable[Tangram], count: int, most_alike: float = MOST_ALIKE) -> Iterator[Tangram]:
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


def drawn_varied(seed: int, count: int, corners: float, symmetric: float, most_alike: float) -> Iterator[Tangram]:
    """Draw different tangrams named t-<seed>-<number>. symmetric: share of tangrams with pairs about an axis."""
    names = (f"t-{seed}-{number}" for number in itertools.count())
    styled = ((name, float(generator(seed, name, "style").random()) < symmetric) for name in names)
    return varied((draw_tangram(seed, name, corners, pairs) for name, pairs in styled), count, most_alike)


def write_tangrams(options: Tangrams) -> Series:
    """Write drawings to the folder `out`. Raises UsageError if a file is there that differs, or too few tangrams do."""

    def tangrams() -> Iterator[Tangram]:
        written = 0
        drawn = drawn_varied(options.seed, options.count, options.corners, options.symmetric, options.alike)
        for tangram in drawn:
            path = options.out / f"{tangram.name}.svg"
            drawing = svg_text(figure_of(tangram))
            with report_write_errors(f"--out {path}"):
                if path.exists() and path.read_bytes() != drawing.encode():
                    raise UsageError(f"--out {path}: exists with other contents; name another folder")
                write_atomic(path, drawing)
            yield tangram
            written += 1
        if written < options.count:
            found = f"found only {written} of {options.count} tangrams this different"
            raise UsageError(f"--alike {options.alike}: {found}; raise --alike")

    return Series(tangrams(), options.count, "tangrams", f"{counted(options.count, 'tangram')} in {options.out}")
