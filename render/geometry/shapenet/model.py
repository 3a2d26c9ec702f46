"""`Model`: one model of a library, ready for the compiler and for Cycles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Vec = tuple[float, float, float]


@dataclass(frozen=True)
class ModelMaterial:
    """color: linear RGB, 0-1. texture: an image file (.png or .jpg) in sRGB that stands for the color, or None.

    roughness, metallic, specular: as Blender's Principled BSDF means them. alpha: 1 is opaque.
    """

    name: str
    color: Vec = (0.5, 0.5, 0.5)
    roughness: float = 0.5
    metallic: float = 0.0
    specular: float = 0.5
    alpha: float = 1.0
    texture: str | None = None


@dataclass(frozen=True)
class FileState:
    """A file as it was when it was read. size: -1 where there was none."""

    path: str
    size: int
    changed_ns: int

    def still(self) -> bool:
        """Whether it is so now."""
        try:
            now = Path(self.path).stat()
        except OSError:
            return self.size < 0
        return (now.st_size, now.st_mtime_ns) == (self.size, self.changed_ns)


@dataclass(frozen=True)
class Model:
    """Z up, front towards -Y, the middle of its bounding box at the origin, its longest side 2.

    name: `shapenet:<category>/<id>`. sha256: over all its files, hexadecimal.
    vertices (V, 3), triangles (T, 3) counter-clockwise from outside where that is known, uv (T, 3, 2) float32 a corner,
        slots (T,) index into `materials`.
    lower, upper: corners of the bounding box. hull (N, 2): corners of its convex outline on the ground,
        counter-clockwise. radius: of the sphere about the origin that holds it. ground_radius: of the disc.
    unit: half the longest side in the file's own units. color: mean over its surface, linear RGB.
    notes: what was repaired or replaced, one sentence each.
    """

    name: str
    path: Path
    sha256: str
    vertices: Floats
    triangles: NDArray[np.int32]
    uv: NDArray[np.float32]
    slots: NDArray[np.int32]
    materials: tuple[ModelMaterial, ...]
    lower: Vec
    upper: Vec
    hull: tuple[tuple[float, float], ...]
    radius: float
    ground_radius: float
    unit: float
    color: Vec
    notes: tuple[str, ...]
    files: tuple[FileState, ...]
