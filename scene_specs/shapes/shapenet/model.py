"""`Model`: a model, welded, repaired, turned upright and scaled, as the compiler and Cycles take it; pure numpy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict

from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.files.foreign import file_state, read_foreign
from diorama.scene_specs.rotation import Floats, Vec, multiplied, rounded3
from diorama.scene_specs.shapes.convex_hull import convex_hull
from diorama.scene_specs.shapes.shapenet.repair import live_faces, oriented, weld

# Part of every digest: a change of this code, or of what reads files, that changes models changes the version.
VERSION = "diorama-model-3"
# The color of a surface without a material.
GRAY = (0.5, 0.5, 0.5)
# Larger coordinates stand for what is no number.
_LARGEST = 1e30


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


@dataclass(frozen=True)
class Faces:
    """Triangles (T, 3) of vertices (V, 3), with indices of their corners (T, 3) and of their materials (T,)."""

    vertices: Floats
    triangles: NDArray[np.int64]
    corners: NDArray[np.int64]
    slots: NDArray[np.int32]


# Faces with corners that are not numbers are left out and noted, so warnings about their arithmetic tell nothing new.
@np.errstate(all="ignore")
def prepared(faces: Faces, up: str, front: str, path: Path, note: Callable[[str], None]) -> tuple[Faces, float]:
    """Turn, repair, center and scale a model; also half its longest side before.

    Args:
        up: axis of the vertices, such as "+y".
        front: axis of the model's front.
        path: for messages.
        note: takes what was repaired, one sentence each.

    Raises:
        AssetError: the model has no extent.
    """
    faces = _repaired(replace(_finite(faces, path, note), vertices=turned(faces.vertices, up, front)), path, note)
    lower, upper = faces.vertices.min(axis=0), faces.vertices.max(axis=0)
    unit = float((upper - lower).max()) / 2
    return replace(faces, vertices=np.round((faces.vertices - (lower + upper) / 2) / unit, 7) + 0.0), unit


def make_model(faces: Faces, uv: NDArray[np.float32], origin: tuple[object, ...], **facts: Any) -> Model:
    """Measure a prepared model.

    Args:
        origin: what it was made from, as for JSON: its axes, and the names and digests of its files.
        facts: all that can't be measured.
    """
    vertices, flat = faces.vertices, faces.vertices[:, :2]
    triangles = faces.triangles.astype(np.int32)
    digest = hashlib.sha256(json.dumps((VERSION, *origin)).encode())
    for array in (vertices, triangles, uv, faces.slots):
        digest.update(np.ascontiguousarray(array).tobytes())
    return Model(
        sha256=digest.hexdigest(),
        vertices=vertices,
        triangles=triangles,
        uv=uv,
        slots=faces.slots,
        lower=rounded3(vertices.min(axis=0), 7),
        upper=rounded3(vertices.max(axis=0), 7),
        hull=convex_hull(flat),
        radius=round(float(np.sqrt((vertices * vertices).sum(axis=1).max())), 6),
        ground_radius=round(float(np.sqrt((flat * flat).sum(axis=1).max())), 6),
        **facts,
    )


def _finite(faces: Faces, path: Path, note: Callable[[str], None]) -> Faces:
    """Return the faces without those with a corner that is not finite or too large. Raises AssetError."""
    good = (np.abs(faces.vertices) <= _LARGEST).all(axis=1)[faces.triangles].all(axis=1)
    if not good.all():
        note(f"{int((~good).sum())} faces with corners that are no numbers or too large were left out")
    if not good.any():
        raise AssetError(f"model {path}: none of its faces has finite corners, at most {_LARGEST:g} from 0")
    return Faces(faces.vertices, faces.triangles[good], faces.corners[good], faces.slots[good])


def _axis_vector(name: str) -> Floats:
    vector: Floats = np.eye(3)["xyz".index(name[1])]
    return vector if name[0] == "+" else -vector


def turned(vectors: Floats, up: str, front: str) -> Floats:
    """Vectors (..., 3) with up turned to +Z and front to -Y."""
    z, y = _axis_vector(up), -_axis_vector(front)
    return multiplied(vectors, (np.cross(y, z), y, z))


def _repaired(faces: Faces, path: Path, note: Callable[[str], None]) -> Faces:
    """Weld corners, drop empty and doubled faces, turn faces outwards. Raises AssetError for a model without extent."""
    used = faces.vertices[faces.triangles.ravel()]
    extent = float((used.max(axis=0) - used.min(axis=0)).max())
    if not extent > 0:
        raise AssetError(f"model {path}: all its corners are in one place")
    vertices, triangles = weld(faces.vertices, faces.triangles)
    solid, repeated = live_faces(vertices, triangles)
    if not solid.any():
        raise AssetError(f"model {path}: none of its faces has an area")
    if not solid.all():
        note(f"{int((~solid).sum())} faces without area were left out")
    if repeated.any():
        note(f"{int(repeated.sum())} doubled faces were left out")
    kept = solid & ~repeated
    corners, slots = faces.corners[kept], faces.slots[kept]
    outward, count = oriented(vertices, triangles[kept])
    if count:
        note(f"{count} faces were turned to look outwards")
        back = (outward != triangles[kept]).any(axis=1)
        corners = np.where(back[:, None], corners[:, ::-1], corners)
    # Dropped faces may leave unused corners.
    vertices, triangles = weld(vertices, outward)
    return Faces(vertices, triangles, corners, slots)


def mean_color(faces: Faces, colors: Sequence[Vec]) -> Vec:
    """Mean of the materials' colors, weighted by area."""
    a, b, c = (faces.vertices[faces.triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    area = np.bincount(faces.slots, np.sqrt((normal * normal).sum(axis=1)), minlength=len(colors))
    # Faces thinner than a model's coordinates are precise have no area.
    total = float(area.sum()) or 1.0
    return rounded3((area[:, None] * np.array(colors)).sum(axis=0) / total, 7)
