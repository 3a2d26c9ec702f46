"""A slow JSON reader that knows the line of every value and reports all diagnostics of one text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from scene_specs.language.strict_json import MAX_DEPTH, NotStrictJson, Path, parse_float, parse_integer, skip_space

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None}
_NOT_JSON = re.compile(r"-?(?:NaN|Infinity|inf|nan)|None|True|False|undefined|'|//|/\*|#")


@dataclass(frozen=True)
class Place:
    """One diagnostic of a JSON text: 1-based line in that text, path, what is wrong, and what to do."""

    line: int
    path: Path
    problem: str
    hint: str = ""


@dataclass
class LocatedJson:
    """What a slow reading found. lines: path -> line of every value (of its key, in an object). diagnostics: in order.

    value: with NaN and huge numbers as 0; None after a syntax fault. stopped: whether there was a syntax fault.
    """

    value: Any = None
    stopped: bool = False
    end: int = 0
    lines: dict[Path, int] = field(default_factory=dict)
    diagnostics: list[Place] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """Line of a path, or of the nearest place above that has one."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 1


class _Stop(Exception):
    """A syntax diagnostic: nothing after it can be trusted."""


def scan(text: str, start: int = 0, line: int = 1, whole: bool = True) -> LocatedJson:
    """Read one value from `start`, whose line number is `line`, noting lines and all faults.

    whole: whether anything after the value is a fault.
    """
    reader = _Reader(text, line, start)
    result = reader.result
    try:
        result.value, at = reader.value(skip_space(text, start), ())
        result.end = skip_space(text, at)
        if whole and result.end < len(text):
            reader.stop(result.end, (), "more text after the end of the JSON value", "one JSON value a line in .jsonl")
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
        """Line of an index; indices come in rising order, so newlines are counted once."""
        if at > self._seen:
            self._line += self.text.count("\n", self._seen, at)
            self._seen = at
        return self._line

    def note(self, at: int, path: Path, problem: str, hint: str = "") -> None:
        """A diagnostic that reading survives."""
        self.result.diagnostics.append(Place(self.line_at(at), path, problem, hint))

    def stop(self, at: int, path: Path, problem: str, hint: str = "") -> None:
        """A diagnostic that reading doesn't survive."""
        self.note(at, path, problem, hint)
        raise _Stop

    def value(self, at: int, path: Path) -> tuple[Any, int]:
        """The value at `at`, and the index after it."""
        self.result.lines.setdefault(path, self.line_at(at))
        first = self.text[at : at + 1]
        if len(path) >= MAX_DEPTH and first in ("{", "["):
            self.stop(at, path[:3], f"nested more than {MAX_DEPTH} deep")
        if first == "{":
            return self.object(at, path)
        if first == "[":
            return self.array(at, path)
        if first == '"':
            return self.string(at, path)
        for word, constant in _WORDS.items():
            if self.text.startswith(word, at):
                return constant, at + len(word)
        number = _NUMBER.match(self.text, at)
        if number:
            return self.number(number, path)
        return self.no_value(at, path)

    def no_value(self, at: int, path: Path) -> tuple[Any, int]:
        """What stands where a value should: NaN and infinities are named and passed over."""
        word = _NOT_JSON.match(self.text, at)
        found = word.group() if word else ""
        if found.lstrip("-").lower() in ("nan", "infinity", "inf"):
            self.note(at, path, f"found {found}; allowed: a finite number")
            return 0, at + len(found)
        self.stop(at, path, f"not JSON: found {self.found(at)} where a value should be", _advice(found))
        raise AssertionError

    def found(self, at: int) -> str:
        """The text at an index, for a message."""
        return json.dumps(self.text[at : at + 12].split("\n")[0]) if at < len(self.text) else "the end of the text"

    def number(self, match: re.Match[str], path: Path) -> tuple[Any, int]:
        """An integer of at most 63 bits or a finite float; others are noted."""
        digits, whole = match.group(), match.group(1) is None and match.group(2) is None
        try:
            return (parse_integer(digits) if whole else parse_float(digits)), match.end()
        except (NotStrictJson, ValueError):
            shown = digits if len(digits) <= 24 else f"{digits[:12]}... ({len(digits)} digits)"
            self.note(match.start(), path, f"found {shown}, a number too large to read; allowed: 64 bits")
            return 0, match.end()

    def string(self, at: int, path: Path) -> tuple[str, int]:
        """A string; one that can't be encoded as UTF-8 is noted."""
        try:
            text, end = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            self.stop(error.pos, path, f"not JSON: {error.msg.lower()}", "a string ends on the line it begins on")
        try:
            text.encode()
        except UnicodeEncodeError:
            self.note(at, path, "a string with half of a surrogate pair, which is no character", "write it as UTF-8")
            text = ""
        return text, end

    def array(self, at: int, path: Path) -> tuple[list[Any], int]:
        """A list."""
        values: list[Any] = []
        at = skip_space(self.text, at + 1)
        if self.text.startswith("]", at):
            return values, at + 1
        while True:
            value, at = self.value(at, (*path, len(values)))
            values.append(value)
            at = skip_space(self.text, at)
            if self.text.startswith("]", at):
                return values, at + 1
            at = self.comma(at, path, "]")

    def object(self, at: int, path: Path) -> tuple[dict[str, Any], int]:
        """An object; keys given twice are noted, the first one counts."""
        values: dict[str, Any] = {}
        at = skip_space(self.text, at + 1)
        if self.text.startswith("}", at):
            return values, at + 1
        while True:
            if not self.text.startswith('"', at):
                found = _NOT_JSON.match(self.text, at)
                advice = _advice(found.group() if found else "") or 'keys stand in double quotes: "key": value'
                self.stop(at, path, f"not JSON: found {self.found(at)} where a key should be", advice)
            key_at = at
            key, at = self.string(at, path)
            here = (*path, key)
            if key in values:
                first = self.result.lines[here]
                self.note(key_at, here, f"key {json.dumps(key)} given twice; first on line {first}", "leave one out")
            self.result.lines.setdefault(here, self.line_at(key_at))
            at = skip_space(self.text, at)
            if not self.text.startswith(":", at):
                self.stop(at, here, f"not JSON: found {self.found(at)} where ':' should be")
            value, at = self.value(skip_space(self.text, at + 1), here)
            values.setdefault(key, value)
            at = skip_space(self.text, at)
            if self.text.startswith("}", at):
                return values, at + 1
            at = self.comma(at, path, "}")

    def comma(self, at: int, path: Path, closing: str) -> int:
        """Step over a comma."""
        if not self.text.startswith(",", at):
            self.stop(at, path, f"not JSON: found {self.found(at)} where ',' or '{closing}' should be")
        after = skip_space(self.text, at + 1)
        if self.text.startswith(closing, after):
            self.stop(at, path, f"not JSON: a comma before '{closing}'", "leave the last comma out")
        return after


def _advice(found: str) -> str:
    if found in ("//", "/*", "#"):
        return "JSON has no comments"
    if found == "'":
        return "JSON takes double quotes"
    return {"None": "write null", "True": "write true", "False": "write false"}.get(found, "")
