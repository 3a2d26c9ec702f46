"""Drawings in the published form, whole, odd and broken."""

from __future__ import annotations

from collections.abc import Sequence

from diorama.scene_specs.benchmarks.kilogram.dataset import own_tangrams
from diorama.scene_specs.benchmarks.kilogram.pieces import Corners, figure_of

FIGURE = figure_of(own_tangrams()[27])


def points(polygon: Sequence[tuple[float, float]], between: str = ",") -> str:
    return " ".join(f"{x:.4f}{between}{y:.4f}" for x, y in polygon)


def polygon(piece: object, corners: Sequence[tuple[float, float]], more: str = "", between: str = ",") -> str:
    text = points(corners, between)
    return f'<polygon fill="lightgray" id="{piece}" points="{text}" stroke="white" strokewidth="1" {more}/>'


def box(figure_box: tuple[float, float, float, float] = FIGURE.view_box) -> str:
    return " ".join(f"{value:.4f}" for value in figure_box)


def svg(
    inside: str | None = None, root: str = "", before: str = "", polygons: tuple[Corners, ...] = FIGURE.polygons
) -> bytes:
    """A whole file; `inside` in place of the seven polygons, `root` in place of the root's attributes."""
    body = inside if inside is not None else "".join(polygon(k, one) for k, one in enumerate(polygons, start=1))
    attributes = root or f'baseProfile="full" version="1.1" viewBox="{box()}" width="100%" height="100%"'
    return f'{before}<svg xmlns="http://www.w3.org/2000/svg" {attributes}><defs/>{body}</svg>'.encode()


def seven(more: str = "", between: str = ",", skip: Sequence[int] = ()) -> str:
    """The seven polygons with further attributes."""
    return "".join(polygon(k, one, more, between) for k, one in enumerate(FIGURE.polygons, start=1) if k not in skip)


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/hostname">]>'
REMOTE = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
_MATRIX = 'transform="matrix(2 0 0 2 10 20)"'
_SHIFTED = f'viewBox="{2 * FIGURE.view_box[0] + 10} {20} {2 * FIGURE.view_box[2]} {2 * FIGURE.view_box[3]}"'
_FIRST = FIGURE.polygons[0]

# Odd, and right: the same figure, but for where it lies and how large it is.
ODD: dict[str, bytes] = {
    "as published": svg(),
    "spaces between coordinates": svg(seven(between=" ")),
    "commas, lines and tabs between them": svg(seven(between=" ,\n\t")),
    "a matrix on each polygon": svg(seven(_MATRIX), _SHIFTED),
    "a matrix on a group": svg(f"<g {_MATRIX}>{seven()}</g>", _SHIFTED),
    "nested transforms": svg(
        f'<g transform="translate(10,20)"><g transform="scale(4)"><g transform="scale(.5 .5)">{seven()}</g></g></g>',
        _SHIFTED,
    ),
    "a transform on the root": svg(seven(), f"{_MATRIX} {_SHIFTED}"),
    "turned about a point and back": svg(
        f'<g transform="rotate(30 7 9) rotate(-30,7,9) skewX(0) skewY(0)">{seven()}</g>'
    ),
    "a view box with an origin": svg(seven('transform="translate(-50 70)"'), f'viewBox="-50 70 {box()[14:]}"'.replace(
        box()[14:], f"{FIGURE.view_box[2]} {FIGURE.view_box[3]}")),
    "no view box but a size": svg(seven(), f'width="{FIGURE.view_box[2]}px" height="{FIGURE.view_box[3]}"'),
    "an editor's namespace": svg(
        seven('xmlns:e="urn:editor" e:label="x"') + '<e:grid xmlns:e="urn:editor"><e:path/></e:grid>'
    ),
    "polygons in another order": svg("".join(polygon(k, FIGURE.polygons[k - 1]) for k in (5, 3, 7, 1, 2, 6, 4))),
    "a script and an event": svg(seven('onclick="alert(1)"') + "<script>while (true) {}</script>"),
    "styles": svg("<style>polygon { display: none }</style>" + seven('style=""')),
    "hidden and unused polygons": svg(
        seven() + polygon(1, _FIRST, 'display="none"') + f'<g style="display: none">{polygon("x", _FIRST)}</g>'
        + f"<defs>{polygon(9, _FIRST)}</defs>"
    ),
    "the first corner again": svg(polygon(1, (*_FIRST, _FIRST[0])) + seven(skip=[1])),
    "without a namespace": svg().replace(b' xmlns="http://www.w3.org/2000/svg"', b""),
    "with a declaration and comments": b'<?xml version="1.0"?><!-- hello -->' + svg(),
    "sixteen bits a letter": ('<?xml version="1.0" encoding="utf-16"?>' + svg().decode()).encode("utf-16"),
    "exponents and signs": svg(polygon(1, _FIRST).replace(points(_FIRST), " ".join(
        f"{x:+.6e}{y:+.6e}" for x, y in _FIRST)) + seven(skip=[1])),
}  # fmt: skip

