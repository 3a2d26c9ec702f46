"""The lines of an OBJ file that name faces, made plain: no normals, indices counted from 1."""

from __future__ import annotations

import re
from pathlib import Path

from render.model.errors import AssetError

# Indices that count from the end or are 0 need the slow way.
_ODD_FACE = re.compile(r"^\s*f\b.*(?:[\s/]-|\s0+[/\s])", re.MULTILINE)
_NORMAL = re.compile(r"(-?\d+)/(-?\d*)/-?\d*")
# Where no corner is written with one slash, what follows its last one is its normal: found without a group, as writing
# groups back takes seconds in a large model.
_ONE_SLASH = re.compile(r"(?:^|\s)[^\s/]+/[^\s/]+(?=\s|$)", re.MULTILINE)
_LAST_OF_TWO = re.compile(r"/-?\d*(?=\s|$)", re.MULTILINE)
_LAST_SLASH = re.compile(r"/(?=\s|$)", re.MULTILINE)


def plain_faces(text: str, path: Path) -> str:
    """The text with faces that have no normals, as those are what is wrong most often, and every index counted from 1.

    Raises AssetError for an index that names nothing.
    """
    lines = text.split("\n")
    at = [number for number, line in enumerate(lines) if line.lstrip()[:2] in ("f ", "f\t")]
    faces = _without_normals("\n".join(lines[number] for number in at))
    for number, line in zip(at, faces.split("\n"), strict=False):
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
    """Change the lines of faces. Raises AssetError for an index that names nothing."""
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
            raise AssetError(f"{path}:{line}: a face names {key} {index}; {counts[key]} are there so far")
        parts.append(str(plain))
    return "/".join(parts)
