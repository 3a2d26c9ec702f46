"""`Model`: a model of a library, welded, repaired, turned upright and scaled, ready for the compiler and Cycles."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict

from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.files.foreign import file_state, read_foreign
from diorama.scene_specs.rotation import Floats, Vec, rounded3
from diorama.scene_specs.shapes.convex_hull import convex_hull
from diorama.scene_specs.shapes.shapenet.library import Library
from diorama.scene_specs.shapes.shapenet.reading import note_license, read_parts
from diorama.scene_specs.shapes.shapenet.repair import live_faces, oriented, weld
from diorama.scene_specs.shapes.shapenet.sources import Part, Sources

# Part of every digest: a change of this code that changes models changes the version.
VERSION = "diorama-model-1"
# Of models with glTF materials that version 1 read with other defaults or another opacity.
_GLTF_VERSION = "diorama-model-2"
_GRAY = (0.5, 0.5, 0.5)
# A smaller `d` of a material is taken for an exporter's error: nobody models an invisible part.
_LEAST_ALPHA = 0.05
# Products of larger coordinates are not finite.
_LARGEST = 1e50

# Stores a texture: (PIL image, material number) -> path of its file.
StoreTexture = Callable[[Any, int], str]


@dataclass(frozen=True)
class ModelMaterial:
    """A material of a model.

    Attributes:
        color: linear RGB, 0-1.
        roughness: input of Blender's Principled BSDF, 0-1. The same holds for metallic and specular.
        alpha: 1 is opaque.
        texture: path of an sRGB image (.png or .jpg) used in place of the color, or None.
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
        sha256: hexadecimal digest of all its files.
        vertices: (V, 3).
        triangles: (T, 3), counter-clockwise seen from outside where the outside is known.
        uv: (T, 3, 2) float32, one coordinate pair per corner.
        slots: (T,) index into `materials`.
        lower: corners of the bounding box.
        upper: corners of the bounding box.
        hull: (N, 2) convex outline on the ground, counter-clockwise.
        radius: radius of the sphere about the origin that contains the model.
        ground_radius: radius of the disc that contains `hull`.
        unit: half the longest side in the file's own units.
        color: mean over the surface, linear RGB.
        notes: repairs, replacements and the license of a single file, one sentence each.
        files: all that it was read from.
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
    __pydantic_config__: ClassVar = ConfigDict(arbitrary_types_allowed=True)
    # As of a Mesh; a model has none.
    parts = cavities = ()

    def is_current(self) -> bool:
        """Whether none of its files has changed since."""
        return all(state.is_current() for state in self.files)


@dataclass(frozen=True)
class _Faces:
    vertices: Floats
    triangles: NDArray[np.int64]
    uv: NDArray[np.float32]
    slots: NDArray[np.int32]


# Faces with corners that are not numbers are left out and noted, so warnings about their arithmetic tell nothing new.
@np.errstate(all="ignore")
def make_model(name: str, sources: Sources, library: Library, store: StoreTexture) -> Model:
    """Read and prepare a model.

    Args:
        store: stores its textures.

    Raises:
        AssetError: with the name of the file.
    """
    parts = read_parts(sources)
    if library.own:
        note_license(sources)
    faces = _repair_faces(_turn_upright(_join_parts(parts, sources), library, sources), sources)
    lower, upper = faces.vertices.min(axis=0), faces.vertices.max(axis=0)
    unit = float((upper - lower).max()) / 2
    vertices = np.round((faces.vertices - (lower + upper) / 2) / unit, 7) + 0.0
    materials = tuple(_material(part, index, store, sources) for index, part in enumerate(parts))
    flat = vertices[:, :2]
    return Model(
        name=name,
        path=sources.main,
        sha256=_sources_digest(sources, library),
        vertices=vertices,
        triangles=faces.triangles.astype(np.int32),
        uv=faces.uv,
        slots=faces.slots,
        materials=materials,
        lower=rounded3(vertices.min(axis=0), 7),
        upper=rounded3(vertices.max(axis=0), 7),
        hull=convex_hull(flat),
        radius=round(float(np.sqrt((vertices * vertices).sum(axis=1).max())), 6),
        ground_radius=round(float(np.sqrt((flat * flat).sum(axis=1).max())), 6),
        unit=unit,
        color=_mean_color(vertices, faces, materials),
        notes=tuple(sources.notes),
        files=_file_states(sources),
    )


