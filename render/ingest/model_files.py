"""The files that a model is read from: what it names, where that lies, its notes, and the digest of them all.

Files that a model refers to count only below its root. A name that leads out of it, or to no file, is noted.
"""

from __future__ import annotations

import hashlib
import os
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import bpy
import numpy as np

from diorama.render.ingest.confinement import OpenedFiles
from diorama.render.ingest.obj_text import FACE, MTLLIB, Mtl, mtl_text, read_mtl, read_obj
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.files.foreign import file_state, read_foreign
from diorama.scene_specs.shapes.shapenet.model import FileState

# Notes of a model, and characters of one: each image's record has them.
_MOST_NOTES, _LONGEST_NOTE, _MOST_LICENSE = 100, 300, 1 << 20
_TEXTURE_FOLDERS = ("", "images", "textures", "../images", "../textures", "..")
# Folders that layers of a USD scene are looked for in, and endings of files that a scene may consist of.
_MOST_FOLDERS = 4_096
# The header of a .ply file whose vertices come first.
_PLY = re.compile(
    rb"ply\s+format (?:ascii|binary_(little|big)_endian) 1.0\s(?:comment.*\n|obj_info.*\n|\s)*"
    rb"element vertex (\d+)((?:\s+(?:comment.*|property \w+ \w+(?=\s)))*)(?=\s+e)(?s:.)*?\bend_header\r?\n"
)
_NO_NUMBER = re.compile(rb"[\s,]-?(?:nan|inf)(?=[\s,])", re.IGNORECASE)
_PLY_CODES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4"}
# Also by the names that have the bits, such as int8.
_PLY_CODES |= {"double": "f8"} | {np.dtype(code).name: code for code in (*_PLY_CODES.values(), "f8")}
_LAYERS = (".usd", ".usda", ".usdc", ".usdz", ".blend")


