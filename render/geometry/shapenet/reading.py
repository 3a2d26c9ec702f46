"""Read a model's file with trimesh: triangles with their texture coordinates, and materials.

Files that a model refers to are read only from below the root of the library. A path that leads out of it, or to no
file, is noted and replaced.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from render.model.errors import AssetError
from scene_specs.language.foreign import read_foreign

# glTF has PNG and JPEG; .obj models also use the others. Pillow reads dozens, PostScript by starting Ghostscript.
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TGA")
# Pixels of a texture, 8192 x 8192, and of all textures of a model: a PNG of 200 kB may have 200 MB of pixels.
_MOST_PIXELS, _ALL_PIXELS = 1 << 26, 1 << 30
_MOST_CORNERS = 10_000
# Vertices and indices of a .glb file, each counted as often as it is shown, its nodes, and nodes inside each other.
_MOST_SHOWN, _MOST_NODES, _MOST_LEVELS = 50_000_000, 20_000, 500
_MTLLIB = re.compile(r"^[^\S\n]*mtllib[ \t]+(.*)$", re.MULTILINE)
_OPTION = re.compile(
    r"^\s*-(?:(?:blendu|blendv|cc|clamp|imfchan|texres|bm|type|boost)\s+\S+|mm\s+\S+\s+\S+"
    r"|[ost](?:\s+-?[\d.eE+-]+){1,3})\s+"
)
_TEXTURE_FOLDERS = ("", "images", "textures", "../images", "../textures", "..")
# Faces with an index that counts from the end, or is 0, are rewritten one by one.
_ODD_FACE = re.compile(r"^[^\S\n]*f\b.*(?:[\s/]-|\s0+[/\s])", re.MULTILINE)
_NORMAL = re.compile(r"(?<!\d)(-?\d+)/(-?\d*)/-?\d*")
# Where no corner has exactly one slash, a normal follows the last slash of each. Found without a group, because
# substituting groups takes seconds in a large model.
_ONE_SLASH = re.compile(r"(?:^|\s)[^\s/]+/[^\s/]+(?=\s|$)", re.MULTILINE)
_LAST_OF_TWO = re.compile(r"/-?\d*(?=\s|$)", re.MULTILINE)
_LAST_SLASH = re.compile(r"/(?=\s|$)", re.MULTILINE)


@dataclass
class Part:
    """Triangles of one material. vertices (V, 3) in the file's units, triangles (T, 3), uv (V, 2) or None.

    look: the material's fields as read by trimesh. image: its texture, a PIL image or None.
    """

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    uv: NDArray[np.float64] | None
    name: str
    look: dict[str, Any]
    image: Any = None


@dataclass
class Sources:
    """The files below the root of a library that a model is read from, its notes and its missing files.

    main: the model's own file. libraries: names of its material files. pixels: of the textures decoded so far.
    Implements trimesh's resolver interface.
    """

    root: Path
    main: Path
    files: dict[Path, bytes] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    missing: list[Path] = field(default_factory=list)
    libraries: tuple[str, ...] = ()
    pixels: int = 0

    def read(self, path: Path) -> bytes:
        """The bytes of a file below the root. Raises OSError, AssetError."""
        real = path.resolve()
        if not real.is_relative_to(self.root):
            raise AssetError(f"{path} lies outside the model library {self.root}")
        if real not in self.files:
            self.files[real] = read_foreign(real)
        return self.files[real]

    def decode_texture(self, stream: IO[bytes]) -> Any:
        """The texture as an RGB image. Raises AssetError if it is damaged, too large or of another format."""
        try:
            with _open(stream) as image:
                self.pixels += image.width * image.height
                if image.width * image.height > _MOST_PIXELS or self.pixels > _ALL_PIXELS:
                    raise ValueError(f"more than {_MOST_PIXELS:,} pixels, or {_ALL_PIXELS:,} in all textures")
                return image.convert("RGB")
        except Exception as error:  # readers of image formats raise many types
            raise AssetError(f"model {self.main}: a texture can't be read as {', '.join(_FORMATS)}: {error}") from error

    def note(self, text: str) -> None:
        """Add a note, once."""
        self.notes[text] = None

    def locate(self, named: str, what: str) -> Path | None:
        """The file that the main file calls `named`, also in usual texture folders; None, with a note, if missing."""
        name = named.strip().strip('"').replace("\\", "/")
        if not name or "\0" in name:
            return None
        pure = PurePosixPath(name)
        absolute = pure.is_absolute() or name[1:2] == ":"
        tries = [Path(name)] if pure.is_absolute() else [] if absolute else [self.main.parent / name]
        tries += [self.main.parent / folder / pure.name for folder in _TEXTURE_FOLDERS]
        for index, path in enumerate(tries):
            try:
                inside = path.resolve().is_relative_to(self.root) and path.is_file()
            except OSError:
                continue
            if inside:
                if index or absolute:
                    self.note(f"{what} {named!r} was found as {path.resolve().relative_to(self.root)}")
                return path
        self.note(f"{what} {named!r} is not there")
        # A file that appears there later changes the model; a file outside the root never does.
        self.missing += [path for path in tries[:1] if path.resolve().is_relative_to(self.root)]
        return None

    def get(self, name: str) -> bytes:
        """Called by trimesh: a texture, or all material files concatenated for `materials`. Raises OSError."""
        if name == "materials":
            return self._materials()
        path = self.locate(_without_options(name), "texture")
        if path is None:
            raise FileNotFoundError(name)
        data = self.read(path)
        try:
            self.decode_texture(io.BytesIO(data))
        except AssetError:
            self.note(f"texture {name!r} can't be read as a picture")
            raise FileNotFoundError(name) from None
        return data

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)

    def _materials(self) -> bytes:
        found = [self.locate(name, "material file") for name in self.libraries]
        if not any(found):
            guess = self.main.with_suffix(".mtl")
            if guess.is_file() and guess.resolve().is_relative_to(self.root):
                self.note(f"material file {guess.name!r} was taken instead")
                found = [guess]
        texts = [_decode(self.read(path), self, path.name) for path in found if path is not None]
        if not texts:
            raise FileNotFoundError("materials")
        return "\n".join(texts).encode()


def _without_options(name: str) -> str:
    """A texture's file name without the MTL options before it."""
    for _ in range(12):
        shorter = _OPTION.sub("", name)
        if shorter == name:
            break
        name = shorter
    return name.strip()


