"""The texts of .obj files and their materials, put into a form that Blender's importer reads completely.

What is changed here follows the specification of the format (Wavefront's "Object Files", appendices B1 and B4, 1995) or
repairs what exporters are known to write.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from diorama.scene_specs.rotation import Vec

MTLLIB = re.compile(r"^[^\S\n]*mtllib[ \t]+(.*)$", re.MULTILINE)
_USEMTL = re.compile(r"^([^\S\n]*usemtl[ \t]+)(\S.*)$", re.MULTILINE)
# What is no number of 32 bits, which Blender reads as 0; a corner with one; a corner with a color.
_WRONG = r"[+-]?(?:nan|inf|[\d.]*#|[\d.]+e\+?0*(?:3[89]|[4-9]\d|[1-9]\d\d+))\S*"
_NO_NUMBERS = re.compile(rf"^[^\S\n]*v(?=[ \t]).*?[ \t]{_WRONG}.*$", re.MULTILINE | re.IGNORECASE)
_NO_NUMBER = re.compile(rf"(?<=[ \t]){_WRONG}", re.IGNORECASE)
_COLORED = re.compile(r"^[^\S\n]*v(?:[^\S\n]+\S+){6}", re.MULTILINE)
FACE = re.compile(r"^[^\S\n]*f[ \t]", re.MULTILINE)
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
# Name of a material -> its statements by key.
Mtl = dict[str, dict[str, str]]


def read_mtl(text: str, texture: Callable[[str], Path | None], note: Note) -> Mtl:
    """Read the materials of a file.

    Args:
        texture: finds one by the name in the file.
    """
    mtl: Mtl = {}
    values: dict[str, str] = {}
    for line in _plain(text).split("\n"):
        key, _, rest = line.strip().replace("\t", " ").partition(" ")
        rest = rest.strip()
        if key.lower() == "newmtl":
            if mtl.pop(rest, None) is not None:
                note(f"material {rest!r} is defined twice; the last one counts")
            values = mtl[rest] = {}
        elif (key := _KEYS.get(key.lower(), "")) in _MAPS:
            match = _OPTIONS.match(rest)
            options = match[0] if match else ""
            if (path := texture(rest.removeprefix(options))) is not None:
                values[key] = f"{options}{path}"
        elif key:
            values |= _read_numbers(key, rest, note)
    return mtl


def _read_numbers(key: str, rest: str, note: Note) -> dict[str, str]:
    """One statement as Blender reads it; none if it can't be read."""
    try:
        numbers = [f"{float(word):.9g}" for word in rest.removeprefix("-halo").split()[: 3 if key in _COLORS else 1]]
    except ValueError:
        note(f"{key} {rest!r} is not read")
        return {}
    if not numbers or any(number in ("nan", "inf", "-inf") for number in numbers):
        return {}
    if key == "Tr":
        return {"d": f"{1 - float(numbers[0]):.9g}"}
    # One number stands for all three.
    return {key: " ".join(numbers if len(numbers) == 3 or key not in _COLORS else numbers[:1] * 3)}


def mtl_text(mtl: Mtl) -> str:
    """Return the file of materials."""
    statements = ([f"newmtl {name}", *map(" ".join, values.items())] for name, values in mtl.items())
    return "\n".join(line for lines in statements for line in lines) + "\n"


def factors_of(mtl: Mtl) -> dict[str, Vec]:
    """Return Kd of each material that has a texture in its place, which Blender's importer leaves out."""
    factors = {}
    for name, values in mtl.items():
        if "map_Kd" in values:
            red, green, blue = map(float, values.get("Kd", "1 1 1").split())
            factors[name] = (red, green, blue) if max(red, green, blue) >= _BLACK else (1.0, 1.0, 1.0)
    return factors


def is_clamped(values: dict[str, str]) -> bool:
    """Whether the textures of a material are not repeated. Their paths are absolute."""
    return any("-clamp on" in " ".join(text.partition("/")[0].split()) for text in values.values())


def _plain(text: str) -> str:
    """Return a text with one line for each statement."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ")


def read_obj(text: str, mtl: Mtl, note: Note) -> str:
    """Return the text of a model, whose materials are in `materials.mtl`; adds those that `mtl` lacks, in gray."""
    text = _NO_NUMBERS.sub(lambda match: _NO_NUMBER.sub(_FAR, match[0]), _plain(text))
    text = _USEMTL.sub(lambda match: f"{match[1]}{_defined(match[2].strip(), mtl)}", MTLLIB.sub("", text))
    used = dict.fromkeys(match[2] for match in _USEMTL.finditer(text))
    missing = [name for name in used if name not in mtl]
    shade = "1 1 1" if _COLORED.search(text) else "0.5 0.5 0.5"
    mtl |= {name: {"Kd": shade, "Ns": "40"} for name in missing}
    if missing and len(missing) == len(used):
        note("its materials are not defined; it is gray")
    for name in missing if len(missing) < len(used) else ():
        note(f"material {name!r} is not defined; it is gray")
    return f"mtllib materials.mtl\n{_near(_corners_first(text))}"


def _near(text: str) -> str:
    """Return a text whose corners lie about the origin: far from it, Blender's 32 bits would bend the model."""
    corners = _CORNER.findall(text)
    try:
        some = np.array([corner.split()[:3] for corner in corners[:: len(corners) // 100 + 1]], dtype=np.float64)
        middle = np.median(some, axis=0) if corners else np.zeros(3)
        if not np.abs(middle).max() > _NEAR * np.median(np.abs(some - middle), axis=0).max():
            return text
        return _CORNER.sub(lambda match: _moved(match[0].split(), middle.tolist()), text)
    except ValueError:  # a word that is no number
        return text


def _moved(words: list[str], middle: list[float]) -> str:
    return " ".join([*(repr(float(word) - k) for word, k in zip(words[:3], middle, strict=True)), *words[3:]])


def _defined(name: str, mtl: Mtl) -> str:
    """Return the name of a material, without the comment behind it; names may have the sign of comments, too."""
    bare = name.partition(" #")[0].rstrip()
    return bare if name not in mtl and bare in mtl else name


def _corners_first(text: str) -> str:
    """Return a text with faces before its corners in the order that Blender reads."""
    face, corner = FACE.search(text), _CORNER.search(text)
    if face is None or corner is None or face.start() > corner.start():
        return text
    return "\n".join(sorted(text.split("\n"), key=lambda line: line.lstrip()[:1] != "v"))
