"""What assimp or OpenUSD read of a model's file, in an environment of its own: extents and area, as a line of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np


def parts_of_assimp(path: str) -> Iterator[tuple[Any, Any]]:
    """Yield corners and triangles of each mesh, where its nodes put it."""
    import assimp_py

    flags = assimp_py.Process_Triangulate | assimp_py.Process_PreTransformVertices | assimp_py.Process_SortByPType
    for mesh in assimp_py.import_file(path, flags).meshes:
        points = np.array(mesh.vertices, dtype=np.float64).reshape(-1, 3)
        corners = np.array(mesh.indices, dtype=np.int64)
        if len(corners) and not len(corners) % 3 and corners.max() < len(points):
            yield points, corners.reshape(-1, 3)


def parts_of_usd(path: str) -> Iterator[tuple[Any, Any]]:
    """Yield corners and triangles of each visible mesh, as it is without animation and subdivision."""
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(path)
    transforms = UsdGeom.XformCache(Usd.TimeCode.Default())
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        shown = UsdGeom.Imageable(prim)
        if not prim.IsA(UsdGeom.Mesh) or shown.ComputeVisibility() == "invisible":
            continue
        if shown.ComputePurpose() in ("guide", "proxy"):
            continue
        mesh = UsdGeom.Mesh(prim)
        points = mesh.GetPointsAttr().Get() or mesh.GetPointsAttr().Get(Usd.TimeCode.EarliestTime())
        corners = mesh.GetFaceVertexIndicesAttr().Get()
        at, triangles = 0, []
        for count in mesh.GetFaceVertexCountsAttr().Get() or ():
            triangles += [(corners[at], corners[at + k], corners[at + k + 1]) for k in range(1, count - 1)]
            at += count
        if points and triangles:
            matrix = np.array(transforms.GetLocalToWorldTransform(prim))
            yield np.array(points) @ matrix[:3, :3] + matrix[3, :3], np.array(triangles)


def main(path: str) -> dict[str, Any]:
    """Return `extent` (three numbers) and `area`, in the file's units, or `error`."""
    parts = [*(parts_of_usd if path.lower().rpartition(".")[2].startswith("usd") else parts_of_assimp)(path)]
    if not parts:
        return {"error": "no triangles"}
    used = np.concatenate([points[np.unique(triangles)] for points, triangles in parts])
    area = 0.0
    for points, triangles in parts:
        a, b, c = (points[triangles[:, k]] for k in range(3))
        area += float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)
    return {"extent": (used.max(axis=0) - used.min(axis=0)).tolist(), "area": area}


if __name__ == "__main__":
    try:
        answer = main(sys.argv[1])
    except Exception as error:  # readers raise anything
        answer = {"error": repr(error)[:200]}
    print(json.dumps(answer))