def _decode(data: bytes, sources: Sources, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        sources.note(f"{name} is not UTF-8; read as Latin-1")
        return data.decode("latin-1")


def read_parts(sources: Sources) -> list[Part]:
    """The parts of a model's main file (.obj or .glb), in order. Raises AssetError naming the file."""
    path = sources.main
    try:
        data = sources.read(path)
        parts = list(_obj_parts(data, sources) if path.suffix == ".obj" else _glb_parts(data, sources))
    except AssetError:
        raise
    except OSError as error:
        raise AssetError(f"model {path}: can't be read: {error.strerror or error}") from error
    except IndexError as error:
        raise AssetError(f"model {path}: a face names a corner that does not exist: {error}") from error
    except Exception as error:  # the parsers of trimesh raise many types
        kind = path.suffix[1:].upper()
        raise AssetError(f"model {path}: can't be read as {kind}: {type(error).__name__}: {error}") from error
    if not sum(len(part.triangles) for part in parts):
        raise AssetError(f"model {path}: it has no faces")
    return parts


def _obj_parts(data: bytes, sources: Sources) -> Iterator[Part]:
    from trimesh.exchange.obj import load_obj

    text = _decode(data, sources, sources.main.name).replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ")
    sources.libraries = tuple(dict.fromkeys(name.rstrip() for name in _MTLLIB.findall(text) if name.strip()))
    text = "mtllib materials\n" + _MTLLIB.sub("", _plain_faces(text, sources.main))
    loaded = load_obj(io.BytesIO(text.encode()), resolver=sources, group_material=True)  # type: ignore[arg-type]
    if "geometry" not in loaded:
        return
    if "\nusemtl" in text and not any(mesh["visual"] is not None for mesh in loaded["geometry"].values()):
        sources.note("its materials are not defined; it is gray")
    for mesh in loaded["geometry"].values():
        yield _part(mesh["vertices"], mesh["faces"], mesh["visual"])


def _plain_faces(text: str, path: Path) -> str:
    """OBJ text whose faces have no normals, which are wrong most often, and indices counted from 1.

    Raises AssetError for an index without a vertex, or a face of too many corners.
    """
    lines = text.split("\n")
    numbers = [number for number, line in enumerate(lines) if line.lstrip()[:2] in ("f ", "f\t")]
    for number in numbers:
        if len(lines[number]) > _MOST_CORNERS and (corners := len(lines[number].split()) - 1) > _MOST_CORNERS:
            raise AssetError(f"{path}:{number + 1}: found {corners:,} corners of a face; allowed: {_MOST_CORNERS:,}")
    faces = _without_normals("\n".join(lines[number] for number in numbers))
    for number, line in zip(numbers, faces.split("\n"), strict=False):
        lines[number] = line
    if _ODD_FACE.search(faces):
        _count_from_one(lines, path)
    return "\n".join(lines)


def _without_normals(faces: str) -> str:
    if "/" not in faces:
        return faces
    shorter = _NORMAL.sub(r"\1/\2", faces) if _ONE_SLASH.search(faces) else _LAST_OF_TWO.sub("", faces)
    return _LAST_SLASH.sub("", shorter)


def _count_from_one(lines: list[str], path: Path) -> None:
    """Rewrite the lines of faces with indices counted from 1. Raises AssetError for an index without a vertex."""
    counts = {"v": 0, "vt": 0}
    for number, line in enumerate(lines):
        words = line.split()
        if not words:
            continue
        if words[0] in counts:
            counts[words[0]] += 1
        elif words[0] == "f":
            lines[number] = "f " + " ".join(_reference(word, counts, path, number + 1) for word in words[1:])


def _reference(word: str, counts: dict[str, int], path: Path, line: int) -> str:
    parts = []
    for text, key in zip(word.split("/"), ("v", "vt"), strict=False):
        if not text:
            continue
        try:
            index = int(text)
        except ValueError as error:
            raise AssetError(f"{path}:{line}: found {text!r} where a face names a vertex") from error
        plain = index if index > 0 else counts[key] + 1 + index
        if index == 0 or plain < 1:
            raise AssetError(f"{path}:{line}: a face names {key} {index}; there are {counts[key]} so far")
        parts.append(str(plain))
    return "/".join(parts)


def _check_glb(data: bytes, path: Path) -> None:
    """Refuse a few bytes that name more than fits into memory: the same data again and again, or data without bytes.

    Raises AssetError; for a damaged header anything.
    """
    head = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")].decode())
    counts = [accessor["count"] for accessor in head.get("accessors", ())]
    meshes = [
        sum(
            counts[p["attributes"]["POSITION"]] + (counts[p["indices"]] if "indices" in p else 0)
            for p in m["primitives"]
        )
        for m in head.get("meshes", ())
    ]
    nodes = head.get("nodes", ())
    shown = sum(meshes) + sum(meshes[node["mesh"]] for node in nodes if "mesh" in node)
    levels, level = 0, set(range(min(len(nodes), _MOST_NODES)))
    while level and levels <= _MOST_LEVELS:  # a circle, which glTF forbids, has no end
        levels, level = levels + 1, {child for k in level for child in nodes[k].get("children", ())}
    viewed = sum(view["byteLength"] for view in head.get("bufferViews", ()))
    for what, found, most in (
        ("nodes", len(nodes), _MOST_NODES),
        ("levels of nodes", levels, _MOST_LEVELS),
        ("vertices and indices", shown, _MOST_SHOWN),
        ("elements in accessors", sum(counts), len(data)),
        ("bytes in buffer views", viewed, 4 * len(data)),
    ):
        if found > most:
            raise AssetError(f"model {path}: found {found:,} {what}; allowed: at most {most:,}")


def _open(stream: IO[bytes]) -> Any:
    """A Pillow image that is not decoded yet; `decode_texture` has our own limit on its size."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        return Image.open(stream, formats=_FORMATS)


def _lazy_textures(header: Any, views: Any, resolver: Any = None) -> list[Any]:
    """The images of a .glb file, not decoded; None for those of other formats."""
    from trimesh.exchange import gltf

    images: list[Any] = []
    for facts in header.get("images", ()):
        try:
            data = views[facts["bufferView"]] if "bufferView" in facts else gltf._uri_to_bytes(facts["uri"], resolver)
            images.append(_open(io.BytesIO(data)))
        except Exception:  # readers of image formats raise many types
            images.append(None)
    return images


def _glb_parts(data: bytes, sources: Sources) -> Iterator[Part]:
    from trimesh.exchange import gltf
    from trimesh.exchange.load import load_scene

    _check_glb(data, sources.main)
    # trimesh offers no choice of image formats. The function stays replaced, so that threads need no lock; a version of
    # trimesh without it fails in tests/hostile.
    gltf._parse_textures = _lazy_textures
    scene = load_scene(io.BytesIO(data), file_type="glb", resolver=None, process=False)
    for node in sorted(scene.graph.nodes_geometry):
        matrix, name = scene.graph[node]
        mesh = scene.geometry[name]
        if not hasattr(mesh, "faces"):
            continue
        vertices = np.asarray(mesh.vertices) @ matrix[:3, :3].T + matrix[:3, 3]
        yield _part(vertices, np.asarray(mesh.faces), mesh.visual)


def _part(vertices: Any, faces: Any, visual: Any) -> Part:
    """A part from trimesh's arrays; faces with more than three corners become fans of triangles."""
    corners = np.asarray(faces, dtype=np.int64)
    if corners.ndim == 2 and corners.shape[1] != 3:
        fans = [corners[:, [0, k, k + 1]] for k in range(1, corners.shape[1] - 1)]
        corners = np.stack(fans, axis=1).reshape(-1, 3) if fans else np.zeros((0, 3), dtype=np.int64)
    uv = getattr(visual, "uv", None)
    flat = None if uv is None else np.asarray(uv, dtype=np.float64)[:, :2]
    if flat is not None and (len(flat) != len(vertices) or not np.isfinite(flat).all()):
        flat = None
    material = getattr(visual, "material", None)
    look, image = _look(material)
    name = str(getattr(material, "name", "") or "")
    points = np.asarray(vertices, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] < 3:
        raise ValueError("its vertices have fewer than three coordinates")
    return Part(points, corners, flat, name, look, image)


def _look(material: Any) -> tuple[dict[str, Any], Any]:
    """Fields and texture of trimesh's two types of material: MTL's keys, or glTF's with `gltf` set."""
    if material is None:
        return {}, None
    if hasattr(material, "baseColorFactor"):
        fields = ("baseColorFactor", "roughnessFactor", "metallicFactor")
        return {"gltf": True, **{key: getattr(material, key) for key in fields}}, material.baseColorTexture
    return dict(getattr(material, "kwargs", {})), getattr(material, "image", None)
