"""Meshes of flat shapes and prisms, from their corners. Pure numpy.

A flat shape lies in z = 0 and is visible from both sides. A prism extends by half its height on both sides of z = 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.meshes import Mesh
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.outlines import FLAT_SHAPES, POLYGON, Point, signed_area, turn_of
from diorama.scene_specs.model.spec import OutlineSpec
from diorama.scene_specs.rotation import Floats


def outline_of(shape: str, outline: OutlineSpec | None) -> OutlineSpec | None:
    """Return the outline of a shape, None for meshes and models. Raises AssetError for a polygon without corners."""
    if outline is None and shape in FLAT_SHAPES:
        return OutlineSpec.model_validate({"outline": shape})
    if outline is None and shape == POLYGON:
        raise AssetError("a polygon without corners: give the object an outline")
    return outline


def corners_of(outline: OutlineSpec) -> tuple[Point, ...]:
    """Corners at scale 1, counter-clockwise."""
    corners = tuple(outline.polygon or FLAT_SHAPES[outline.outline or POLYGON])
    return corners if signed_area(corners) > 0 else corners[::-1]


def triangulate(corners: Sequence[Point]) -> list[tuple[int, int, int]]:
    """Triangulate a simple, counter-clockwise polygon by ear clipping; triples of corner numbers, counter-clockwise.

    Collinear corners are used only where needed. Raises AssetError for edges that cross.
    """
    left = list(range(len(corners)))
    triangles: list[tuple[int, int, int]] = []
    while len(left) > 3:
        ear = next((k for k in range(len(left)) if _is_ear(corners, left, k)), None)
        if ear is None:
            raise AssetError(f"a polygon of {len(corners)} corners whose edges cross: {list(corners[:4])} ...")
        triangles.append((left[ear - 1], left[ear], left[(ear + 1) % len(left)]))
        del left[ear]
    triangles.append((left[0], left[1], left[2]))
    return [(a, b, c) for a, b, c in triangles if turn_of(corners[a], corners[b], corners[c]) > 0]


def _is_ear(corners: Sequence[Point], left: Sequence[int], k: int) -> bool:
    a, b, c = (corners[left[n % len(left)]] for n in (k - 1, k, k + 1))
    turn = turn_of(a, b, c)
    if turn <= 0:
        return turn == 0
    others = (corners[p] for p in left if corners[p] not in (a, b, c))
    return not any(min(turn_of(a, b, p), turn_of(b, c, p), turn_of(c, a, p)) >= 0 for p in others)


@lru_cache(maxsize=1024)
def outline_mesh(outline: OutlineSpec) -> Mesh:
    """Return an outline's mesh at scale 1, with flat normals; faces of a prism share no vertices. Raises AssetError."""
    corners = corners_of(outline)
    flat = np.array(corners, dtype=np.float64)
    fan = [(0, k, k + 1) for k in range(1, len(corners) - 1)]
    faces = np.array(fan if outline.outline else triangulate(corners), dtype=np.int32)
    half = outline.height / 2
    parts = [_sheet(flat, faces, half, 1.0)]
    if half:
        parts += [_sheet(flat, faces[:, ::-1], -half, -1.0), _side_walls(flat, half)]
    starts = np.cumsum([0, *(len(part[0]) for part in parts)])
    vertices, normals = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    triangles = np.concatenate([part[2] + start for part, start in zip(parts, starts, strict=False)]).astype(np.int32)
    digest = hashlib.sha256(outline.model_dump_json().encode()).hexdigest()
    return Mesh(outline.outline or POLYGON, vertices, normals, triangles, digest)


def _sheet(flat: Floats, faces: NDArray[np.int32], z: float, up: float) -> tuple[Floats, Floats, NDArray[np.int32]]:
    vertices = np.column_stack([flat, np.full(len(flat), z)])
    return vertices, np.tile([0.0, 0.0, up], (len(flat), 1)), faces


def _side_walls(flat: Floats, half: float) -> tuple[Floats, Floats, NDArray[np.int32]]:
    """Two triangles per edge, facing outwards."""
    ends = np.roll(flat, -1, axis=0)
    along = ends - flat
    length = np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-300)
    outwards = np.column_stack([along[:, 1] / length, -along[:, 0] / length, np.zeros(len(flat))])
    low, high = np.full(len(flat), -half), np.full(len(flat), half)
    rings = [np.column_stack([side, z]) for side, z in ((flat, low), (ends, low), (ends, high), (flat, high))]
    vertices = np.stack(rings, axis=1).reshape(-1, 3)
    first = 4 * np.arange(len(flat), dtype=np.int32)[:, None, None]
    triangles = (first + np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)).reshape(-1, 3)
    return vertices, np.repeat(outwards, 4, axis=0), triangles
