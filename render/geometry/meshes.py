"""Our meshes: `.npz` files that the compiler and Cycles both read.

vertices (V, 3) float32, normals (V, 3) float32 (shading normals, unit), triangles (T, 3) int32, counter-clockwise
seen from outside.
CLEVR shapes fill a 2 x 2 x 2 box about the origin. Further arrays `anchor_<name>` (3,) are named points, such as
a fingertip.
"""

from __future__ import annotations

import difflib
import hashlib
import io
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata, resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from render.model.errors import AssetError


@dataclass(frozen=True)
class Mesh:
    """sha256: of the file, hexadecimal. lower, upper: corners of the bounding box. anchors: named points."""

    name: str
    vertices: NDArray[np.float64]
    normals: NDArray[np.float64]
    triangles: NDArray[np.int32]
    lower: tuple[float, float, float]
    upper: tuple[float, float, float]
    sha256: str
    anchors: dict[str, tuple[float, float, float]] = field(default_factory=dict)


def mesh_paths() -> dict[str, Path]:
    """Name -> file of every mesh: ours, and those of packages with an entry point of group `diorama.shapes`."""
    folder = Path(str(resources.files("assets"))) / "meshes"
    paths = {path.stem: path for path in sorted(folder.glob("*.npz"))}
    for point in sorted(metadata.entry_points(group="diorama.shapes"), key=lambda p: p.name):
        paths.setdefault(point.name, Path(point.load()()))
    return paths


@lru_cache(maxsize=256)
def load_mesh(name: str) -> Mesh:
    """The mesh called `name`. Raises AssetError."""
    paths = mesh_paths()
    if name not in paths:
        near = difflib.get_close_matches(name, paths, n=1)
        raise AssetError(f"unknown mesh {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    try:
        data = paths[name].read_bytes()
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            vertices = arrays["vertices"].astype(np.float64)
            normals = arrays["normals"].astype(np.float64)
            triangles = arrays["triangles"].astype(np.int32)
            anchors = {key.removeprefix("anchor_"): point(arrays[key]) for key in arrays if key.startswith("anchor_")}
    except (OSError, ValueError, KeyError) as error:
        raise AssetError(f"mesh {name!r}: {paths[name]}: {error}") from error
    return Mesh(
        name,
        vertices,
        normals,
        triangles,
        point(vertices.min(axis=0)),
        point(vertices.max(axis=0)),
        hashlib.sha256(data).hexdigest(),
        anchors,
    )


def point(array: NDArray[np.float64]) -> tuple[float, float, float]:
    """Three plain floats."""
    x, y, z = (float(value) for value in array)
    return (x, y, z)
