"""Triangles of unknown origin are repaired, turned upright and scaled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diorama.render.ingest.importing import POSITION, Imported, Layers, multiplied
from diorama.render.ingest.repair import doubled_normals, live_faces, oriented, weld
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.rotation import Floats, Vec, rounded3
from diorama.scene_specs.shapes.convex_hull import convex_hull

# The color of a surface without a material.
GRAY = (0.5, 0.5, 0.5)
# Larger coordinates stand for what is no number.
_LARGEST = 1e30


class Faces(NamedTuple):
    """Triangles (T, 3) of vertices (V, 3), their materials (T,), and layers (T, 3, n) of their corners."""

    vertices: Floats
    triangles: NDArray[np.int32]
    slots: NDArray[np.int32]
    layers: Layers


def turned(vectors: Floats, up: str, front: str) -> Floats:
    """Vectors (..., 3) with up turned to +Z and front to -Y."""
    axes = {f"{sign:+}"[0] + name: sign * np.eye(3)[k] for k, name in enumerate("xyz") for sign in (1, -1)}
    z, y = axes[up], -axes[front]
    return multiplied(vectors, (np.cross(y, z), y, z))


# Faces with corners that are not numbers are left out and noted, so warnings about their arithmetic tell nothing new.
@np.errstate(all="ignore")
def prepared(imported: Imported, up: str, front: str, turns: bool, note: Callable[[str], None]) -> tuple[Faces, float]:
    """Turn, weld, repair, center and scale a model; also half its longest side before.

    Args:
        up: axis of the vertices, such as "+y".
        front: axis of the model's front.
        turns: whether faces that look inwards are turned. Materials of a .blend may tell the sides apart.
        note: takes what was repaired, one sentence each.

    Raises:
        AssetError: the model has no extent.
    """
    located = turned(imported.layers[POSITION], up, front)
    good = (np.abs(located) <= _LARGEST).all(axis=(1, 2))
    if not good.any():
        raise AssetError(f"none of its faces has finite corners, at most {_LARGEST:g} from 0")
    located = located[good]
    if not np.ptp(located, axis=(0, 1)).max() > 0:
        raise AssetError("all its corners are in one place")
    vertices, triangles = weld(located)
    solid, repeated = live_faces(vertices, triangles)
    if not solid.any():
        raise AssetError("none of its faces has an area")
    kept = solid & ~repeated
    outward, count = oriented(vertices, triangles[kept]) if turns else (triangles[kept], 0)
    for number, text in (
        ((~good).sum(), "faces with corners that are no numbers or too large were left out"),
        ((~solid).sum(), "faces without area were left out"),
        (repeated.sum(), "doubled faces were left out"),
        (count, "faces were turned to look outwards"),
    ):
        if number:
            note(f"{number} {text}")
    rows, back = np.flatnonzero(good)[kept], (outward != triangles[kept]).any(axis=1)[:, None, None]
    layers = {name: np.where(back, values[rows][:, ::-1], values[rows]) for name, values in imported.layers.items()}
    # Dropped faces may leave unused corners.
    vertices, triangles = weld(vertices[outward])
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    unit = float((upper - lower).max()) / 2
    vertices = np.round((vertices - (lower + upper) / 2) / unit, 7) + 0.0
    return Faces(vertices, triangles.astype(np.int32), imported.slots[rows], layers), unit


def mean_color(faces: Faces, colors: Sequence[Vec]) -> Vec:
    """Mean of the materials' colors, weighted by area."""
    normal = doubled_normals(faces.vertices, faces.triangles)
    area = np.bincount(faces.slots, np.sqrt((normal * normal).sum(axis=1)), minlength=len(colors))
    # Faces thinner than a model's coordinates are precise have no area.
    total = float(area.sum()) or 1.0
    return rounded3((area[:, None] * np.array(colors)).sum(axis=0) / total, 7)


def measured(vertices: NDArray[Any]) -> dict[str, object]:
    """Return the measures of a model, see `Model`."""
    flat = vertices[:, :2]
    return {
        "lower": rounded3(vertices.min(axis=0), 7),
        "upper": rounded3(vertices.max(axis=0), 7),
        "hull": convex_hull(flat),
        "radius": round(float(np.sqrt((vertices * vertices).sum(axis=1).max())), 6),
        "ground_radius": round(float(np.sqrt((flat * flat).sum(axis=1).max())), 6),
    }
