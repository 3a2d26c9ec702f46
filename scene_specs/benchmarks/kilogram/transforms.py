"""SVG's `transform` attribute: matrix, translate, scale, rotate, skewX, skewY, any number of them."""

from __future__ import annotations

import math
import re

from scene_specs.language.diagnostics import preview_json

# a, b, c, d, e, f: x' = a x + c y + e, y' = b x + d y + f.
Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
MOST = 32
_LARGEST = 1e9
_STEP = re.compile(r"[\s,]*(matrix|translate|scale|rotate|skewX|skewY)\s*\(([^()]*)\)")
_NUMBER = re.compile(r"[\s,]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")


def times(one: Matrix, other: Matrix) -> Matrix:
    """First `other`, then `one`."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return (a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * m + e, b * k + d * m + f)


def applied(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """A point under a transform."""
    a, b, c, d, e, f = matrix
    return (a * x + c * y + e, b * x + d * y + f)


def parse_transform(text: str) -> Matrix:
    """The product of all steps. Raises ValueError."""
    matrix, at, steps = IDENTITY, 0, 0
    while text[at:].strip(" \t\r\n,"):
        match = _STEP.match(text, at)
        steps += 1
        if match is None or steps > MOST:
            raise ValueError(
                f"found {preview_json(text[at : at + 40])}; expected matrix(...), translate(...), scale(...), ..."
            )
        matrix = times(matrix, _step(match[1], match[2]))
        at = match.end()
    if not all(abs(value) <= _LARGEST for value in matrix):
        raise ValueError(f"found {preview_json(text)}; expected finite numbers of at most {_LARGEST:g}")
    return matrix


def _step(kind: str, inside: str) -> Matrix:
    values, at = [], 0
    while match := _NUMBER.match(inside, at):
        values.append(float(match[1]))
        at = match.end()
    if inside[at:].strip(" \t\r\n,"):
        raise ValueError(f"found {preview_json(inside)} in {kind}; expected numbers")
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
            return _turn(angle)
        case ("rotate", [angle, x, y]):
            return times(times((1.0, 0.0, 0.0, 1.0, x, y), _turn(angle)), (1.0, 0.0, 0.0, 1.0, -x, -y))
        case ("skewX", [angle]):
            return (1.0, 0.0, math.tan(math.radians(angle)), 1.0, 0.0, 0.0)
        case ("skewY", [angle]):
            return (1.0, math.tan(math.radians(angle)), 0.0, 1.0, 0.0, 0.0)
    raise ValueError(f"found {len(values)} numbers in {kind}")


def _turn(angle: float) -> Matrix:
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return (c, s, -s, c, 0.0, 0.0)
