"""The texts of .obj files and their materials, put into a form that Blender's importer reads completely.

What is changed here follows the specification of the format (Wavefront's "Object Files", appendices B1 and B4, 1995) or
repairs what exporters are known to write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from diorama.scene_specs.rotation import Vec

MTLLIB = re.compile(r"^[^\S\n]*mtllib[ \t]+(.*)$", re.MULTILINE)
_USEMTL = re.compile(r"^([^\S\n]*usemtl[ \t]+)(\S.*)$", re.MULTILINE)
_CONTINUED = re.compile(r"\\\n")
# What is no number of 32 bits, which Blender reads as 0; a corner with one; a corner with a color.
_WRONG = r"[+-]?(?:nan|inf|[\d.]*#|[\d.]+e\+?(?:3[89]|[4-9]\d|\d{3}))\S*"
_NO_NUMBERS = re.compile(rf"^[^\S\n]*v(?=[ \t]).*?[ \t]{_WRONG}.*$", re.MULTILINE | re.IGNORECASE)
_NO_NUMBER = re.compile(rf"(?<=[ \t]){_WRONG}", re.IGNORECASE)
_COLORED = re.compile(r"^[^\S\n]*v(?:[^\S\n]+\S+){6}", re.MULTILINE)
_FACE = re.compile(r"^[^\S\n]*f[ \t]", re.MULTILINE)
_CORNER = re.compile(r"(?<=^v )[^\S\n]*\S.*$", re.MULTILINE)
# How many times farther from the origin than large a model is moved there.
_NEAR = 32.0
# Options before the name of a texture.
_OPTIONS = re.compile(
    r"(?:-(?:(?:blendu|blendv|cc|clamp|imfchan|texres|bm|type|boost)[ \t]+\S+|mm[ \t]+\S+[ \t]+\S+"
    r"|[ost](?:[ \t]+-?[\d.eE+-]+){1,3})[ \t]+){0,12}"
)
_COLORS, _NUMBERS = ("Ka", "Kd", "Ks", "Ke", "Tf"), ("Ns", "Ni", "d", "Tr", "illum", "Pr", "Pm", "Ps", "Pc", "Pcr")
_MAPS = (
    *("map_Kd", "map_Ks", "map_Ns", "map_d", "map_Ke", "map_Pr", "map_Pm", "map_Ps", "map_Pc", "map_Pcr", "map_Ka"),
    *("bump", "map_Bump", "norm", "refl", "map_refl", "disp", "decal"),
)
_KEYS = {key.lower(): key for key in (*_COLORS, *_NUMBERS, *_MAPS, "aniso", "anisor")}
# The color of a texture is multiplied by Kd; exporters write a black one beside textures that shall be seen.
_BLACK = 0.02

# Stands for what is no number: faces with corners so far away are left out.
_FAR = "1e37"

Note = Callable[[str], None]


@dataclass
class Mtl:
    """The materials of a model.

    Attributes:
        statements: name -> lines.
        factors: name -> Kd of each that has a texture in its place.
    """

    statements: dict[str, list[str]] = field(default_factory=dict)
    factors: dict[str, Vec] = field(default_factory=dict)

    def text(self) -> str:
        """Return the file."""
        return "".join(f"newmtl {name}\n" + "\n".join(lines) + "\n" for name, lines in self.statements.items())


def read_mtl(text: str, texture: Callable[[str], Path | None], note: Note) -> Mtl:
    """Read the materials of a file.

    Args:
        texture: finds one by the name in the file.
    """
    mtl = Mtl()
    lines: list[str] = []
    for line in _lines(text):
        key, _, rest = line.replace("\t", " ").partition(" ")
        rest = rest.strip()
        if key.lower() == "newmtl":
            if mtl.statements.pop(rest, None) is not None:
                note(f"material {rest!r} is defined twice; the last one counts")
            lines = mtl.statements[rest] = []
        elif key.lower() in _KEYS:
            lines += _statement(_KEYS[key.lower()], rest, texture, note)
    for name, lines in mtl.statements.items():
        values = {key: rest for key, _, rest in (line.partition(" ") for line in lines)}
        if "map_Kd" in values:
            red, green, blue = map(float, values.get("Kd", "1 1 1").split())
            mtl.factors[name] = (red, green, blue) if max(red, green, blue) >= _BLACK else (1.0, 1.0, 1.0)
    return mtl


def _lines(text: str) -> Iterable[str]:
    """Return the lines of a text that say something."""
    plain = _CONTINUED.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    return (line.strip() for line in plain.split("\n") if line.strip() and not line.lstrip().startswith("#"))


def _statement(key: str, rest: str, texture: Callable[[str], Path | None], note: Note) -> list[str]:
    """One statement as Blender reads it; none if it can't be read."""
    if key in _MAPS:
        match = _OPTIONS.match(rest)
        path = texture(rest[match.end() :] if match else rest)
        return [] if path is None else [f"{key} {match[0] if match else ''}{path}"]
    words = rest.removeprefix("-halo").split()
    try:
        numbers = [f"{float(word):.9g}" for word in words[: 3 if key in _COLORS else 1]]
    except ValueError:
        note(f"{key} {rest!r} is not read")
        return []
    if not numbers or any(number in ("nan", "inf", "-inf") for number in numbers):
        return []
    if key == "Tr":
        return [f"d {1 - float(numbers[0]):.9g}"]
    # One number stands for all three.
    return [f"{key} {' '.join(numbers if len(numbers) == 3 or key not in _COLORS else numbers[:1] * 3)}"]


