"""Meshes at scale 1, as bodies that touch need them: flat faces, spaces inside, convex parts and centers of mass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from diorama.render.geometry.meshes import Mesh, load_mesh
from diorama.render.geometry.outlines import outline_mesh, outline_of
from diorama.render.geometry.solid import is_closed
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.model.spec import OutlineSpec
from diorama.scene_specs.rotation import Floats, Vec
from diorama.scene_specs.shapes.convex_hull import convex_hull
from diorama.scene_specs.shapes.invented.invented_mesh import mass_center
from diorama.scene_specs.shapes.shapenet import Model, load_model

# Rounding of meshes, at scale 1.
FLAT, _SAME = 1e-4, 1e-5


@dataclass(frozen=True)
class Prism:
    """A convex outline (N, 2), counter-clockwise, from one z to another."""

    outline: Floats
    low: float
    high: float


@dataclass(frozen=True)
class Cavity:
    """A space inside: the outline of its floor, and z of floor and end; with a ceiling, nothing may rise above it."""

    outline: Floats
    floor: float
    end: float
    ceiling: bool


@dataclass(frozen=True)
class Form:
    """A mesh at scale 1.

    Attributes:
        vertices: (V, 3).
        closed: whether it has no border, so that it has a volume.
        center: center of mass.
        round: whether every rotation leaves it as it is.
    """

    vertices: Floats
    closed: bool
    center: Vec
    volume: float
    low: float
    high: float
    base: Floats
    top: Floats | None
    outline: Floats
    band: tuple[float, float]
    parts: tuple[Prism, ...]
    cavities: tuple[Cavity, ...]
    round: bool


def hull(points: Floats) -> Floats:
    """Convex outline of points (N, 2), counter-clockwise; fewer than three corners if they are on a line."""
    return np.array(convex_hull(points), dtype=np.float64).reshape(-1, 2)


def area(outline: Floats) -> float:
    """Area of a counter-clockwise outline."""
    x, y = outline.T
    return math.fsum((x * np.roll(y, -1) - y * np.roll(x, -1)).tolist()) / 2


def _top_face(mesh: Mesh | Model, high: float) -> Floats | None:
    """Return the flat face at the top, if it is a convex polygon without holes; a rim is none."""
    corners = mesh.vertices[mesh.triangles]
    face = corners[(corners[:, :, 2] > high - FLAT).all(axis=1)][:, :, :2]
    if not len(face):
        return None
    outline = hull(face.reshape(-1, 2))
    (ax, ay), (bx, by), (cx, cy) = (face[:, k].T for k in range(3))
    filled = math.fsum((((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / 2).tolist())
    return outline if len(outline) > 2 and abs(filled - area(outline)) < 0.01 * area(outline) else None


def _vertical_band(vertices: Floats, outline: Floats) -> tuple[float, float]:
    """Lowest and highest z at which all corners of the outline are on the surface; in this order only if there are."""
    low, high = -math.inf, math.inf
    for x, y in outline.tolist():
        z = vertices[(np.abs(vertices[:, 0] - x) < _SAME) & (np.abs(vertices[:, 1] - y) < _SAME), 2]
        low, high = max(low, float(z.min(initial=math.inf))), min(high, float(z.max(initial=-math.inf)))
    return low, high


@lru_cache(maxsize=256)
def form_of(shape: str, outline: OutlineSpec | None = None) -> Form:
    """Return where a shape, model or outline can touch others.

    Raises:
        AssetError: it can't be read.
    """
    drawn = outline_of(shape, outline)
    mesh = load_model(shape) if is_model(shape) else load_mesh(shape) if drawn is None else outline_mesh(drawn)
    low, high = float(mesh.vertices[:, 2].min()), float(mesh.vertices[:, 2].max())
    center, volume = mass_center(mesh.vertices, mesh.triangles)
    around = hull(mesh.vertices[:, :2])
    return Form(
        mesh.vertices,
        is_closed(mesh) and volume > 0,
        center,
        volume,
        low,
        high,
        hull(mesh.vertices[mesh.vertices[:, 2] < low + FLAT, :2]),
        _top_face(mesh, high),
        around,
        _vertical_band(mesh.vertices, around),
        tuple(Prism(hull(p[:, :2]), float(p[:, 2].min()), float(p[:, 2].max())) for p in mesh.parts)
        or (Prism(around, low, high),),
        tuple(Cavity(c[:-1, :2], float(c[-1, 0]), float(c[-1, 1]), bool(c[-1, 2])) for c in mesh.cavities),
        shape == "sphere",
    )
