"""The files of a model: what they may be, what was missing, and the parts that are read from them.

Files that a model refers to are read only from below the root of the library. A path that leads out of it, or to no
file, is noted and replaced.
"""

from __future__ import annotations

import io
import re
import warnings
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.files.foreign import file_state, read_foreign

# glTF has PNG and JPEG; .obj models also use the others. Pillow reads dozens, PostScript by starting Ghostscript.
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TGA")
# Pixels of a texture, 8192 x 8192, and of all textures of a model: a PNG of 200 kB may have 200 MB of pixels.
MOST_PIXELS, _ALL_PIXELS = 1 << 26, 1 << 30
# Notes of a model, and characters of one: each image's record has them.
_MOST_NOTES, _LONGEST_NOTE = 100, 300
# The MTL options before the name of a texture.
_OPTIONS = re.compile(
    r"^\s*(?:-(?:(?:blendu|blendv|cc|clamp|imfchan|texres|bm|type|boost)\s+\S+|mm\s+\S+\s+\S+"
    r"|[ost](?:\s+-?[\d.eE+-]+){1,3})\s+){1,12}"
)
# Fields of trimesh's glTF materials.
_GLTF = ("baseColorFactor", "roughnessFactor", "metallicFactor", "alphaMode", "alphaCutoff")
_TEXTURE_FOLDERS = ("", "images", "textures", "../images", "../textures", "..")


@dataclass
class Part:
    """Triangles of one material. vertices (V, 3) in the file's units, triangles (T, 3), uv (V, 2) or None.

    Attributes:
        look: the material's fields as read by trimesh.
        image: its texture, a PIL image or None.
    """

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    uv: NDArray[np.float32] | None
    name: str
    look: dict[str, Any]
    image: Any = None


@dataclass
class Sources:
    """The files below the root of a library that a model is read from, its notes and its missing files.

    Attributes:
        main: the model's own file.
        states: of the files, see `file_state`.
        libraries: names of its material files.
        pixels: number of pixels of the textures decoded so far.
        unhashed: paths that count for the cache but not for the image.
        version: version of the code, where not the usual one.
        shine_maps: names of glTF materials whose roughness and metallic are in a texture.
    """

    root: Path
    main: Path
    files: dict[Path, bytes] = field(default_factory=dict)
    states: dict[Path, tuple[int, ...]] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    missing: list[Path] = field(default_factory=list)
    libraries: tuple[str, ...] = ()
    pixels: int = 0
    unhashed: list[Path] = field(default_factory=list)
    version: str | None = None
    shine_maps: frozenset[str] = frozenset()

    def read(self, path: Path) -> bytes:
        """Return the bytes of a file below the root.

        Raises:
            OSError: a file can't be read or written.
            AssetError: a model, mesh, material or file of assets is missing or damaged.
        """
        real = path.resolve()
        if not real.is_relative_to(self.root):
            raise AssetError(f"{path} lies outside the model library {self.root}")
        if real not in self.files:
            # Before it is read: what replaces it meanwhile is another file.
            self.states[real] = file_state(real)
            self.files[real] = read_foreign(real)
        return self.files[real]

    def decode_texture(self, stream: IO[bytes]) -> Any:
        """Return the texture as an RGB image. Raises AssetError if it is damaged, too large or of another format."""
        try:
            with open_texture(stream) as image:
                self.pixels += image.width * image.height
                if image.width * image.height > MOST_PIXELS or self.pixels > _ALL_PIXELS:
                    raise ValueError(f"more than {MOST_PIXELS:,} pixels, or {_ALL_PIXELS:,} in all textures")
                return image.convert("RGB")
        except Exception as error:  # readers of image formats raise many types
            raise AssetError(f"model {self.main}: a texture can't be read as {', '.join(FORMATS)}: {error}") from error

    def note(self, text: str) -> None:
        """Add a note, once; a long one is cut, and what comes after too many is only mentioned."""
        text = text if len(text) <= _LONGEST_NOTE else f"{text[: _LONGEST_NOTE - 3]}..."
        self.notes[text if len(self.notes) < _MOST_NOTES else "more notes are left out"] = None

    def locate(self, named: str, what: str) -> Path | None:
        """Return the file that the main file calls `named`, also in texture folders; None, with a note, if missing."""
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
            except (OSError, RuntimeError):  # such as a name that is too long, or a loop of links
                continue
            if inside:
                if index or absolute:
                    self.note(f"{what} {named!r} was found as {path.resolve().relative_to(self.root)}")
                return path
            self._record_missing(path)
        self.note(f"{what} {named!r} is not there")
        return None

    def _record_missing(self, path: Path) -> None:
        """Record a path without a file: one that appears there changes the model, but outside the root never does."""
        if path.resolve().is_relative_to(self.root):
            # A folder may give way to a file, too.
            (self.unhashed if path.exists() else self.missing).append(path)

    def get(self, name: str) -> bytes:
        """Return what trimesh asks for: a texture, or for `materials` all material files, joined. Raises OSError."""
        if name == "materials":
            return self._materials()
        path = self.locate(_OPTIONS.sub("", name).strip(), "texture")
        if path is None:
            raise FileNotFoundError(name)
        data = self.read(path)
        try:
            self.decode_texture(io.BytesIO(data))
        except AssetError:
            self.note(f"texture {name!r} can't be read as a picture")
            raise FileNotFoundError(name) from None
        return data

    # What trimesh calls.
    __getitem__ = get

    def _materials(self) -> bytes:
        files = [self.locate(name, "material file") for name in self.libraries]
        if not any(files):
            guess = self.main.with_suffix(".mtl")
            if guess.is_file() and guess.resolve().is_relative_to(self.root):
                self.note(f"material file {guess.name!r} was taken instead")
                files = [guess]
            else:
                self._record_missing(guess)
        texts = [decode_text(self.read(path), self, path.name) for path in files if path is not None]
        if not texts:
            raise FileNotFoundError("materials")
        return "\n".join(texts).encode()


