"""Read a tangram's SVG file: seven polygons with ids 1 to 7, in either point syntax, under any transforms.

Files are untrusted. Document types and entities are rejected before they are processed, sizes are bounded, nothing is
fetched, scripts and styles are ignored, and a shape other than a polygon is an error that names it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from diorama.scene_specs.benchmarks.kilogram.annotations import TANGRAM
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES, XY, Figure
from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.language.diagnostics import preview_json

MOST_BYTES = 1 << 20
MOST_ELEMENTS = 2000
MOST_DEPTH = 64
MOST_POINTS = 64
MOST_STEPS = 32
LARGEST = 1e7
LEAST_BOX = 1e-3
_LARGEST_FACTOR = 1e9

# a, b, c, d, e, f: x' = a x + c y + e, y' = b x + d y + f.
Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)

_SPACE = "http://www.w3.org/2000/svg"
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_SEPARATORS = " \t\r\n\f\v,"
_STEP = re.compile(r"(matrix|translate|scale|rotate|skewX|skewY)\s*\(([^()]*)\)")
# Elements whose contents are not drawn.
_NOT_DRAWN = frozenset({
    "defs", "symbol", "clipPath", "mask", "marker", "pattern", "linearGradient", "radialGradient", "filter",
    "metadata", "title", "desc", "style", "script", "namedview",
})  # fmt: skip
_GROUPS = frozenset({"svg", "g", "a"})


class SvgError(DioramaError):
    """A file that is not the drawing of a tangram, with what was found and what is expected."""

    exit_code = 2


def read_svg(path: Path) -> Figure:
    """Read the drawing in a file; its name is that of the file without suffix. Raises SvgError."""
    name = path.name.removesuffix(path.suffix)
    try:
        data = read_foreign(path, MOST_BYTES)
    except OSError as error:
        raise SvgError(f"{path}: {error.strerror or error}") from error
    if not TANGRAM.fullmatch(name):
        raise SvgError(f"{path}: a tangram can't be called {preview_json(name)}; allowed: letters, digits and _ . + -")
    try:
        return parse_svg(data, name)
    except SvgError as error:
        raise SvgError(f"{path}: {error}") from error


def parse_svg(data: bytes, name: str) -> Figure:
    """Read a drawing from the bytes of an SVG file. Raises SvgError, without the name of the file."""
    if len(data) > MOST_BYTES:
        raise SvgError(f"larger than {MOST_BYTES} bytes; a tangram takes about 1,500")
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = _reject_doctype
    parser.EntityDeclHandler = _reject_doctype
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise SvgError(f"line {error.lineno}: not well-formed XML: {expat.ErrorString(error.code)}") from error
    except (ValueError, LookupError) as error:
        # Python does not know the encoding.
        raise SvgError(f"not well-formed XML: {error}") from error
    return reader.figure(name)


def _reject_doctype(*_: object) -> None:
    raise SvgError("found a document type or an entity; expected neither, as entities can expand without bound")


@dataclass
class _Reader:
    """Parser state. open: matrix of each open element, None if it is not drawn. polygons: by id."""

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
            self._read_root(space, local, attributes)
            return
        above = self.open[-1]
        foreign = space not in ("", _SPACE)
        if above is None or foreign or local in _NOT_DRAWN or _is_hidden(attributes):
            self.open.append(None)
            return
        if local not in _GROUPS and local != "polygon":
            problem = f"found <{preview_json(local)[1:-1]}>"
            raise SvgError(f"{problem}; expected seven <polygon>, which carry the pieces' corners, and <g>")
        if local == "svg":
            raise SvgError("found an <svg> inside the <svg>; expected one drawing")
        matrix = times(above, _parse_transform(attributes))
        if local == "polygon":
            self._read_polygon(attributes, matrix)
        self.open.append(matrix)

    def end(self, _name: str) -> None:
        self.open.pop()

    def _read_root(self, space: str, local: str, attributes: dict[str, str]) -> None:
        if local != "svg" or space not in ("", _SPACE):
            raise SvgError(f"found <{preview_json(local)[1:-1]}>; expected <svg>")
        self.view_box = _view_box(attributes)
        self.open.append(_parse_transform(attributes))

    def _read_polygon(self, attributes: dict[str, str], matrix: Matrix) -> None:
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
        if missing := [str(piece) for piece in PIECES if piece not in self.polygons]:
            problem = f"found {len(self.polygons)} polygons, none with the id {', '.join(missing)}"
            raise SvgError(f"{problem}; expected 1 to 7")
        assert self.view_box is not None
        return Figure(name, tuple(self.polygons[piece] for piece in PIECES), self.view_box)


def _is_hidden(attributes: dict[str, str]) -> bool:
    return attributes.get("display") == "none" or "display:none" in re.sub(r"\s", "", attributes.get("style", ""))


def _parse_transform(attributes: dict[str, str]) -> Matrix:
    if re.search(r"(?<![-\w])(transform|translate|rotate|scale)\s*:", attributes.get("style", "")):
        raise SvgError("found a transform in a style; expected it as the attribute transform")
    return parse_transform(attributes.get("transform", ""))


def numbers(text: str, what: str, most: int, largest: float = LARGEST) -> list[float]:
    """Parse at most `most` numbers, separated by spaces, commas or a sign. Raises SvgError, also for numbers that are
    not finite or above `largest`.
    """
    parsed: list[float] = []
    while text := text.lstrip(_SEPARATORS):
        match = _NUMBER.match(text)
        if match is None:
            raise SvgError(f"{what}: found {preview_json(text[:20])}; expected a number")
        parsed.append(float(match[0]))
        if not math.isfinite(parsed[-1]) or abs(parsed[-1]) > largest:
            raise SvgError(f"{what}: found {preview_json(match[0])}; expected numbers of at most {largest:g}")
        if len(parsed) > most:
            raise SvgError(f"{what}: found more than {most} numbers")
        text = text[match.end() :]
    return parsed


def _view_box(attributes: dict[str, str]) -> tuple[float, float, float, float]:
    text = attributes.get("viewBox")
    if text is None:
        size = [_parse_length(attributes.get(key, "")) for key in ("width", "height")]
        if None in size:
            raise SvgError("found no viewBox, and no width and height in units; expected viewBox")
        values = [0.0, 0.0, *(side or 0.0 for side in size)]
    else:
        values = numbers(text, "viewBox", 4)
    if len(values) != 4 or not LEAST_BOX <= min(values[2:]) <= max(values[2:]) <= LARGEST:
        sizes = f"the last two from {LEAST_BOX:g} to {LARGEST:g}"
        raise SvgError(f"viewBox: found {preview_json(text or values[2:])}; expected x, y, width and height, {sizes}")
    x, y, width, height = values
    return (x, y, width, height)


def _parse_length(text: str) -> float | None:
    match = re.fullmatch(rf"\s*({_NUMBER.pattern})(px)?\s*", text)
    return float(match[1]) if match else None


def times(last: Matrix, first: Matrix) -> Matrix:
    """Return the transform that applies `other`, then `one`."""
    a, b, c, d, e, f = last
    g, h, i, j, k, m = first
    return (a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * m + e, b * k + d * m + f)


def applied(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """Return a transformed point."""
    a, b, c, d, e, f = matrix
    return (a * x + c * y + e, b * x + d * y + f)


def parse_transform(text: str) -> Matrix:
    """Return the product of all steps of a `transform` attribute. Raises SvgError."""
    matrix, rest, steps = IDENTITY, text, 0
    while rest := rest.lstrip(_SEPARATORS):
        match = _STEP.match(rest)
        steps += 1
        if match is None or steps > MOST_STEPS:
            shown = preview_json(rest[:40])
            raise SvgError(f"transform: found {shown}; expected matrix(...), translate(...), scale(...), ...")
        matrix = times(matrix, _transform_matrix(match[1], match[2]))
        rest = rest[match.end() :]
    if not all(abs(value) <= _LARGEST_FACTOR for value in matrix):
        shown = preview_json(text)
        raise SvgError(f"transform: found {shown}; expected finite numbers of at most {_LARGEST_FACTOR:g}")
    return matrix


def _transform_matrix(kind: str, inside: str) -> Matrix:
    values = numbers(inside, f"transform: {kind}", 6, math.inf)
    match (kind, values):
        case ("matrix", [a, b, c, d, e, f]):
            return (a, b, c, d, e, f)
        case ("translate", [x]):
            return (1.0, 0.0, 0.0, 1.0, x, 0.0)
        case ("translate", [x, y]):
            return (1.0, 0.0, 0.0, 1.0, x, y)
        case ("scale", [x]):
            return (x, 0.0, 0.0, x, 0.0, 0.0)
        case ("scale", [x, y]):
            return (x, 0.0, 0.0, y, 0.0, 0.0)
        case ("rotate", [angle]):
            return _rotation_matrix(angle)
        case ("rotate", [angle, x, y]):
            return times(times((1.0, 0.0, 0.0, 1.0, x, y), _rotation_matrix(angle)), (1.0, 0.0, 0.0, 1.0, -x, -y))
        case ("skewX", [angle]):
            return (1.0, 0.0, math.tan(math.radians(angle)), 1.0, 0.0, 0.0)
        case ("skewY", [angle]):
            return (1.0, math.tan(math.radians(angle)), 0.0, 1.0, 0.0, 0.0)
    raise SvgError(f"transform: found {len(values)} numbers in {kind}")


def _rotation_matrix(angle: float) -> Matrix:
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return (c, s, -s, c, 0.0, 0.0)