# Broken: what the message has to say.
BROKEN: dict[str, tuple[bytes, str]] = {
    "a missing piece": (svg(seven(skip=[4])), "none with the id 4"),
    "a transform in a style": (svg(seven('style="fill:red; transform: scale(2)"')), "a transform in a style"),
    "no piece": (svg(""), "found 0 polygons"),
    "eight pieces": (svg(seven() + polygon(8, _FIRST)), "the id \"8\""),
    "a piece twice": (svg(seven() + polygon(3, _FIRST)), "two polygons with the id 3"),
    "no id": (svg(seven(skip=[2]) + polygon("", FIGURE.polygons[1])), 'the id ""'),
    "paths": (svg('<path id="1" d="M0 0L1 1"/>'), "found <path>"),
    "a rectangle among them": (svg(seven(skip=[1]) + '<rect id="1" width="4" height="4"/>'), "found <rect>"),
    "a reference": (svg('<use href="other.svg#1"/>'), "found <use>"),
    "an unknown element": (svg("<blink/>"), "found <blink>"),
    "a drawing in the drawing": (svg(f"<svg>{seven()}</svg>"), "an <svg> inside"),
    "not a number": (svg(polygon(1, [(float("nan"), 0), (1, 0), (0, 1)]) + seven(skip=[1])), "expected a number"),
    "infinite": (svg(polygon(1, [(float("inf"), 0), (1, 0), (0, 1)]) + seven(skip=[1])), "expected a number"),
    "overflowing": (svg(seven(skip=[1]) + '<polygon id="1" points="1e999 0 1 0 0 1"/>'), "at most 1e+07"),
    "huge": (svg(seven(skip=[1]) + '<polygon id="1" points="1e30 0 1 0 0 1"/>'), "at most 1e+07"),
    "huge after a transform": (svg(seven('transform="scale(1e8)"')), "after its transforms"),
    "an odd count": (svg(seven(skip=[1]) + '<polygon id="1" points="0 0 1 0 0 1 5"/>'), "found 7 numbers"),
    "two corners": (svg(seven(skip=[1]) + '<polygon id="1" points="0 0 1 0"/>'), "found 4 numbers"),
    "no points": (svg(seven(skip=[1]) + '<polygon id="1"/>'), "found 0 numbers"),
    "words as points": (svg(seven(skip=[1]) + '<polygon id="1" points="a lot of them"/>'), "expected a number"),
    "very many points": (svg(seven(skip=[1]) + f'<polygon id="1" points="{"1 2 " * 999}"/>'), "more than 128 numbers"),
    "an unknown transform": (svg(seven('transform="spin(3)"')), "expected matrix"),
    "a short matrix": (svg(seven('transform="matrix(1 0 0)"')), "3 numbers in matrix"),
    "words in a transform": (svg(seven('transform="scale(big)"')), "expected a number"),
    "very many transforms": (svg(seven(f'transform="{"scale(1) " * 99}"')), "expected matrix"),
    "a transform without end": (svg(f'<g transform="{"scale(1e30) " * 12}">{seven()}</g>'), "finite numbers"),
    "an empty view box": (svg(seven(), 'viewBox="0 0 0 10"'), "the last two from 0.001"),
    "a tiny view box": (svg(seven(), 'viewBox="0 0 5e-324 5e-324"'), "the last two from 0.001"),
    "an infinite size": (svg(seven(), 'width="1e999" height="9"'), "the last two from 0.001"),
    "a short view box": (svg(seven(), 'viewBox="0 0 10"'), "expected x, y, width and height"),
    "no frame": (svg(seven(), 'width="100%" height="100%"'), "no viewBox"),
    "entities": (svg(before=LAUGHS), "document type"),
    "an entity in use": (svg("&c;", before=LAUGHS), "document type"),
    "a file as entity": (svg("&f;", before=OUTSIDE), "document type"),
    "a document type from afar": (svg(before=REMOTE), "document type"),
    "cut off": (svg()[:-20], "not well-formed"),
    "empty": (b"", "not well-formed"),
    "no XML": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "not well-formed"),
    "another document": (b"<html><body/></html>", "found <html>"),
    "an unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><svg/>', "not well-formed"),
    "broken letters": (svg().replace(b"lightgray", b"light\xffgray"), "not well-formed"),
    "very deep": (svg("<g>" * 500 + "</g>" * 500), "64 levels"),
    "very many elements": (svg("<g/>" * 5000), "2000 elements"),
    "very large": (svg("<!--" + "x" * (1 << 20) + "-->"), "larger than"),
}  # fmt: skip
