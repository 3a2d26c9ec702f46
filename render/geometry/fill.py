"""Fill projected triangles at pixel centers, nearest surface first: the inner loop of `raster`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Triangles whose box has at most this many pixels are tested at each of them, larger ones row by row.
_SMALL = 12
# Candidates in memory at once; bounds the memory for an object that fills the image.
_CHUNK = 1 << 17
# Tolerance in pixels of a row's span; the edge test of each candidate is exact.
_SLACK = 1e-6


class Corners(NamedTuple):
    """Projected points, x, y (pixels) and 1 / depth, (V,) each, and the three (T,) index arrays of the triangles.

    With parallel rays, `inverse` is any positive number that decreases linearly with depth. Triangles that face the
    camera have positive area with y down.
    """

    x: Floats
    y: Floats
    inverse: Floats
    corners: tuple[Indices, Indices, Indices]


class _Triangles(NamedTuple):
    """Triangles whose box contains a pixel center: corner coordinates, 1 / depth, and the box in pixels."""

    x: list[Floats]
    y: list[Floats]
    inverse: list[Floats]
    left: Indices
    top: Indices
    columns: Indices
    rows: Indices

    def take(self, which: Indices) -> _Triangles:
        x, y, inverse = ([v[which] for v in group] for group in (self.x, self.y, self.inverse))
        return _Triangles(x, y, inverse, self.left[which], self.top[which], self.columns[which], self.rows[which])


def _setup(source: Corners, window: tuple[int, int, int, int], both_sides: bool) -> _Triangles:
    """The triangles whose box contains a pixel center of the window (x0, y0, x1, y1, inclusive)."""
    a, b, c = source.corners
    x, y = [source.x[k] for k in (a, b, c)], [source.y[k] for k in (a, b, c)]
    x0, y0, x1, y1 = window
    left = np.maximum(np.ceil(np.minimum(np.minimum(x[0], x[1]), x[2]) - 0.5), x0)
    right = np.minimum(np.floor(np.maximum(np.maximum(x[0], x[1]), x[2]) - 0.5), x1)
    top = np.maximum(np.ceil(np.minimum(np.minimum(y[0], y[1]), y[2]) - 0.5), y0)
    bottom = np.minimum(np.floor(np.maximum(np.maximum(y[0], y[1]), y[2]) - 0.5), y1)
    live = np.flatnonzero((right >= left) & (bottom >= top))
    x, y = [v[live] for v in x], [v[live] for v in y]
    inverse = [source.inverse[k[live]] for k in (a, b, c)]
    left, top = left[live], top[live]
    columns, rows = (right[live] - left + 1).astype(np.intp), (bottom[live] - top + 1).astype(np.intp)
    if both_sides:
        back = (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0]) < 0
        for group in (x, y, inverse):
            group[1], group[2] = np.where(back, group[2], group[1]), np.where(back, group[1], group[2])
    return _Triangles(x, y, inverse, left.astype(np.intp), top.astype(np.intp), columns, rows)


def _expand(counts: Indices) -> tuple[Indices, Indices]:
    """For counts (N,): the owner of each of the sum(counts) entries, and its number within the owner."""
    owner = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) - before[owner]


def _chunks(counts: Indices) -> Iterator[slice]:
    """Slices of the owners with about _CHUNK entries each, at least one owner."""
    total = np.cumsum(counts)
    if not len(total) or total[-1] <= _CHUNK:
        yield slice(0, len(counts))
        return
    start = 0
    while start < len(counts):
        base = total[start - 1] if start else 0
        end = max(int(np.searchsorted(total, base + _CHUNK, side="right")), start + 1)
        yield slice(start, end)
        start = end


def _spans(t: _Triangles) -> tuple[Indices, Indices, Indices, Indices]:
    """The rows of all triangles: owner, row, first column, and number of columns that may be inside."""
    owner, row = _expand(t.rows)
    row += t.top[owner]
    middle = row + 0.5
    low = np.full(len(owner), np.inf)
    high = np.full(len(owner), -np.inf)
    for k in range(3):
        ax, ay = t.x[k], t.y[k]
        bx, by = t.x[(k + 1) % 3], t.y[(k + 1) % 3]
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (bx - ax) / (by - ay)
            along = ax[owner] + (middle - ay[owner]) * slope[owner]
        # An edge bounds the rows between its ends; the two neighbors of a horizontal edge bound its row.
        bounds = (np.minimum(ay, by)[owner] - _SLACK <= middle) & (middle <= np.maximum(ay, by)[owner] + _SLACK)
        bounds &= np.isfinite(along)
        low = np.where(bounds, np.minimum(low, along), low)
        high = np.where(bounds, np.maximum(high, along), high)
    left, right = t.left[owner], t.left[owner] + t.columns[owner] - 1
    first = np.maximum(np.ceil(np.minimum(low, 1e9) - 0.5 - _SLACK), left)
    last = np.minimum(np.floor(np.maximum(high, -1e9) - 0.5 + _SLACK), right)
    count = np.maximum(last - first + 1, 0).astype(np.intp)
    live = np.flatnonzero(count)
    return owner[live], row[live], first[live].astype(np.intp), count[live]


def _candidates(t: _Triangles) -> Iterator[tuple[Indices, Indices, Indices]]:
    """(triangle, column, row) of all pixels that may be inside, in chunks."""
    size = t.columns * t.rows
    small = size <= _SMALL
    few = np.flatnonzero(small)
    for part in _chunks(size[few]):
        which = few[part]
        owner, number = _expand(size[which])
        triangle = which[owner]
        columns = t.columns[triangle]
        down = number // columns
        yield triangle, number - down * columns + t.left[triangle], down + t.top[triangle]
    many = np.flatnonzero(~small)
    for rows in _chunks(t.rows[many]):
        some = many[rows]
        owner, row, first, count = _spans(t.take(some))
        for part in _chunks(count):
            span, number = _expand(count[part])
            yield some[owner[part][span]], number + first[part][span], row[part][span]


def fill(source: Corners, window: tuple[int, int, int, int], both_sides: bool) -> Floats:
    """Largest 1 / depth at each pixel center of the window (x0, y0, x1, y1, inclusive); (h, w) float64, 0 for nothing.

    both_sides: fill triangles of negative area, too. A pixel center on an edge belongs to both of its triangles.
    """
    x0, y0, x1, y1 = window
    width, rows = x1 - x0 + 1, y1 - y0 + 1
    nearest = np.zeros(width * rows)
    t = _setup(source, window, both_sides)
    for triangle, column, row in _candidates(t):
        px: Floats = column + np.float64(0.5)
        py: Floats = row + np.float64(0.5)
        ax, ay = t.x[0][triangle] - px, t.y[0][triangle] - py
        bx, by = t.x[1][triangle] - px, t.y[1][triangle] - py
        cx, cy = t.x[2][triangle] - px, t.y[2][triangle] - py
        wa, wb, wc = bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx
        area = wa + wb + wc
        inside = np.flatnonzero((wa >= 0) & (wb >= 0) & (wc >= 0) & (area > 0))
        hit = triangle[inside]
        value = wa[inside] * t.inverse[0][hit] + wb[inside] * t.inverse[1][hit] + wc[inside] * t.inverse[2][hit]
        np.maximum.at(nearest, (row[inside] - y0) * width + (column[inside] - x0), value / area[inside])
    return nearest.reshape(rows, width)
