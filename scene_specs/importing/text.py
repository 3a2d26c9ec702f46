"""Text of other projects: JSON, with diagnostics for what cannot be read, and parts of ids."""

from __future__ import annotations

import json
import re
from typing import Any

from diorama.scene_specs.language.errors import Diagnostic, SpecError
from diorama.scene_specs.language.strict_json import has_surrogate
from diorama.scene_specs.reading.located_json import scan


def parse_json(text: str, file: str) -> Any:
    """Parse JSON without NaN, infinities and lone surrogates. Raises SpecError with the line of each problem."""
    try:
        value = json.loads(text, parse_constant=_reject)
        if "\\u" in text and has_surrogate(value):
            _reject("surrogate")
        return value
    except (ValueError, RecursionError):
        located = [found.in_file(file) for found in scan(text).diagnostics]
        raise SpecError(located or [Diagnostic.of("not JSON", file=file)]) from None


def _reject(word: str) -> Any:
    raise ValueError(word)


def segment(text: str) -> str:
    """Return a text as a segment of an episode id."""
    plain = re.sub(r"[^A-Za-z0-9_.+-]+", "-", text)[:50].lstrip(".+-")
    return plain or "scene"
