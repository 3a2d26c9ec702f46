"""Reads a tangram's SVG file: seven polygons with ids 1 to 7, in either point syntax, under any transforms.

The file is data from anywhere. Document types, entities and processing are refused before they can do anything, sizes
are bounded, nothing is fetched, scripts and styles are not run, and what would be drawn otherwise than as a polygon is
an error that names it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from scene_specs.benchmarks.kilogram.annotations import TANGRAM
from scene_specs.benchmarks.kilogram.figure import XY, Figure
from scene_specs.benchmarks.kilogram.pieces import PIECES
from scene_specs.benchmarks.kilogram.transforms import IDENTITY, Matrix, applied, parse_transform, times
from scene_specs.language.diagnostics import preview_json
from scene_specs.language.errors import DioramaError

MOST_BYTES = 1 << 20
MOST_ELEMENTS = 2000
MOST_DEPTH = 64
MOST_POINTS = 64
LARGEST = 1e7

_SPACE = "http://www.w3.org/2000/svg"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_BETWEEN = re.compile(r"[\s,]+")
# Hold what is used elsewhere or not at all: nothing in them is drawn.
_NOT_DRAWN = frozenset(
    {
        "defs", "symbol", "clipPath", "mask", "marker", "pattern", "linearGradient", "radialGradient", "filter",
        "metadata", "title", "desc", "style", "script", "namedview",
    }
)  # fmt: skip
_GROUPS = frozenset({"svg", "g", "a"})
_SHAPES = frozenset(
    {
        "path", "rect", "circle", "ellipse", "line", "polyline", "text", "image", "use", "foreignObject", "switch",
    }
)  # fmt: skip


class SvgError(DioramaError):
    """A file that is no tangram's drawing: says which, what was found and what is expected."""

    exit_code = 2


def read_svg(path: Path) -> Figure:
    """The drawing in a file, called as the file without its ending. Raises SvgError."""
    name = path.name.removesuffix(path.suffix)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SvgError(f"{path}: {error.strerror or error}") from error
    if not TANGRAM.fullmatch(name):
        raise SvgError(f"{path}: a tangram can't be called {preview_json(name)}; allowed: letters, digits and _ . + -")
    try:
        return parse_svg(data, name)
    except SvgError as error:
        raise SvgError(f"{path}: {error}") from error


def parse_svg(data: bytes, name: str) -> Figure:
    """The drawing in an SVG file's bytes. Raises SvgError, without the file's name."""
    if len(data) > MOST_BYTES:
        raise SvgError(f"larger than {MOST_BYTES} bytes; a tangram takes about 1,500")
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.EntityDeclHandler = _refuse_doctype
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise SvgError(f"line {error.lineno}: not well-formed XML: {expat.ErrorString(error.code)}") from error
    except (ValueError, LookupError) as error:
        # Of an encoding that Python does not know.
        raise SvgError(f"not well-formed XML: {error}") from error
    return reader.figure(name)


def _refuse_doctype(*_: object) -> None:
    raise SvgError("found a document type or an entity; expected neither, as they can make a small file endless")


