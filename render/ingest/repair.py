"""Repair meshes of unknown origin: weld corners, find doubled and empty faces, make windings agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.rotation import Floats

Indices = NDArray[np.int64]

# Corners closer than this share of the longest side are merged.
_WELD = 1e-6
# A triangle is empty if its area is below this share of the longest side squared.
_EMPTY = 1e-14
_ROUNDS = 200


def _row_keys(rows: Indices) -> Indices:
    """(N,) a unique number for each distinct row of (N, 3) non-negative integers."""
    base = int(rows.max()) + 1
    pairs = rows[:, 0] * base + rows[:, 1]
    if base > 1 << 21:
        # All three would not fit into 64 bits.
        pairs = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return pairs * base + rows[:, 2]


def weld(corners: Floats) -> tuple[Floats, Indices]:
    """Merge corners (T, 3, 3) at the same location: vertices (V, 3) in the order of first use, and triangles (T, 3)."""
    used = corners.reshape(-1, 3)
    extent = float((used.max(axis=0) - used.min(axis=0)).max())
    grid = np.round((used - used.min(axis=0)) / (extent * _WELD)).astype(np.int64)
    _, first, place = np.unique(_row_keys(grid), return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return used[first[order]], rank[place.reshape(-1)].reshape(-1, 3)


def doubled_normals(vertices: Floats, triangles: NDArray[Any]) -> Floats:
    """(T, 3) normals of faces, twice as long as the faces' areas."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals: Floats = np.cross(b - a, c - a)
    return normals


def live_faces(vertices: Floats, triangles: Indices) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(T,) which faces have an area, and which of those repeat an earlier face in either winding."""
    normal = doubled_normals(vertices, triangles)
    extent = float((vertices.max(axis=0) - vertices.min(axis=0)).max())
    area = 0.5 * np.sqrt((normal * normal).sum(axis=1))
    ordered = np.sort(triangles, axis=1)
    solid = area > _EMPTY * extent * extent
    _, first = np.unique(_row_keys(ordered), return_index=True)
    repeated = np.ones(len(triangles), dtype=bool)
    repeated[first] = False
    return solid, solid & repeated


def _neighbor_faces(triangles: Indices) -> tuple[Indices, Indices, Indices]:
    """Pairs of faces that share an edge of no other face, and 1 where both run along it in the same direction."""
    count = len(triangles)
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    low, high = np.minimum(start, end), np.maximum(start, end)
    key = low * (int(triangles.max()) + 1) + high
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    runs = np.flatnonzero(new)
    lengths = np.diff(np.concatenate([runs, [len(ordered)]]))
    pairs = runs[lengths == 2]
    first, second = order[pairs], order[pairs + 1]
    owner = np.repeat(np.arange(count), 3)
    same = (start[first] == start[second]).astype(np.int64)
    return owner[first], owner[second], same


def _label_pieces(count: int, left: Indices, right: Indices, same: Indices) -> Indices:
    """(count,) for each face: twice the smallest face of its piece, plus 1 if its winding is opposite to that one's.

    Union by smallest face with path halving, which takes at most as many rounds as the count has binary digits. A piece
    that can't be oriented (a Moebius strip) keeps a seam.
    """
    code = 2 * np.arange(count, dtype=np.int64)
    for _ in range(_ROUNDS):
        before = code
        a, b = code[left], code[right]
        code = before.copy()
        np.minimum.at(code, a >> 1, b ^ same ^ (a & 1))
        np.minimum.at(code, b >> 1, a ^ same ^ (b & 1))
        for _ in range(3):
            code = code[code >> 1] ^ (code & 1)
        if (code == before).all():
            break
    return code


def oriented(vertices: Floats, triangles: Indices) -> tuple[Indices, int]:
    """Orient faces consistently and outwards; (T, 3), and the number of reversed faces.

    A piece consists of faces joined by edges of exactly two faces. It faces outwards if the volume between its faces
    and its center is positive: exact for closed pieces, a guess for open ones.
    """
    left, right, same = _neighbor_faces(triangles)
    code = _label_pieces(len(triangles), left, right, same)
    turned = (code & 1).astype(bool)
    result = np.where(turned[:, None], triangles[:, ::-1], triangles)
    _, piece = np.unique(code >> 1, return_inverse=True)
    piece = piece.reshape(-1)
    inward = _piece_volumes(vertices, result, piece) < 0
    result = np.where(inward[piece][:, None], result[:, ::-1], result)
    changed = turned ^ inward[piece]
    return np.ascontiguousarray(result), int(changed.sum())


def _piece_volumes(vertices: Floats, triangles: Indices, piece: Indices) -> Floats:
    """Six times the volume between each piece's faces and its center; 0 for flat pieces."""
    pieces = int(piece.max()) + 1
    corners = vertices[triangles]
    weight = np.bincount(piece, minlength=pieces)
    middle = np.stack(
        [np.bincount(piece, corners[:, :, k].mean(axis=1), minlength=pieces) / weight for k in range(3)], axis=1
    )
    a, b, c = (corners[:, k] - middle[piece] for k in range(3))
    spanned = (a * np.cross(b, c)).sum(axis=1)
    volume = np.bincount(piece, spanned, minlength=pieces)
    noise = 1e-9 * np.bincount(piece, np.abs(spanned), minlength=pieces) + 1e-15
    return np.where(np.abs(volume) > noise, volume, 0.0)
