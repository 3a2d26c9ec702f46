"""Fill projected triangles at pixel centers, nearest surface first: the inner loop of `raster`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.rotation import Floats

Indices = NDArray[np.intp]

# Triangles whose box has at most this many pixels are tested at each of them, larger ones row by row; all of an object
# at each pixel if that is few in total.
_SMALL, _FEW = 12, 6000
# Candidates in memory at once; bounds the memory for an object that fills the image.
_CHUNK = 1 << 17
# Tolerance in pixels of a row's span; the edge test of each candidate is exact.
_SLACK = 1e-6


class Corners(NamedTuple):
    """Projected points and the triangles between them.

    With parallel rays, `inverse` is any positive number that decreases linearly with depth. Triangles that face the
    camera have positive area with y down.

    Attributes:
        x: (V,) pixels.
        y: (V,) pixels.
        inverse: (V,) 1 / depth.
        corners: (3, T) indices of the points of each triangle.
    """

    x: Floats
    y: Floats
    inverse: Floats
    corners: Indices


class _Triangles(NamedTuple):
    """Triangles whose box contains a pixel center: corners and 1 / depth, (3, N) each, and the box in pixels, (N,)."""

    x: Floats
    y: Floats
    inverse: Floats
    left: Indices
    top: Indices
    columns: Indices
    rows: Indices

    def take(self, which: Indices) -> _Triangles:
        x, y, inverse = (values.take(which, axis=1) for values in self[:3])
        return _Triangles(x, y, inverse, *(values.take(which) for values in self[3:]))


def _triangles_in_window(source: Corners, window: tuple[int, int, int, int], both_sides: bool) -> _Triangles:
    """Return the triangles whose box contains a pixel center of the window (x0, y0, x1, y1, inclusive)."""
    x, y = source.x.take(source.corners), source.y.take(source.corners)
    x0, y0, x1, y1 = window
    left = np.maximum(np.ceil(x.min(axis=0) - 0.5), x0)
    right = np.minimum(np.floor(x.max(axis=0) - 0.5), x1)
    top = np.maximum(np.ceil(y.min(axis=0) - 0.5), y0)
    bottom = np.minimum(np.floor(y.max(axis=0) - 0.5), y1)
    (live,) = ((right >= left) & (bottom >= top)).nonzero()
    x, y = x.take(live, axis=1), y.take(live, axis=1)
    inverse = source.inverse.take(source.corners.take(live, axis=1))
    boxes = (part[live].astype(np.intp) for part in (left, top, right - left + 1, bottom - top + 1))
    if both_sides:
        back = np.flatnonzero((x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0]) < 0)
        for group in (x, y, inverse):
            group[1:, back] = group[:0:-1, back]
    return _Triangles(x, y, inverse, *boxes)


def _expand_counts(counts: Indices) -> tuple[Indices, Indices]:
    """For counts (N,): the owner of each of the sum(counts) entries, and its number within the owner."""
    owner = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) - before[owner]


def _chunks(counts: Indices) -> Iterator[slice]:
    """Slices of the owners with about _CHUNK entries each, at least one owner."""
    total = np.cumsum(counts)
    if len(total) and total[-1] <= _CHUNK:
        yield slice(0, len(counts))
        return
    start = 0
    while start < len(counts):
        base = total[start - 1] if start else 0
        end = max(int(np.searchsorted(total, base + _CHUNK, side="right")), start + 1)
        yield slice(start, end)
        start = end


def _row_spans(t: _Triangles) -> tuple[Indices, Indices, Indices, Indices]:
    """Return the rows of all triangles: owner, row, first column, and number of columns that may be inside."""
    owner, row = _expand_counts(t.rows)
    row += t.top[owner]
    middle = row + 0.5
    (ax, ay), (bx, by) = (t.x, t.y), (ends.take((1, 2, 0), axis=0) for ends in (t.x, t.y))
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (bx - ax) / (by - ay)
        along = ax.take(owner, axis=1) + (middle - ay.take(owner, axis=1)) * slope.take(owner, axis=1)
    # An edge bounds the rows between its ends; the two neighbors of a horizontal edge bound its row.
    lower, upper = np.minimum(ay, by) - _SLACK, np.maximum(ay, by) + _SLACK
    bounds = (lower.take(owner, axis=1) <= middle) & (middle <= upper.take(owner, axis=1)) & np.isfinite(along)
    low = np.where(bounds, along, np.inf).min(axis=0)
    high = np.where(bounds, along, -np.inf).max(axis=0)
    left, right = t.left[owner], t.left[owner] + t.columns[owner] - 1
    first = np.maximum(np.ceil(np.minimum(low, 1e9) - 0.5 - _SLACK), left)
    last = np.minimum(np.floor(np.maximum(high, -1e9) - 0.5 + _SLACK), right)
    count = np.maximum(last - first + 1, 0).astype(np.intp)
    (live,) = count.nonzero()
    return owner[live], row[live], first[live].astype(np.intp), count[live]


def _candidate_pixels(t: _Triangles) -> Iterator[tuple[Indices, Indices, Indices]]:
    """(triangle, column, row) of all pixels that may be inside, in chunks."""
    size = t.columns * t.rows
    small = (size <= _SMALL) | (size.sum() <= _FEW)
    (few,) = small.nonzero()
    for part in _chunks(size[few]):
        which = few[part]
        owner, number = _expand_counts(size[which])
        triangle = which[owner]
        columns = t.columns[triangle]
        down = number // columns
        yield triangle, number - down * columns + t.left[triangle], down + t.top[triangle]
    (many,) = (~small).nonzero()
    for rows in _chunks(t.rows[many]):
        some = many[rows]
        owner, row, first, count = _row_spans(t.take(some))
        for part in _chunks(count):
            span, number = _expand_counts(count[part])
            yield some[owner[part][span]], number + first[part][span], row[part][span]


def fill(source: Corners, window: tuple[int, int, int, int], both_sides: bool) -> Floats:
    """Find the largest 1 / depth at each pixel center of a window.

    A pixel center on an edge belongs to both of its triangles.

    Args:
        window: x0, y0, x1, y1, inclusive.
        both_sides: fill triangles of negative area, too.

    Returns:
        (h, w), 0 for nothing.
    """
    x0, y0, x1, y1 = window
    width, rows = x1 - x0 + 1, y1 - y0 + 1
    nearest = np.zeros(width * rows)
    t = _triangles_in_window(source, window, both_sides)
    for triangle, column, row in _candidate_pixels(t):
        px: Floats = column + np.float64(0.5)
        py: Floats = row + np.float64(0.5)
        # Three arrays each: one of three rows would not fit into the processor's cache.
        ax, bx, cx = (corner.take(triangle) - px for corner in t.x)
        ay, by, cy = (corner.take(triangle) - py for corner in t.y)
        wa, wb, wc = bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx
        area = wa + wb + wc
        (inside,) = ((wa >= 0) & (wb >= 0) & (wc >= 0) & (area > 0)).nonzero()
        ia, ib, ic = t.inverse.take(triangle[inside], axis=1)
        value = wa[inside] * ia + wb[inside] * ib + wc[inside] * ic
        np.maximum.at(nearest, (row[inside] - y0) * width + (column[inside] - x0), value / area[inside])
    return nearest.reshape(rows, width)