@dataclass
class _Reader:
    """What has been read: the matrix of each open element (None where nothing is drawn), and the polygons by id."""

    open: list[Matrix | None] = field(default_factory=list)
    polygons: dict[int, tuple[XY, ...]] = field(default_factory=dict)
    view_box: tuple[float, float, float, float] | None = None
    elements: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        if self.elements > MOST_ELEMENTS or len(self.open) >= MOST_DEPTH:
            raise SvgError(f"more than {MOST_ELEMENTS} elements or {MOST_DEPTH} levels; a tangram takes 9")
        space, _, local = name.rpartition(" ")
        if not self.open:
            self._root(space, local, attributes)
            return
        above = self.open[-1]
        foreign = space not in ("", _SPACE)
        if above is None or foreign or local in _NOT_DRAWN or _hidden(attributes):
            self.open.append(None)
            return
        if local in _SHAPES:
            raise SvgError(f"found <{local}>; expected seven <polygon>, which is what carries the pieces' corners")
        if local not in _GROUPS and local != "polygon":
            raise SvgError(
                f"found <{preview_json(local)[1:-1]}>, of which nothing is known; expected <polygon> and <g>"
            )
        if local == "svg":
            raise SvgError("found an <svg> inside the <svg>; expected one drawing")
        matrix = times(above, _transform(attributes))
        if local == "polygon":
            self._polygon(attributes, matrix)
        self.open.append(matrix)

    def end(self, _name: str) -> None:
        self.open.pop()

    def _root(self, space: str, local: str, attributes: dict[str, str]) -> None:
        if local != "svg" or space not in ("", _SPACE):
            raise SvgError(f"found <{preview_json(local)[1:-1]}>; expected <svg>")
        if self.view_box is None:
            self.view_box = _view_box(attributes)
        self.open.append(_transform(attributes))

    def _polygon(self, attributes: dict[str, str], matrix: Matrix) -> None:
        text = attributes.get("id", "")
        if text not in {str(piece) for piece in PIECES}:
            raise SvgError(f"found a polygon with the id {preview_json(text)}; expected 1 to 7")
        piece = int(text)
        if piece in self.polygons:
            raise SvgError(f"found two polygons with the id {piece}; expected each of 1 to 7 once")
        what = f"polygon {piece}: points"
        values = numbers(attributes.get("points", ""), what, 2 * MOST_POINTS)
        if len(values) % 2 or len(values) < 6:
            raise SvgError(f"{what}: found {len(values)} numbers; expected x and y of three corners or more")
        corners = tuple(applied(matrix, x, y) for x, y in zip(values[::2], values[1::2], strict=True))
        if not all(abs(value) <= LARGEST for corner in corners for value in corner):
            raise SvgError(f"{what}: beyond {LARGEST:g} after its transforms")
        # Some programs repeat the first corner at the end.
        self.polygons[piece] = corners[:-1] if len(corners) > 3 and corners[0] == corners[-1] else corners

    def figure(self, name: str) -> Figure:
        missing = [str(piece) for piece in PIECES if piece not in self.polygons]
        if missing:
            raise SvgError(
                f"found {len(self.polygons)} polygons, none with the id {', '.join(missing)}; expected 1 to 7"
            )
        assert self.view_box is not None
        return Figure(name, tuple(self.polygons[piece] for piece in PIECES), self.view_box)


def _hidden(attributes: dict[str, str]) -> bool:
    style = re.sub(r"\s", "", attributes.get("style", ""))
    return attributes.get("display") == "none" or "display:none" in style


def _transform(attributes: dict[str, str]) -> Matrix:
    if re.search(r"(?<![-\w])(transform|translate|rotate|scale)\s*:", attributes.get("style", "")):
        raise SvgError("found a transform in a style; expected it as the attribute transform")
    text = attributes.get("transform")
    if text is None:
        return IDENTITY
    try:
        return parse_transform(text)
    except ValueError as error:
        raise SvgError(f"transform: {error}") from error


def numbers(text: str, what: str, most: int) -> list[float]:
    """Numbers parted by spaces, commas or a sign. Raises SvgError for anything else, and for what is not finite."""
    found: list[float] = []
    at = _after_space(text, 0)
    while at < len(text):
        match = _NUMBER.match(text, at)
        if match is None:
            raise SvgError(f"{what}: found {preview_json(text[at : at + 20])}; expected a number")
        value = float(match[0])
        if not math.isfinite(value) or abs(value) > LARGEST:
            raise SvgError(f"{what}: found {preview_json(match[0])}; expected numbers of at most {LARGEST:g}")
        found.append(value)
        if len(found) > most:
            raise SvgError(f"{what}: found more than {most} numbers")
        at = _after_space(text, match.end())
    return found


def _after_space(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return at if match is None else match.end()


def _view_box(attributes: dict[str, str]) -> tuple[float, float, float, float]:
    text = attributes.get("viewBox")
    if text is None:
        size = [_length(attributes.get(key, "")) for key in ("width", "height")]
        if None in size:
            raise SvgError("found no viewBox, and no width and height in units; expected viewBox")
        values = [0.0, 0.0, *(side or 0.0 for side in size)]
    else:
        values = numbers(text, "viewBox", 4)
    if len(values) != 4 or min(values[2:]) <= 0:
        raise SvgError(f"viewBox: found {preview_json(text)}; expected x, y, width and height, the last two above 0")
    x, y, width, height = values
    return (x, y, width, height)


def _length(text: str) -> float | None:
    match = re.fullmatch(rf"\s*({_NUMBER.pattern})(px)?\s*", text)
    return float(match[1]) if match else None
