"""A slow JSON reader that records the line of every value and reports all problems of a text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from diorama.scene_specs.files.strict_json import MAX_DEPTH, NotStrictJson, Path, parse_float, parse_integer, skip_space
from diorama.scene_specs.language.diagnostics import PathDiagnostic

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None}
_NOT_JSON = re.compile(r"-?(?:NaN|Infinity|inf|nan)|None|True|False|undefined|'|//|/\*|#")
_ADVICE = {
    **dict.fromkeys(("//", "/*", "#"), "JSON has no comments"),
    "'": "JSON takes double quotes",
    **{word.title(): f"write {word}" for word in ("true", "false")},
    "None": "write null",
}


@dataclass
class LocatedJson:
    """A JSON value with locations.

    Attributes:
        value: NaN and huge numbers are read as 0; None after a syntax error.
        stopped: whether there was a syntax error.
        end: index after the value and the white space behind it.
        lines: path -> line of every value, in an object of its key.
        diagnostics: in the order of the text.
    """

    value: Any = None
    stopped: bool = False
    end: int = 0
    lines: dict[Path, int] = field(default_factory=dict)
    diagnostics: list[PathDiagnostic] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """Return the line of a path, or of its nearest ancestor with a line."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 1


class _Stop(Exception):
    """A syntax error, after which reading stops."""


def scan(text: str, start: int = 0, line: int = 1, to_end: bool = True) -> LocatedJson:
    """Read the value at `start`, which is on line `line`, with its locations and all diagnostics.

    Args:
        to_end: report text after the value.
    """
    reader = _Reader(text, line, start)
    result = reader.result
    try:
        result.value, at = reader.value(skip_space(text, start), ())
        result.end = skip_space(text, at)
        if to_end and result.end < len(text):
            problem = "more text after the end of the JSON value"
            reader.stop(result.end, (), problem, "one JSON value per line in .jsonl")
    except _Stop:
        result.value, result.stopped = None, True
    return result


class _Reader:
    """A recursive JSON reader; recursion is bounded by MAX_DEPTH."""

    def __init__(self, text: str, line: int, start: int) -> None:
        self.text = text
        self.result = LocatedJson()
        self._line, self._seen = line, start

    def line_at(self, at: int) -> int:
        """Return the line of an index. Indices are passed in rising order, so each newline is counted once."""
        if at > self._seen:
            self._line += self.text.count("\n", self._seen, at)
            self._seen = at
        return self._line

    def note(self, at: int, path: Path, problem: str, hint: str = "") -> None:
        """Add a diagnostic and read on."""
        self.result.diagnostics.append(PathDiagnostic(path, problem, hint, self.line_at(at)))

    def stop(self, at: int, path: Path, problem: str, hint: str = "") -> None:
        """Add a diagnostic and stop reading."""
        self.note(at, path, problem, hint)
        raise _Stop

    def value(self, at: int, path: Path) -> tuple[Any, int]:
        """Read the value at `at`; return it and the index after it."""
        self.result.lines.setdefault(path, self.line_at(at))
        first = self.text[at : at + 1]
        if len(path) >= MAX_DEPTH and first in ("{", "["):
            self.stop(at, path[:3], f"nested more than {MAX_DEPTH} deep")
        readers: dict[str, Callable[[int, Path], tuple[Any, int]]]
        readers = {"{": self.container, "[": self.container, '"': self.string}
        if first in readers:
            return readers[first](at, path)
        for word, constant in _WORDS.items():
            if self.text.startswith(word, at):
                return constant, at + len(word)
        number = _NUMBER.match(self.text, at)
        if number:
            return self.number(number, path)
        return self.no_value(at, path)

    def no_value(self, at: int, path: Path) -> tuple[Any, int]:
        """Report text that is not a value; NaN and infinities are skipped, anything else stops reading."""
        word = _NOT_JSON.match(self.text, at)
        found = word.group() if word else ""
        if found.lstrip("-").lower() in ("nan", "infinity", "inf"):
            self.note(at, path, f"found {found}; allowed: a finite number")
            return 0, at + len(found)
        self.stop(at, path, f"not JSON: found {self.found(at)} where a value should be", _ADVICE.get(found, ""))
        raise AssertionError

    def found(self, at: int) -> str:
        """Return the text at an index, for a message."""
        return json.dumps(self.text[at : at + 12].split("\n")[0]) if at < len(self.text) else "the end of the text"

    def number(self, match: re.Match[str], path: Path) -> tuple[Any, int]:
        """Read an integer below 2^63 or a finite float; report other numbers."""
        digits, is_integer = match.group(), match.group(1) is None and match.group(2) is None
        try:
            return (parse_integer(digits) if is_integer else parse_float(digits)), match.end()
        except (NotStrictJson, ValueError):
            shown = digits if len(digits) <= 24 else f"{digits[:12]}... ({len(digits)} digits)"
            self.note(match.start(), path, f"found {shown}, a number too large to read; allowed: 64 bits")
            return 0, match.end()

    def string(self, at: int, path: Path) -> tuple[str, int]:
        """Read a string; report one that cannot be encoded as UTF-8."""
        try:
            text, end = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            self.stop(error.pos, path, f"not JSON: {error.msg.lower()}", "a string ends on the line it begins on")
        try:
            text.encode()
        except UnicodeEncodeError:
            self.note(at, path, "a string with half of a surrogate pair, which is not a character", "write it as UTF-8")
            text = ""
        return text, end

    def container(self, at: int, path: Path) -> tuple[dict[str, Any] | list[Any], int]:
        """Read a list or an object; report keys that occur twice and keep the first value."""
        # Of a list, by index.
        is_list, values = self.text[at] == "[", dict[Any, Any]()
        closing = "]" if is_list else "}"
        at = skip_space(self.text, at + 1)
        while not self.text.startswith(closing, at):
            key, at = (len(values), at) if is_list else self.key(at, path, values)
            value, at = self.value(at, (*path, key))
            values.setdefault(key, value)
            at = skip_space(self.text, at)
            if not self.text.startswith(closing, at):
                at = self.comma(at, path, closing)
        return list(values.values()) if is_list else values, at + 1

    def key(self, at: int, path: Path, known: Collection[str]) -> tuple[str, int]:
        """Read a key and its colon; return the key and the index of its value.

        Args:
            known: keys of the object so far.
        """
        if not self.text.startswith('"', at):
            found = _NOT_JSON.match(self.text, at)
            advice = _ADVICE.get(found.group() if found else "", 'keys stand in double quotes: "key": value')
            self.stop(at, path, f"not JSON: found {self.found(at)} where a key should be", advice)
        key, after = self.string(at, path)
        here = (*path, key)
        if key in known:
            first = self.result.lines[here]
            self.note(at, here, f"key {json.dumps(key)} given twice; first on line {first}", "leave one out")
        self.result.lines.setdefault(here, self.line_at(at))
        after = skip_space(self.text, after)
        if not self.text.startswith(":", after):
            self.stop(after, here, f"not JSON: found {self.found(after)} where ':' should be")
        return key, skip_space(self.text, after + 1)

    def comma(self, at: int, path: Path, closing: str) -> int:
        """Skip a comma; return the index of what follows."""
        if not self.text.startswith(",", at):
            self.stop(at, path, f"not JSON: found {self.found(at)} where ',' or '{closing}' should be")
        after = skip_space(self.text, at + 1)
        if self.text.startswith(closing, after):
            self.stop(at, path, f"not JSON: a comma before '{closing}'", "leave the last comma out")
        return after
