"""Meshes of shapes: `.npz` files that the compiler and Cycles both read.

Arrays: vertices (V, 3) float32; normals (V, 3) float32, unit shading normals; triangles (T, 3) int32, counter-clockwise
seen from outside; optional `anchor_<name>` (3,), named points such as a fingertip; of shapes that hold others
`part_<k>` and `cavity_<k>` (see Mesh). CLEVR shapes fill a 2 x 2 x 2 box about the origin.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.person import posed
from diorama.scene_specs.asset_roots import package_assets
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.diagnostics import did_you_mean
from diorama.scene_specs.language.invented import is_invented
from diorama.scene_specs.language.person import is_person, parse_person
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.rotation import Vec, transform
from diorama.scene_specs.shapes.invented.invented_mesh import invented_mesh
from diorama.scene_specs.shapes.invented.surfaces import shading_normals


@dataclass(frozen=True)
class Mesh:
    """The mesh of a shape, pointer or ground.

    Attributes:
        vertices: (V, 3).
        normals: (V, 3) unit shading normals.
        triangles: (T, 3) indices, counter-clockwise seen from outside.
        sha256: hexadecimal digest of the file; of an invented shape, of vertices and triangles.
        anchors: named points, (3,) each.
        parts: corners of convex parts that together fill a shape that is not convex, (N, 3) each.
        cavities: spaces inside: corners of the floor (N, 3), counter-clockwise, and a row of the floor's z, the z where
            the space ends, and whether it has a ceiling.
        joints: part of a person that each vertex belongs to, (V,): 0 body, 1 head, 2 right and 3 left eye.
        tints: linear color of each triangle of a person, (T, 3); -1 where it has the object's.
    """

    name: str
    vertices: NDArray[np.float64]
    normals: NDArray[np.float64]
    triangles: NDArray[np.int32]
    sha256: str
    anchors: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    parts: tuple[NDArray[np.float64], ...] = ()
    cavities: tuple[NDArray[np.float64], ...] = ()
    joints: NDArray[np.float64] | None = None
    tints: NDArray[np.float64] | None = None


def all_mesh_paths() -> dict[str, Path]:
    """Return name -> file of every mesh: shapes, then pointers and grounds."""
    return {name: registered.load() for name, registered in plugins("shapes").items()} | _own_meshes()


@lru_cache(maxsize=1)
def _own_meshes() -> dict[str, Path]:
    return {path.stem: path for path in sorted((package_assets() / "meshes").glob("*.npz"))}


def _check_arrays(*arrays: NDArray[Any], anchors: Iterable[NDArray[Any]]) -> None:
    """Raise ValueError for vertices, normals, triangles or anchors of another form than this module describes."""
    for name, array in zip(("vertices", "normals", "triangles"), arrays, strict=True):
        if array.ndim != 2 or array.shape[1] != 3 or not len(array):
            raise ValueError(f"found {name} of shape {array.shape}; expected (N, 3) with N at least 1")
    vertices, normals, triangles = arrays
    if len(normals) != len(vertices):
        raise ValueError(f"found {len(normals)} normals for {len(vertices)} vertices")
    if not all(np.isfinite(array).all() for array in (vertices, normals, *anchors)):
        raise ValueError("found a coordinate that is not a finite number")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise ValueError(f"found indices {triangles.min()} to {triangles.max()} for {len(vertices)} vertices")


def is_varied(shape: str) -> bool:
    """Return whether the mesh of a shape is made from its name: that of an invented shape, or of a person."""
    return is_invented(shape) or is_person(shape)


@lru_cache(maxsize=64)
def load_mesh(name: str) -> Mesh:
    """Return a mesh by name; that of an invented shape is built, and that of a person gets its pose.

    Raises:
        AssetError: the name is unknown or malformed, or the file is damaged.
        PluginError: the plug-in can't be imported.
    """
    if is_invented(name):
        return _make_invented(name)
    if is_person(name):
        return _make_person(name)
    own, shapes = _own_meshes(), plugins("shapes")
    if name not in own and name not in shapes:
        hint = did_you_mean(name, (*shapes, *own))
        raise AssetError(f"unknown mesh {name!r}" + (f"; {hint}" if hint else ""))
    path = own.get(name) or shapes[name].load()
    try:
        data = path.read_bytes()
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            vertices = arrays["vertices"].astype(np.float64)
            normals = arrays["normals"].astype(np.float64)
            triangles = arrays["triangles"].astype(np.int32)
            named = {key.removeprefix("anchor_"): arrays[key] for key in arrays if key.startswith("anchor_")}
            anchors = {name: point.astype(np.float64) for name, point in named.items()}
            parts, cavities = (
                tuple(arrays[key].astype(np.float64) for key in sorted(arrays) if key.startswith(start))
                for start in ("part_", "cavity_")
            )
            joints, tints = (arrays[key].astype(np.float64) if key in arrays else None for key in ("joint", "tint"))
            _check_arrays(vertices, normals, triangles, anchors=anchors.values())
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise AssetError(f"mesh {name!r}: {path}: {error}") from error
    digest = hashlib.sha256(data).hexdigest()
    return Mesh(name, vertices, normals, triangles, digest, anchors, parts, cavities, joints, tints)


def _make_invented(name: str) -> Mesh:
    try:
        vertices, triangles = invented_mesh(name)
    except ValueError as error:
        raise AssetError(str(error)) from error
    digest = hashlib.sha256(vertices.astype("<f8").tobytes() + triangles.astype("<i4").tobytes())
    return Mesh(name, vertices, shading_normals(vertices, triangles), triangles, digest.hexdigest())


def _make_person(name: str) -> Mesh:
    gaze, mesh = parse_person(name), load_mesh("person")
    if gaze is None or mesh.joints is None:
        raise AssetError(f"mesh {name!r}: not the name of a person; allowed: person:<turn>/<nod>, in degrees")
    vertices, normals = posed(mesh.vertices, mesh.normals, mesh.joints, mesh.anchors, gaze)
    return replace(mesh, name=name, vertices=vertices, normals=normals)


def pointing_ray(shape: str, rotation_deg: Vec, scale: float, location: Vec) -> tuple[Vec, Vec]:
    """Return knuckle and fingertip of a pointer in world coordinates, Blender units.

    Raises:
        AssetError: the mesh has no such anchors.
    """
    anchors = load_mesh(shape).anchors
    if not {"knuckle", "fingertip"} <= anchors.keys():
        raise AssetError(f"mesh {shape!r} has no anchors knuckle and fingertip: it cannot be a pointer")
    points = np.array([anchors["knuckle"], anchors["fingertip"]])
    (ax, ay, az), (bx, by, bz) = transform(points, rotation_deg, scale, location).tolist()
    return (ax, ay, az), (bx, by, bz)