def _file_states(sources: Sources) -> tuple[FileState, ...]:
    found = {path: FileState(str(path)) for path in sources.missing}
    found |= {path: FileState(str(path), file_state(path)) for path in sources.unhashed}
    for path, data in sources.files.items():
        found[path] = FileState(str(path), sources.states[path], hashlib.sha256(data).hexdigest())
    return tuple(found.values())


def _sources_digest(sources: Sources, library: Library) -> str:
    """SHA-256 of the axes and, sorted by name, every file that was read."""
    digest = hashlib.sha256()
    for part in (sources.version or VERSION, library.up, library.front):
        digest.update(part.encode() + b"\0")
    for path in sorted(sources.files):
        data = sources.files[path]
        name = path.relative_to(sources.root).as_posix().encode("utf-8", "surrogateescape")
        digest.update(name + b"\0" + len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _join_parts(parts: Sequence[Part], sources: Sources) -> _Faces:
    """Return the faces of all parts, except faces with a corner that is not finite or too large. Raises AssetError."""
    for part in parts:
        if len(part.triangles) and not 0 <= part.triangles.min() <= part.triangles.max() < len(part.vertices):
            raise AssetError(f"model {sources.main}: a face names a vertex that does not exist")
    counts = [len(part.triangles) for part in parts]
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices = np.concatenate([part.vertices[:, :3] for part in parts])
    triangles = np.concatenate([part.triangles + start for part, start in zip(parts, starts, strict=False)])
    empty = [np.zeros((count, 3, 2), dtype=np.float32) for count in counts]
    uv = np.concatenate([none if p.uv is None else p.uv[p.triangles] for p, none in zip(parts, empty, strict=True)])
    slots = np.repeat(np.arange(len(parts), dtype=np.int32), counts)
    good = (np.abs(vertices) <= _LARGEST).all(axis=1)[triangles].all(axis=1)
    if not good.all():
        sources.note(f"{int((~good).sum())} faces with corners that are no numbers or too large were left out")
    if not good.any():
        raise AssetError(f"model {sources.main}: none of its faces has finite corners, at most {_LARGEST:g} from 0")
    return _Faces(vertices, triangles[good], uv[good], slots[good])


def _axis_vector(name: str) -> Floats:
    vector: Floats = np.eye(3)["xyz".index(name[1])]
    return vector if name[0] == "+" else -vector


def _turn_upright(faces: _Faces, library: Library, sources: Sources) -> _Faces:
    """Return the faces with up turned to +Z and front to -Y."""
    up, front = library.axes(sources.main)
    z, y = _axis_vector(up), -_axis_vector(front)
    # Written out instead of a matrix product, so that every processor computes the same numbers.
    v = faces.vertices
    columns = [v[:, 0] * row[0] + v[:, 1] * row[1] + v[:, 2] * row[2] for row in (np.cross(y, z), y, z)]
    return replace(faces, vertices=np.stack(columns, axis=1))


def _repair_faces(faces: _Faces, sources: Sources) -> _Faces:
    """Weld corners, drop empty and doubled faces, turn faces outwards. Raises AssetError for a model without extent."""
    used = faces.vertices[faces.triangles.ravel()]
    extent = float((used.max(axis=0) - used.min(axis=0)).max())
    if not extent > 0:
        raise AssetError(f"model {sources.main}: all its corners are in one place")
    vertices, triangles = weld(faces.vertices, faces.triangles)
    solid, repeated = live_faces(vertices, triangles)
    if not solid.any():
        raise AssetError(f"model {sources.main}: none of its faces has an area")
    if not solid.all():
        sources.note(f"{int((~solid).sum())} faces without area were left out")
    if repeated.any():
        sources.note(f"{int(repeated.sum())} doubled faces were left out")
    kept = solid & ~repeated
    uv, slots = faces.uv[kept], faces.slots[kept]
    turned, count = oriented(vertices, triangles[kept])
    if count:
        sources.note(f"{count} faces were turned to look outwards")
        back = (turned != triangles[kept]).any(axis=1)
        uv = np.where(back[:, None, None], uv[:, ::-1], uv)
    # Dropped faces may leave unused corners.
    vertices, triangles = weld(vertices, turned)
    return _Faces(vertices, triangles, np.ascontiguousarray(uv), slots)


def _parse_number(value: Any, default: float) -> float:
    try:
        number = float(value[0] if isinstance(value, list | tuple) else value)
    except (TypeError, ValueError, IndexError):
        return default
    return number if np.isfinite(number) else default


def _parse_triple(value: Any, default: Vec) -> Vec:
    try:
        x, y, z = (min(max(float(v), 0.0), 1.0) for v in list(value)[:3])
    except (TypeError, ValueError):
        return default
    return (round(x, 6), round(y, 6), round(z, 6)) if all(np.isfinite((x, y, z))) else default


def _gltf(name: str, look: dict[str, Any], texture: str | None, sources: Sources) -> tuple[Vec, float, float, float]:
    """Color, roughness, metallic and alpha of a glTF material, whose defaults are white, 1, 1 and opaque."""
    factor, mode = look["baseColorFactor"], look["alphaMode"]
    color = (1.0, 1.0, 1.0) if factor is None else _parse_triple([v / 255 for v in list(factor)[:3]], _GRAY)
    stored = alpha = 1.0 if factor is None or len(factor) < 4 else float(factor[3]) / 255
    if mode != "BLEND":
        cutoff = _parse_number(look["alphaCutoff"], 0.5)
        alpha = float(mode != "MASK" or stored >= cutoff)
    # These factors multiply a texture that is not read: with 1, all of such a surface would be rough metal.
    multiplied = name in sources.shine_maps
    default = (0.6, 0.0) if multiplied else (1.0, 1.0)
    given = (look["roughnessFactor"], look["metallicFactor"])
    rough, metal = (_parse_number(value, otherwise) for value, otherwise in zip(given, default, strict=True))
    if alpha != stored or (factor is None and texture is None) or (None in given and not multiplied):
        sources.version = _GLTF_VERSION
    return color, rough, metal, alpha


def _material(part: Part, index: int, store: StoreTexture, sources: Sources) -> ModelMaterial:
    look = part.look
    texture = None if part.image is None or part.uv is None else store(part.image, index)
    if look.get("gltf"):
        color, rough, metal, alpha = _gltf(part.name, look, texture, sources)
        specular = 0.5
    else:
        # Blender's own importer reads MTL the same way: Kd is linear, Ns goes up to 1000.
        color = _parse_triple(look.get("kd"), _GRAY)
        shine = min(max(_parse_number(look.get("ns"), 40.0), 0.0), 1000.0)
        rough = _parse_number(look.get("pr"), 1.0 - (shine / 1000.0) ** 0.5)
        metal = _parse_number(look.get("pm"), 0.0)
        specular = sum(_parse_triple(look.get("ks"), _GRAY)) / 3
        alpha = _parse_number(look.get("d"), 1.0 - _parse_number(look.get("tr"), 0.0))
        if part.image is None and "map_kd" in look and max(color) < 0.02:
            color = _GRAY
    if alpha < _LEAST_ALPHA:
        sources.note(f"material {part.name!r} is wholly transparent; made opaque")
        alpha = 1.0
    return ModelMaterial(
        name=part.name,
        color=color,
        roughness=round(min(max(rough, 0.05), 1.0), 6),
        metallic=round(min(max(metal, 0.0), 1.0), 6),
        specular=round(min(max(specular, 0.0), 1.0), 6),
        alpha=round(min(alpha, 1.0), 6),
        texture=texture,
    )


def _mean_color(vertices: Floats, faces: _Faces, materials: Sequence[ModelMaterial]) -> Vec:
    """Mean of the materials' colors, weighted by area; a texture counts as gray."""
    a, b, c = (vertices[faces.triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    area = np.bincount(faces.slots, np.sqrt((normal * normal).sum(axis=1)), minlength=len(materials))
    colors = np.array([_GRAY if m.texture else m.color for m in materials])
    # Faces thinner than a model's coordinates are precise have no area.
    total = float(area.sum()) or 1.0
    return rounded3([float((colors[:, k] * area).sum()) / total for k in range(3)], 7)
