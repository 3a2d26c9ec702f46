"""Meshes prepared for `raster`, and how shapes stand on the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.meshes import Mesh, is_varied, load_mesh
from diorama.render.geometry.outlines import corners_of, outline_mesh, outline_of
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.language.person import is_person
from diorama.scene_specs.model.scene import SceneObject
from diorama.scene_specs.model.spec import OutlineSpec
from diorama.scene_specs.rotation import Floats, Vec, transform
from diorama.scene_specs.shapes.convex_hull import convex_hull
from diorama.scene_specs.shapes.shapenet import Model, load_model

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Solid:
    """A mesh prepared for rasterizing.

    Attributes:
        vertices: (3, V) x, y, z.
        corners: (3, T) indices of the triangles, clockwise seen from outside, which is counter-clockwise in an image
            with y down.
        planes: (4, T) normal and offset of the triangles.
        closed: whether the mesh has no border, so that faces turned away are never visible.
        radius: radius of the sphere about the origin that contains it.
    """

    vertices: Floats
    corners: Indices
    planes: Floats
    closed: bool
    radius: float

    @classmethod
    def of(cls, mesh: Mesh | Model) -> Solid:
        """Prepare a mesh with vertices (V, 3) and triangles (T, 3), counter-clockwise seen from outside."""
        x, y, z = vertices = np.ascontiguousarray(mesh.vertices.T)
        a, b, c = corners = np.ascontiguousarray(mesh.triangles.T[[0, 2, 1]], dtype=np.intp)
        ux, uy, uz = x[c] - x[a], y[c] - y[a], z[c] - z[a]
        vx, vy, vz = x[b] - x[a], y[b] - y[a], z[b] - z[a]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        planes = np.stack([nx, ny, nz, nx * x[a] + ny * y[a] + nz * z[a]])
        radius = float(np.sqrt((x * x + y * y + z * z).max()))
        return cls(vertices, corners, planes, is_closed(mesh), radius)


def is_closed(mesh: Mesh | Model) -> bool:
    """Whether each edge has exactly two triangles, in opposite directions, at once or with equal corners merged."""
    # Merging takes longer than all the rest of preparing a mesh, and invented shapes have nothing to merge.
    if _all_paired(mesh.triangles.astype(np.int64), len(mesh.vertices)):
        return True
    _, place = np.unique(mesh.vertices, axis=0, return_inverse=True)
    return _all_paired(place.reshape(-1)[mesh.triangles].astype(np.int64), len(mesh.vertices))


def _all_paired(corner: NDArray[np.int64], count: int) -> bool:
    corner = corner[(corner != np.roll(corner, 1, axis=1)).all(axis=1)]
    start, end = corner.ravel(), np.roll(corner, -1, axis=1).ravel()
    forth, back = np.sort(start * count + end), np.sort(end * count + start)
    return bool((forth == back).all() and (np.diff(forth) > 0).all())


def solid(name: str, outline: OutlineSpec | None = None) -> Solid:
    """Return the prepared mesh of a shape, model or outline.

    Raises:
        AssetError: it can't be read.
    """
    drawn = outline_of(name, outline)
    if is_varied(name):
        return _of_many(name, "")
    return _of_many(name, load_model(name).sha256) if is_model(name) else _of_shape(name, drawn)


def world_vertices(item: SceneObject) -> Floats:
    """Return the vertices of an object's mesh in the world, (V, 3), Blender units.

    Raises:
        AssetError: the mesh can't be read.
    """
    return transform(solid(item.shape, item.outline).vertices.T, item.rotation_deg, item.scale, item.location)


def is_inside(point: Vec, vertices: Floats, corners: NDArray[np.intp]) -> bool:
    """Return whether a surface winds around a point; an open one by more than half. (V, 3) vertices, (3, T) corners."""
    a, b, c = (vertices[corner] - np.asarray(point) for corner in corners)
    la, lb, lc = (np.sqrt((side * side).sum(axis=1)) for side in (a, b, c))
    volume = (a * np.cross(b, c)).sum(axis=1)
    edges = la * lb * lc + (a * b).sum(axis=1) * lc + (b * c).sum(axis=1) * la + (c * a).sum(axis=1) * lb
    # Solid angles of the triangles, Van Oosterom and Strackee 1983.
    return abs(float(np.arctan2(volume, edges).sum())) > np.pi


@lru_cache(maxsize=1024)
def _of_shape(name: str, outline: OutlineSpec | None) -> Solid:
    return Solid.of(load_mesh(name) if outline is None else outline_mesh(outline))


@lru_cache(maxsize=128)
def _of_many(name: str, _sha256: str) -> Solid:
    return Solid.of(load_model(name) if is_model(name) else load_mesh(name))


@dataclass(frozen=True)
class Stand:
    """How a shape at scale 1 stands on the ground.

    Attributes:
        height: distance of its origin above the ground.
        ground_radius: radius of its footprint, a disc about the origin.
        hull: convex outline of the footprint, counter-clockwise, where one is known.
        radius: radius of the sphere about the origin that contains it.
        unit: half its longest side in its own units; None for other shapes than models.
    """

    height: float
    ground_radius: float
    hull: tuple[tuple[float, float], ...] | None
    radius: float
    unit: float | None


def stand_of(name: str, outline: OutlineSpec | None = None) -> Stand:
    """Return how a shape stands. Meshes have their origin 1 above the ground, on a disc of radius 1; not containers
    and people."""
    drawn = outline_of(name, outline)
    if drawn is not None:
        corners = corners_of(drawn)
        reach = max(math.hypot(x, y) for x, y in corners)
        hull = None if drawn.outline == "circle" else convex_hull(np.array(corners))
        return Stand(drawn.height / 2, reach, hull, math.hypot(reach, drawn.height / 2), None)
    if not is_model(name):
        mesh = load_mesh(name)
        if not mesh.cavities and not is_person(name):
            return Stand(1.0, 1.0, None, solid(name).radius, None)
        flat = mesh.vertices[:, :2]
        reach = float(np.sqrt((flat * flat).sum(axis=1).max()))
        return Stand(-float(mesh.vertices[:, 2].min()), reach, convex_hull(flat), solid(name).radius, None)
    model = load_model(name)
    return Stand(-model.lower[2], model.ground_radius, model.hull, model.radius, model.unit)
