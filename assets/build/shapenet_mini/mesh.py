"""A closed surface of quads and triangles, and the few ways to move, turn and mirror it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Face = tuple[int, ...]
Point = tuple[float, float, float]

AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Mesh:
    """One or more closed surfaces, every face counter-clockwise seen from outside.

    vertices: (V, 3) in meters, X right, Y up, the model's front towards -Z; faces: 3 or 4 indices each.
    """

    vertices: Floats
    faces: tuple[Face, ...]

    def moved(self, x: float = 0, y: float = 0, z: float = 0) -> Mesh:
        return Mesh(self.vertices + np.array([x, y, z], dtype=np.float64), self.faces)

    def scaled(self, x: float = 1, y: float = 1, z: float = 1) -> Mesh:
        """Return the mesh stretched about the origin; faces keep looking outwards, also after a reflection."""
        mesh = Mesh(self.vertices * np.array([x, y, z], dtype=np.float64), self.faces)
        return mesh.flipped() if x * y * z < 0 else mesh

    def turned(self, axis: str, degrees: float, about: Point = (0, 0, 0)) -> Mesh:
        """Turned about an axis through `about`, counter-clockwise for a viewer the axis points at."""
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        u, v = (AXES[axis] + 1) % 3, (AXES[axis] + 2) % 3
        local = self.vertices - np.array(about, dtype=np.float64)
        turned = local.copy()
        turned[:, u] = c * local[:, u] - s * local[:, v]
        turned[:, v] = s * local[:, u] + c * local[:, v]
        return Mesh(turned + np.array(about, dtype=np.float64), self.faces)

    def mirrored(self, axis: str = "x") -> Mesh:
        factors = {name: -1.0 if name == axis else 1.0 for name in AXES}
        return self.scaled(**factors)

    def both(self, axis: str = "x") -> Mesh:
        """Itself and its mirror image: the left leg and the right one."""
        return join(self, self.mirrored(axis))

    def flipped(self) -> Mesh:
        return Mesh(self.vertices, tuple(face[::-1] for face in self.faces))


def join(*meshes: Mesh) -> Mesh:
    """Return several meshes as one, without welding or cutting."""
    faces: list[Face] = []
    offset = 0
    for mesh in meshes:
        faces.extend(tuple(i + offset for i in face) for face in mesh.faces)
        offset += len(mesh.vertices)
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), tuple(faces))


def around(mesh: Mesh, count: int, axis: str = "y", start: float = 0) -> Mesh:
    """`count` copies about an axis through the origin, the first turned by `start` degrees."""
    return join(*(mesh.turned(axis, start + 360 * k / count) for k in range(count)))


def row(mesh: Mesh, positions: Iterable[float], axis: str = "x") -> Mesh:
    """A copy at each position along an axis."""
    return join(*(mesh.moved(**{axis: float(p)}) for p in positions))


def closed(vertices: ArrayLike, faces: Sequence[Face]) -> Mesh:
    """Return a closed surface with its faces looking outwards, whatever their order was.

    Faces that name a vertex twice in a row become triangles or vanish.
    """
    clean = []
    for face in faces:
        distinct = tuple(i for k, i in enumerate(face) if i != face[k - 1])
        if len(distinct) >= 3:
            clean.append(distinct)
    mesh = Mesh(np.asarray(vertices, dtype=np.float64), tuple(clean))
    return mesh if volume(mesh) > 0 else mesh.flipped()


def triangles(mesh: Mesh) -> NDArray[np.int64]:
    """(T, 3) vertex indices; a quad is cut along the diagonal from its first vertex."""
    cut = [(face[0], face[k], face[k + 1]) for face in mesh.faces for k in range(1, len(face) - 1)]
    return np.array(cut, dtype=np.int64).reshape(-1, 3)


def volume(mesh: Mesh) -> float:
    """The enclosed volume in cubic meters; negative where the faces look inwards."""
    a, b, c = (mesh.vertices[corner] for corner in triangles(mesh).T)
    return float((a * np.cross(b, c)).sum()) / 6
