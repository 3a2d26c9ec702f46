"""`Model`: a model, welded, repaired, turned upright and scaled, as the compiler and Cycles take it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict

from diorama.scene_specs.files.foreign import file_state, read_foreign
from diorama.scene_specs.rotation import Floats, Vec

# Part of every digest: a change of this code, or of what reads files, that changes models changes the version.
VERSION = "diorama-model-3"


@dataclass(frozen=True)
class FileState:
    """A file when it was read.

    Attributes:
        state: see `file_state`; empty for a missing file.
        sha256: of its contents; "" if these don't matter.
    """

    path: str
    state: tuple[int, ...] = ()
    sha256: str = ""

    def is_current(self) -> bool:
        """Whether the file has not changed since, as far as its state tells."""
        try:
            return file_state(Path(self.path)) == self.state
        except OSError:
            return not self.state

    def has_contents(self) -> bool:
        """Whether its contents are the same."""
        return not self.sha256 or hashlib.sha256(read_foreign(Path(self.path))).hexdigest() == self.sha256


@dataclass(frozen=True)
class Model:
    """A model with Z up, its front towards -Y, the center of its bounding box at the origin, and a longest side of 2.

    Attributes:
        name: `shapenet:<category>/<id>` or `model:<file>`.
        sha256: hexadecimal digest of all its files and of the triangles that were made from them.
        vertices: (V, 3).
        triangles: (T, 3), counter-clockwise seen from outside where the outside is known.
        uv: (T, 3, 2) float32, one coordinate pair per corner.
        slots: (T,) index of the material.
        lower: corners of the bounding box.
        upper: corners of the bounding box.
        hull: (N, 2) convex outline on the ground, counter-clockwise.
        radius: radius of the sphere about the origin that contains the model.
        ground_radius: radius of the disc that contains `hull`.
        unit: half the longest side in the file's own units.
        color: mean over the surface, linear RGB.
        notes: repairs, replacements and the license of a single file, one sentence each.
        files: all that it was read from.
        blend: path of the same mesh with its materials; see `blend_of`.
    """

    name: str
    path: Path
    sha256: str
    vertices: Floats
    triangles: NDArray[np.int32]
    uv: NDArray[np.float32]
    slots: NDArray[np.int32]
    lower: Vec
    upper: Vec
    hull: tuple[tuple[float, float], ...]
    radius: float
    ground_radius: float
    unit: float
    color: Vec
    notes: tuple[str, ...]
    files: tuple[FileState, ...]
    blend: Path = Path()
    __pydantic_config__: ClassVar = ConfigDict(arbitrary_types_allowed=True)
    # As of a Mesh; a model has none.
    parts = cavities = ()

    def is_current(self) -> bool:
        """Whether none of its files has changed since."""
        return all(state.is_current() for state in self.files)