def _count_numberless(content: bytes) -> int:
    """Count coordinates that are not finite numbers, in a .ply file or a text .fbx file."""
    match = _PLY.match(content)
    if match is None:
        # Bytes of a binary file can look like one.
        return 0 if b"\0" in content else len(_NO_NUMBER.findall(content))
    order, count, body = match[1], int(match[2]), content[match.end() :]
    names = re.findall(rb"property (\w+) (\w+)", match[3])
    if order is None:
        rows = [line.split()[: len(names)] for line in body.splitlines()[:count]]
        columns = [k for k, (_, name) in enumerate(names) if name in (b"x", b"y", b"z")]
        return sum(
            row[k].lower().lstrip(b"+-")[:3] in (b"nan", b"inf") for row in rows for k in columns if k < len(row)
        )
    types = {name.decode(): f"{'<>'[order == b'big']}{_PLY_CODES[word.decode()]}" for word, name in names}
    kind = np.dtype([*types.items()])
    values = np.frombuffer(body, kind, min(count, len(body) // kind.itemsize))
    return sum(int((~np.isfinite(values[axis])).sum()) for axis in ("x", "y", "z") if axis in types)


@dataclass
class ModelFiles:
    """The files below a root that a model is read from.

    Attributes:
        main: the model's own file, resolved.
        states: all paths that decide whether the model must be read again; those with a digest decide what it is, and
            those without a file would change it.
        mtl: the materials of an .obj file.
        faces: how many an .obj file has.
        numberless: how many coordinates of a .ply or .fbx file are not finite numbers.
        gltf: Blender's reader of a .glb or .gltf file.
    """

    root: Path
    main: Path
    states: dict[Path, FileState] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    mtl: Mtl = field(default_factory=dict)
    faces: int = 0
    numberless: int = 0
    gltf: Any = None
    _opened: OpenedFiles | None = None

    def note(self, text: str) -> None:
        """Add a note, once; a long one is cut, and what comes after too many is only mentioned."""
        text = text if len(text) <= _LONGEST_NOTE else f"{text[: _LONGEST_NOTE - 3]}..."
        self.notes[text if len(self.notes) < _MOST_NOTES else "more notes are left out"] = None

    def read(self, path: Path) -> bytes:
        """Return the bytes of a file below the root. Raises AssetError."""
        real = path.resolve()
        if not real.is_relative_to(self.root):
            raise AssetError(f"{path} lies outside the model library {self.root}")
        try:
            # Before it is read: what replaces it meanwhile is another file.
            state = file_state(real)
            content = read_foreign(real)
        except OSError as error:
            raise AssetError(f"{path.name}: can't be read: {error.strerror or error}") from error
        self.states.setdefault(real, FileState(str(real), state, hashlib.sha256(content).hexdigest()))
        return content

    def locate(self, named: str, what: str) -> Path | None:
        """Find what the model calls `named`, also in usual texture folders; None, with a note, if missing."""
        name = named.strip().strip('"').replace("\\", "/")
        if not name or "\0" in name:
            return None
        pure = PurePosixPath(name)
        absolute = pure.is_absolute() or name[1:2] == ":"
        tries = [Path(name)] if pure.is_absolute() else [] if absolute else [self.main.parent / name]
        tries += [self.main.parent / folder / pure.name for folder in _TEXTURE_FOLDERS]
        for index, path in enumerate(tries):
            if (actual := self._actual(path)) is None:
                continue
            if index or absolute or actual.name != pure.name:
                self.note(f"{what} {named!r} was found as {actual.resolve().relative_to(self.root)}")
            return actual
        self.note(f"{what} {named!r} is not there")
        return None

    def _actual(self, path: Path) -> Path | None:
        """Return the regular file below the root with this path, whatever the case of its name; or None."""
        try:
            if not path.resolve().is_relative_to(self.root):
                return None
            if path.is_file():
                return path
            # One that appears there changes the model; a folder may give way to a file, too.
            self._watch(path)
            alike = [p for p in sorted(path.parent.iterdir()) if p.name.casefold() == path.name.casefold()]
            return next((p for p in alike if p.resolve().is_relative_to(self.root) and p.is_file()), None)
        except (OSError, RuntimeError):  # such as a name that is too long, or a loop of links
            return None

    def _watch(self, path: Path) -> None:
        """Let a path without contents of the model decide whether it is read again."""
        self.states.setdefault(path, FileState(str(path), file_state(path) if path.exists() else ()))

    def prepare(self, folder: Path) -> Path:
        """Read what the model's file names, and return the file to import: an .obj is repaired in `folder`.

        Raises:
            AssetError: a file that decides the geometry is missing or lies outside the root.
        """
        content = self.read(self.main)
        match self.main.suffix.lower():
            case ".obj":
                return self._repaired_obj(content, folder)
            case ".glb" | ".gltf":
                self._read_gltf()
            case ".ply" | ".fbx":
                self.numberless = _count_numberless(content)
            case ".usd" | ".usda" | ".usdc":
                # Those near it first.
                below = (Path(top) for top, *_ in os.walk(self.root))
                near = [self.main.parent, *(p for p in self.main.parents if p.is_relative_to(self.root))]
                self._opened = OpenedFiles(dict.fromkeys([*near, *islice(below, _MOST_FOLDERS)]))
        return self.main

    def read_opened(self) -> None:
        """Read what the importer has opened besides: layers of a USD scene, and libraries of a .blend file."""
        paths = {Path(bpy.path.abspath(library.filepath)) for library in bpy.data.libraries}
        paths |= self._opened.paths() if self._opened else set()
        for path in sorted(path for path in paths if path.suffix.lower() in _LAYERS and self._actual(path) == path):
            self.read(path)

    def _repaired_obj(self, content: bytes, folder: Path) -> Path:
        """Return a copy that Blender reads completely, whose textures have their real paths."""
        text = self._text(content, self.main.name)
        names = [name for line in MTLLIB.findall(text.replace("\r", "\n")) for name in self._names_in(line.strip())]
        paths = [path for name in dict.fromkeys(names) if (path := self.locate(name, "material file")) is not None]
        if not paths and (guess := self._actual(self.main.with_suffix(".mtl"))) is not None:
            self.note(f"material file {guess.name!r} was taken instead")
            paths = [guess]
        materials = "\n".join(self._text(self.read(path), path.name) for path in paths)
        self.mtl = read_mtl(materials, self.texture, self.note)
        self.faces, copy = len(FACE.findall(text)), folder / "model.obj"
        copy.write_text(read_obj(text, self.mtl, self.note))
        (folder / "materials.mtl").write_text(mtl_text(self.mtl))
        return copy

    def _names_in(self, line: str) -> list[str]:
        """Return the names in one `mtllib`, which has one, perhaps with spaces, or several."""
        return line.split() if self._actual(self.main.parent / line) is None else [line]

    def texture(self, named: str) -> Path | None:
        """Read a texture and return its real path; None, with a note, if it is not there. Raises AssetError."""
        known = self.states.get(Path(named))
        if known is not None and known.sha256:
            return Path(named)
        path = self.locate(named, "texture")
        if path is None:
            return None
        self.read(path)
        return path.resolve()

    def imported_texture(self, named: str) -> Path | None:
        """Read a texture like `texture`; Blender has made the name absolute, also a relative one."""
        near = named.startswith(f"/{self.main.parts[1]}/")
        return self.texture(os.path.relpath(named, self.main.parent) if near else named)

    def _text(self, content: bytes, name: str) -> str:
        """Return the text of a file; what is not UTF-8, or UTF-16 with its mark, is read as Latin-1 and noted."""
        try:
            if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
                return content.decode("utf-16")
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            self.note(f"{name} is not UTF-8; read as Latin-1")
            return content.decode("latin-1")

    def _read_gltf(self) -> None:
        """Read the header, and the buffers and images of other files. Raises AssetError for what is no file."""
        reader = import_module("io_scene_gltf2.io.imp.gltf2_io_gltf").glTFImporter
        self.gltf = reader(str(self.main), {"import_user_extensions": []})
        self.gltf.read()
        data = self.gltf.data
        if not data.meshes:
            raise AssetError("it has no faces")
        items = (*(data.buffers or ()), *(data.images or ()))
        for uri in [item.uri for item in items if item.uri and not item.uri.startswith("data:")]:
            named = self.main.parent / unquote(uri)
            if (path := self._actual(named)) is not None:
                self.read(path)
            elif named.exists() and not named.is_file():
                raise AssetError(f"{uri[:100]!r} is not a regular file")

    def note_license(self) -> None:
        """Note the license of a user's own model: a line of a file beside it, or what its glTF header says.

        The file is `<file>.license`, `LICENSE`, `LICENSE.txt` or `LICENSE.md`; its line with an SPDX identifier counts,
        else its first. It does not change the model's digest. Raises AssetError, also for a symbolic link, whose target
        may be anything.
        """
        if text := next(self._licenses(), None):
            self.note(f"license: {str(text).strip()[:100]}")

    def _licenses(self) -> Iterator[object]:
        for path in map(self.main.with_name, (f"{self.main.name}.license", "LICENSE", "LICENSE.txt", "LICENSE.md")):
            if path.is_symlink():
                raise AssetError(f"license {path}: is a symbolic link; copy its target in its place")
            self._watch(path)
            if path.is_file():
                try:
                    lines = read_foreign(path, _MOST_LICENSE).decode("utf-8", "replace").strip().splitlines()
                except OSError as error:
                    raise AssetError(f"license {path}: can't be read: {error.strerror or error}") from error
                yield next((line for line in lines if "SPDX-License-Identifier:" in line), lines[0] if lines else "")
        if self.gltf is not None:
            asset = self.gltf.data.asset
            yield asset.copyright or (asset.extras.get("license") if isinstance(asset.extras, dict) else None)

    def named_digests(self) -> list[tuple[str, str]]:
        """Path below the root and digest of each file that decides what the model is, sorted."""
        named = self.states.items()
        return sorted((str(path.relative_to(self.root)), state.sha256) for path, state in named if state.sha256)