def decode_text(data: bytes, sources: Sources, name: str) -> str:
    """Return the text of a file; what is not UTF-8, or UTF-16 with its mark, is read as Latin-1 and noted."""
    try:
        if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            return data.decode("utf-16")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        sources.note(f"{name} is not UTF-8; read as Latin-1")
        return data.decode("latin-1")


def open_texture(stream: IO[bytes], formats: Sequence[str] = FORMATS) -> Any:
    """Return a Pillow image that is not decoded yet; `decode_texture` has our own limit on its size."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        return Image.open(stream, formats=tuple(formats))


def part_of(vertices: Any, faces: Any, visual: Any) -> Part:
    """Return a part from trimesh's arrays; faces with more than three corners become fans of triangles."""
    corners = np.asarray(faces, dtype=np.int64)
    if corners.ndim == 2 and corners.shape[1] != 3:
        fans = [corners[:, [0, k, k + 1]] for k in range(1, corners.shape[1] - 1)]
        corners = np.stack(fans, axis=1).reshape(-1, 3) if fans else np.zeros((0, 3), dtype=np.int64)
    uv = getattr(visual, "uv", None)
    if uv is not None:
        # Texture coordinates of an .obj file have one to three numbers.
        uv = np.pad(np.asarray(uv, dtype=np.float32)[:, :2], ((0, 0), (0, max(2 - np.shape(uv)[1], 0))))
        uv = uv if len(uv) == len(vertices) and np.isfinite(uv).all() else None
    material = getattr(visual, "material", None)
    look, image = _look_of_material(material)
    name = str(getattr(material, "name", "") or "")
    points = np.asarray(vertices, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] < 3:
        raise ValueError("its vertices have fewer than three coordinates")
    return Part(points, corners, uv, name, look, image)


def _look_of_material(material: Any) -> tuple[dict[str, Any], Any]:
    """Fields and texture of trimesh's two types of material: MTL's keys, or glTF's with `gltf` set."""
    if material is None:
        return {}, None
    if hasattr(material, "baseColorFactor"):
        return {"gltf": True, **{key: getattr(material, key) for key in _GLTF}}, material.baseColorTexture
    # For texture coordinates without a material, trimesh makes up an image without a file.
    image = getattr(material, "image", None)
    return dict(getattr(material, "kwargs", {})), image if hasattr(image, "fp") else None
