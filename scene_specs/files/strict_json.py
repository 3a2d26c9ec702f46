"""Strict JSON: rejects NaN, duplicate keys and deep nesting, which Python's reader accepts.

Python's fast reader reads the text. Only invalid text is read again, by `diorama.scene_specs.reading.located_json`,
which is slow and knows the line of every value.
"""

from __future__ import annotations

import json
import re
from typing import Any

from diorama.scene_specs.errors import DioramaError

# Specs have depth 5. The truth of a benchmark can be deeper, but its readers are recursive.
MAX_DEPTH = 64
# Integers must fit the 64-bit columns of stores.
MAX_INTEGER = 2**63

Step = str | int
Path = tuple[Step, ...]

_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotStrictJson(DioramaError):
    """Text that is not JSON, or not strict JSON; `located_json` reports the problem and its location."""

    exit_code = 2


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise NotStrictJson("duplicate key")
    return value


def _reject(word: str) -> Any:
    raise NotStrictJson(word)


def parse_integer(digits: str) -> int:
    """Parse a 64-bit integer.

    Raises:
        NotStrictJson: it has more bits.
    """
    if len(digits) > 20 or abs(int(digits)) >= MAX_INTEGER:
        raise NotStrictJson("huge integer")
    return int(digits)


def parse_float(digits: str) -> float:
    """Parse a finite number.

    Raises:
        NotStrictJson: it is too large.
    """
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise NotStrictJson("huge number")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_reject, parse_int=parse_integer, parse_float=parse_float
)


def decode(text: str, start: int = 0) -> tuple[Any, int]:
    """Return the value that starts exactly at `start`, and the index after it.

    Raises:
        NotStrictJson: the text is not strict JSON.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise NotStrictJson(str(error)) from error
    brackets = text.count("{", start, end) + text.count("[", start, end)
    if brackets > MAX_DEPTH and _nests_deeper(value, MAX_DEPTH):
        raise NotStrictJson("too deep")
    if text.find("\\u", start, end) >= 0 and has_surrogate(value):
        raise NotStrictJson("surrogate")
    return value, end


def has_surrogate(value: Any) -> bool:
    """Return whether JSON data has a lone surrogate, which JSON can escape but UTF-8 cannot encode."""
    return _SURROGATE.search(json.dumps(value, ensure_ascii=False)) is not None


def skip_space(text: str, at: int) -> int:
    """Return the index of the first character from `at` that is not JSON white space."""
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _nests_deeper(value: Any, limit: int) -> bool:
    level: list[Any] = [[value]]
    for _ in range(limit + 1):
        children = (child for item in level for child in (item.values() if type(item) is dict else item))
        level = [child for child in children if type(child) is dict or type(child) is list]
        if not level:
            return False
    return True
