"""Mesh implicit surfaces: signed distances in numpy, smooth unions, and naive surface nets on a grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from diorama.assets.build.meshes import Floats, Ints

Field = Callable[[Floats], Floats]


def round_cone(a: tuple[float, ...], b: tuple[float, ...], ra: float, rb: float) -> Field:
    """Return the distance to a ball of radius ra at a, swept to a ball of radius rb at b (a finger's segment)."""
    start, axis = np.array(a), np.array(b) - np.array(a)
    length2 = float((axis * axis).sum())

    def distance(p: Floats) -> Floats:
        t = np.clip(((p - start) * axis).sum(axis=-1) / length2, 0.0, 1.0)
        away = p - start - t[..., None] * axis
        result: Floats = np.sqrt((away * away).sum(axis=-1)) - (ra + t * (rb - ra))
        return result

    return distance


def flattened(inner: Field, center: tuple[float, ...], stretch: tuple[float, ...]) -> Field:
    """Stretch `inner` about a point along the axes; the result is close to a distance for small factors."""
    middle, factor = np.array(center), np.array(stretch)
    return lambda p: inner((p - middle) / factor + middle) * float(factor.min())


def blend(fields: list[Field], softness: float) -> Field:
    """Return the smooth union (polynomial, Quilez 2013), which blends seams within `softness`."""

    def distance(p: Floats) -> Floats:
        result = fields[0](p)
        for field in fields[1:]:
            other = field(p)
            h = np.maximum(softness - np.abs(result - other), 0.0) / softness
            result = np.minimum(result, other) - h * h * softness / 4
        return result

    return distance


def cut(field: Field, normal: tuple[float, ...], offset: float, softness: float) -> Field:
    """Return `field` without the half-space p . normal > offset, its edge rounded by `softness`."""
    n = np.array(normal)

    def distance(p: Floats) -> Floats:
        a, b = field(p), (p * n).sum(axis=-1) - offset
        h = np.maximum(softness - np.abs(a - b), 0.0) / softness
        result: Floats = np.maximum(a, b) + h * h * softness / 4
        return result

    return distance


def surface_nets(field: Field, lower: Floats, upper: Floats, step: float) -> tuple[Floats, Floats, Ints]:
    """Return vertices (V, 3), normals (V, 3) and triangles (T, 3) of field = 0, a vertex per crossed cell of `step`."""
    axes = [np.arange(lo, hi + step, step) for lo, hi in zip(lower, upper, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = field(grid)
    inside = values < 0
    n = np.array(values.shape) - 1
    corners = [np.array([i, j, k]) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    total = np.zeros(tuple(n), dtype=np.int32)
    for c in corners:
        total += inside[c[0] : c[0] + n[0], c[1] : c[1] + n[1], c[2] : c[2] + n[2]]
    cells = np.argwhere((total > 0) & (total < 8))
    points = _cell_points(cells, corners, values, grid)
    points, normals = _onto_surface(field, points, step)
    index = np.full(tuple(n), -1, dtype=np.int32)
    index[tuple(cells.T)] = np.arange(len(cells), dtype=np.int32)
    return points, normals, _quads(inside, index)


def _cell_points(cells: NDArray[np.intp], corners: list[Ints], values: Floats, grid: Floats) -> Floats:
    """Return the mean of the crossings on each cell's edges."""
    total = np.zeros((len(cells), 3))
    count = np.zeros(len(cells))
    for a in corners:
        for b in corners:
            if (b - a).sum() != 1 or np.abs(b - a).sum() != 1:
                continue
            ia, ib = tuple((cells + a).T), tuple((cells + b).T)
            va, vb = values[ia], values[ib]
            crossed = (va < 0) != (vb < 0)
            t = np.where(crossed, va / np.where(crossed, va - vb, 1.0), 0.0)
            total += np.where(crossed[:, None], grid[ia] + t[:, None] * (grid[ib] - grid[ia]), 0.0)
            count += crossed
    return total / count[:, None]


def _onto_surface(field: Field, points: Floats, step: float) -> tuple[Floats, Floats]:
    """Return the points after two Newton steps along the gradient, and the gradient there."""
    normals = np.zeros_like(points)
    for _ in range(3):
        e = step * 0.05
        normals = np.stack([field(points + e * d) - field(points - e * d) for d in np.eye(3)], axis=1) / (2 * e)
        length = np.sqrt((normals * normals).sum(axis=1, keepdims=True))
        move = np.clip(field(points)[:, None] / length, -step / 2, step / 2)
        normals = normals / length
        points = points - move * normals
    return points, normals


def _quads(inside: NDArray[np.bool_], index: Ints) -> Ints:
    """Return two triangles for every grid edge that crosses the surface, facing outwards."""
    faces: list[Ints] = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        low = np.take(inside, range(inside.shape[axis] - 1), axis)
        high = np.take(inside, range(1, inside.shape[axis]), axis)
        edges = np.argwhere(low != high)
        edges = edges[
            (edges[:, u] > 0) & (edges[:, v] > 0) & (edges[:, u] < index.shape[u]) & (edges[:, v] < index.shape[v])
        ]
        ring = []
        for du, dv in ((1, 1), (0, 1), (0, 0), (1, 0)):
            cell = edges.copy()
            cell[:, u] -= du
            cell[:, v] -= dv
            ring.append(index[tuple(cell.T)])
        leaving = low[tuple(edges.T)]
        quad = np.stack(ring, axis=1)
        quad = np.where(leaving[:, None], quad, quad[:, ::-1])
        faces += [quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]]
    return np.concatenate(faces).astype(np.int32)
