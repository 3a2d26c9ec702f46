"""Meshes made ready for `raster`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from render.geometry.meshes import Mesh, load_mesh

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Solid:
    """A mesh made ready: its columns, its triangles turned to run clockwise from outside (counter-clockwise on
    an image whose y runs down), their planes. closed: without a border, so faces turned away are never seen."""

    vertices: tuple[Floats, Floats, Floats]
    corners: tuple[Indices, Indices, Indices]
    planes: tuple[Floats, Floats, Floats, Floats]
    closed: bool
    radius: float

    @classmethod
    def of(cls, mesh: Mesh) -> Solid:
        """Prepare a mesh; vertices (V, 3), triangles (T, 3) counter-clockwise from outside."""
        x, y, z = (np.ascontiguousarray(mesh.vertices[:, k]) for k in range(3))
        a, c, b = (mesh.triangles[:, k].astype(np.intp) for k in range(3))
        ux, uy, uz = x[c] - x[a], y[c] - y[a], z[c] - z[a]
        vx, vy, vz = x[b] - x[a], y[b] - y[a], z[b] - z[a]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        offset = nx * x[a] + ny * y[a] + nz * z[a]
        radius = float(np.sqrt((x * x + y * y + z * z).max()))
        return cls((x, y, z), (a, b, c), (nx, ny, nz, offset), _is_closed(mesh), radius)


def _is_closed(mesh: Mesh) -> bool:
    """Whether every edge borders exactly two triangles, once in each direction; corners at one place are one."""
    _, place = np.unique(mesh.vertices, axis=0, return_inverse=True)
    corner = place.reshape(-1)[mesh.triangles].astype(np.int64)
    corner = corner[(corner != np.roll(corner, 1, axis=1)).all(axis=1)]
    start, end = corner.ravel(), np.roll(corner, -1, axis=1).ravel()
    count = len(mesh.vertices)
    forth, back = np.sort(start * count + end), np.sort(end * count + start)
    return bool((forth == back).all() and (np.diff(forth) > 0).all())


@lru_cache(maxsize=256)
def solid(name: str) -> Solid:
    """The prepared mesh called `name`. Raises AssetError."""
    return Solid.of(load_mesh(name))