def read_obj(text: str, mtl: Mtl, note: Note) -> str:
    """Return the text of a model, whose materials are in `materials.mtl`; adds those that `mtl` lacks, in gray."""
    text = _CONTINUED.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _NO_NUMBERS.sub(lambda match: _NO_NUMBER.sub(_FAR, match[0]), text)
    text = _USEMTL.sub(lambda match: f"{match[1]}{_defined(match[2].strip(), mtl)}", MTLLIB.sub("", text))
    used = dict.fromkeys(match[2] for match in _USEMTL.finditer(text))
    missing = [name for name in used if name not in mtl.statements]
    shade = "1 1 1" if _COLORED.search(text) else "0.5 0.5 0.5"
    mtl.statements |= {name: [f"Kd {shade}", "Ns 40"] for name in missing}
    if missing and len(missing) == len(used):
        note("its materials are not defined; it is gray")
    for name in missing if len(missing) < len(used) else ():
        note(f"material {name!r} is not defined; it is gray")
    return f"mtllib materials.mtl\n{_near(_corners_first(text))}"


def count_faces(text: str) -> int:
    """How many faces a text has."""
    return len(_FACE.findall(text))


def _near(text: str) -> str:
    """Return a text whose corners lie about the origin: far from it, Blender's 32 bits would bend the model."""
    corners = _CORNER.findall(text)
    try:
        first, last = (np.array(corners[k].split()[:3], dtype=np.float64) for k in (0, -1))
        if not np.abs(first).max() > _NEAR * np.abs(last - first).max():
            return text
        points = np.array([corner.split()[:3] for corner in corners], dtype=np.float64)
        middle = np.median(points, axis=0)
        if not np.abs(middle).max() > _NEAR * np.median(np.abs(points - middle), axis=0).max():
            return text
    except (IndexError, ValueError):  # no corners, or a word that is no number
        return text
    moved = iter((points - middle).tolist())
    return _CORNER.sub(lambda match: " ".join(map(repr, next(moved))) + _after_three(match[0]), text)


def _after_three(words: str) -> str:
    """Return what stands behind three numbers."""
    return "".join(f" {word}" for word in words.split()[3:])


def _defined(name: str, mtl: Mtl) -> str:
    """Return the name of a material, without the comment behind it; names may have the sign of comments, too."""
    bare = name.partition(" #")[0].rstrip()
    return bare if name not in mtl.statements and bare in mtl.statements else name


def _corners_first(text: str) -> str:
    """Return a text with faces before its corners in the order that Blender reads."""
    face, corner = _FACE.search(text), _CORNER.search(text)
    if face is None or corner is None or face.start() > corner.start():
        return text
    lines = text.split("\n")
    return "\n".join(sorted(lines, key=lambda line: line.lstrip()[:1] != "v"))
