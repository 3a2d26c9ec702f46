"""One way to refuse what a caller asked for, and to read JSON."""

from __future__ import annotations

import json
from typing import Any

from scene_specs.language.errors import Diagnostic, SpecError


def refused(problem: str, hint: str = "", path: str = "", file: str = "", line: int = 0) -> SpecError:
    """The error to raise: what was found, what is allowed; hint: what to do."""
    return SpecError([Diagnostic(file, line, "", path, problem, hint)])


def parsed(text: str) -> Any:
    """JSON data. Raises ValueError for what is none, and for what is nested so deeply that nobody meant it."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
