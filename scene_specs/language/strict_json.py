"""Strict JSON: rejects what Python's reader accepts (NaN, duplicate keys, any depth).

A valid text is read once, by Python's own fast reader. Only an invalid one is read again, by
`scene_specs.reading.located_json`, which is slow and knows the line of every value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from scene_specs.language.errors import DioramaError

# A spec is five deep; a benchmark's own truth may be deeper, but what reads it later is recursive.
MAX_DEPTH = 64
# Beyond this an integer is no longer exact for half of the world's JSON readers, and beyond 64 bits for columns.
MAX_INTEGER = 2**63

Step = str | int
Path = tuple[Step, ...]

_SPACE = re.compile(r"[ \t\n\r]*")


class NotStrictJson(DioramaError):
    """Text that is not JSON, or JSON that is not to be trusted; `json_scan` knows what and where."""

    exit_code = 2


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise NotStrictJson("duplicate key")
    return value


def _constant(word: str) -> Any:
    raise NotStrictJson(word)


def parse_integer(digits: str) -> int:
    """A 64-bit integer. Raises NotStrictJson."""
    if len(digits) > 20 or abs(int(digits)) >= MAX_INTEGER:
        raise NotStrictJson("huge integer")
    return int(digits)


def parse_float(digits: str) -> float:
    """A finite number. Raises NotStrictJson."""
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise NotStrictJson("huge number")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_constant, parse_int=parse_integer, parse_float=parse_float
)


def decode(text: str, start: int = 0) -> tuple[Any, int]:
    """The value that starts at `start` (no space before it) and the index after it. Raises NotStrictJson."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise NotStrictJson(str(error)) from error
    if _deeper(value, MAX_DEPTH):
        raise NotStrictJson("too deep")
    # A lone surrogate can be written in JSON and never be encoded again.
    if text.find("\\u", start, end) >= 0 and _has_surrogate(value):
        raise NotStrictJson("surrogate")
    return value, end


def skip_space(text: str, at: int) -> int:
    """Index of the first character from `at` that is not JSON white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _children(value: Any) -> Iterator[Any]:
    return iter(value.values() if isinstance(value, dict) else value)


def _deeper(value: Any, limit: int) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        level = [child for item in level for child in _children(item) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _has_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
