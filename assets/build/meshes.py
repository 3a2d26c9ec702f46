"""Build meshes with numpy, and write them so that the same mesh gives the same bytes."""

from __future__ import annotations

import io
import itertools
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


def revolve(profile: Floats, normals: Floats, segments: int) -> tuple[Floats, Floats, Ints]:
    """Turn a profile (N, 2) of (radius, z), from top to bottom, about Z.

    normals: (N, 2) in the same plane. A point of radius 0 becomes one pole vertex.
    Returns vertices (V, 3), normals (V, 3), triangles (T, 3), counter-clockwise from outside.
    """
    angles = np.arange(segments) * (2 * np.pi / segments)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices: list[Floats] = []
    directions: list[Floats] = []
    rows: list[Ints] = []
    count = 0
    for (radius, z), (across, up) in zip(profile, normals, strict=True):
        around = ring if radius > 0 else ring[:1]
        vertices.append(np.column_stack([around * radius, np.full(len(around), z)]))
        directions.append(np.column_stack([around * across, np.full(len(around), up)]))
        ids = np.arange(count, count + len(around), dtype=np.int32)
        rows.append(ids if radius > 0 else np.full(segments, ids[0], dtype=np.int32))
        count += len(around)
    triangles = [strip(upper, lower) for upper, lower in itertools.pairwise(rows)]
    return np.concatenate(vertices), np.concatenate(directions), drop_degenerate(np.concatenate(triangles))


def strip(upper: Ints, lower: Ints) -> Ints:
    """Return the triangles (2N, 3) of a closed strip between two rings of N indices, the upper ring first."""
    up, low = np.roll(upper, -1), np.roll(lower, -1)
    return np.concatenate([np.stack([upper, lower, low], axis=1), np.stack([upper, low, up], axis=1)])


def drop_degenerate(triangles: Ints) -> Ints:
    """Return the triangles without those that use a vertex twice."""
    a, b, c = triangles.T
    kept: Ints = triangles[(a != b) & (b != c) & (a != c)]
    return kept


def write(
    path: Path,
    vertices: Floats,
    normals: Floats,
    triangles: Ints,
    anchors: dict[str, tuple[float, float, float]] | None = None,
    data: dict[str, Floats] | None = None,
) -> None:
    """Write a mesh as `.npz` with fixed dates and order: the bytes depend only on the mesh.

    anchors: named points on it, such as a fingertip.
    data: other arrays, such as collision parts.
    """
    length = np.sqrt((normals * normals).sum(axis=1, keepdims=True))
    arrays = {
        "vertices": vertices.astype("<f4"),
        "normals": (normals / length).astype("<f4"),
        "triangles": triangles.astype("<i4"),
        **{f"anchor_{name}": np.array(point, dtype="<f8") for name, point in sorted((anchors or {}).items())},
        **{name: array.astype("<f8") for name, array in sorted((data or {}).items())},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), buffer.getvalue())
