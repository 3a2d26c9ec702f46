"""The parts of .obj files, read by trimesh from faces that are checked and rewritten first."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from render.geometry.shapenet.sources import VERTEX_COLORS, Part, Sources, decode_text, part_of
from render.model.errors import AssetError

_MOST_CORNERS = 10_000
_MTLLIB = re.compile(r"^[^\S\n]*mtllib[ \t]+(.*)$", re.MULTILINE)
# Faces with an index that counts from the end, or is 0, are rewritten one by one.
_ODD_FACE = re.compile(r"^[^\S\n]*f\b.*[\s/](?:-|0+(?:[/\s]|$))", re.MULTILINE)
# A corner with more than three coordinates and a weight.
_COLORED = re.compile(r"^[^\S\n]*v(?:[^\S\n]+\S+){6}", re.MULTILINE)
_NORMAL = re.compile(r"(?<!\d)(-?\d+)/(-?\d*)/-?\d*")
# Where no corner has exactly one slash, a normal follows the last slash of each. Found without a group, because
# substituting groups takes seconds in a large model.
_ONE_SLASH = re.compile(r"(?:^|\s)[^\s/]+/[^\s/]+(?=\s|$)", re.MULTILINE)
_LAST_OF_TWO = re.compile(r"/-?\d*(?=\s|$)", re.MULTILINE)
_LAST_SLASH = re.compile(r"/(?=\s|$)", re.MULTILINE)


def obj_parts(data: bytes, sources: Sources) -> Iterator[Part]:
    """The parts of an .obj file, one per material. Raises AssetError, and what trimesh raises."""
    from trimesh.exchange.obj import load_obj

    text = decode_text(data, sources, sources.main.name).replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ")
    sources.libraries = tuple(dict.fromkeys(name.rstrip() for name in _MTLLIB.findall(text) if name.strip()))
    text = "mtllib materials\n" + _MTLLIB.sub("", _plain_faces(text, sources.main))
    loaded = load_obj(io.BytesIO(text.encode()), resolver=sources, group_material=True)  # type: ignore[arg-type]
    if "geometry" not in loaded:
        return
    if _COLORED.search(text):
        sources.note(VERTEX_COLORS)
    if "\nusemtl" in text and not any(mesh["visual"] is not None for mesh in loaded["geometry"].values()):
        sources.note("its materials are not defined; it is gray")
    for mesh in loaded["geometry"].values():
        yield part_of(mesh["vertices"], mesh["faces"], mesh["visual"])


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
