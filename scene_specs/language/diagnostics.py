"""Diagnostics without their file, and the words in which messages show paths, values and what was probably meant."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple

from diorama.scene_specs.errors import Diagnostic
from diorama.scene_specs.files.strict_json import Path

# Comparing a word with 100,000 others takes 17 s.
_MAX_KNOWN = 5000
# Comparing takes 500 MiB for a word of 30 MB, such as the line of a wrong file.
_LONGEST_WORD = 1000


class PathDiagnostic(NamedTuple):
    """A diagnostic without its file.

    Attributes:
        path: location inside the episode.
        hint: "" if there is none.
        line: 0 if unknown.
    """

    path: Path
    problem: str
    hint: str = ""
    line: int = 0

    def in_file(self, file: str = "", episode: str = "") -> Diagnostic:
        """Return the diagnostic with its file and episode id."""
        return Diagnostic(file, self.line, episode, path_text(self.path), self.problem, self.hint)


def path_text(path: Path) -> str:
    """Return a path as text, `frames[2].objects[0].color`; keys that are not plain words are quoted as JSON."""
    text = ""
    for step in path:
        if isinstance(step, str) and re.fullmatch(r"[A-Za-z0-9_$][A-Za-z0-9_$-]{0,60}", step):
            text += f".{step}" if text else step
        else:
            text += f"[{preview_json(step)}]"
    return text


def preview_json(value: Any, longest: int = 60) -> str:
    """Return a value as ASCII JSON without terminal control codes, shortened to `longest` characters."""
    text = json.dumps(value, default=str)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def nearest(word: object, known: Iterable[str]) -> str:
    """Return the known word nearest to `word`, "" if none is near."""
    if not isinstance(word, str) or len(word) > _LONGEST_WORD:
        return ""
    by_lower = {name.lower(): name for name in islice(known, _MAX_KNOWN)}
    near = difflib.get_close_matches(word.lower().strip(), by_lower, n=1, cutoff=0.6)
    return by_lower[near[0]] if near else ""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return `did you mean ...?` with the known word nearest to `word`, "" if none is near."""
    near = nearest(word, known)
    return f"did you mean {near!r}?" if near else ""


def unexpected(path: Path, found: Any, allowed: str, hint: str = "") -> PathDiagnostic:
    """Return the diagnostic of a wrong value: what was found against what is allowed."""
    return PathDiagnostic(path, f"found {preview_json(found)}; allowed: {allowed}", hint)


def value_at(value: Any, path: Path) -> Any:
    """Return the part of parsed JSON at a path, None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
