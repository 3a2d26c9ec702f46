"""Text files of other projects, read as UTF-8 and parsed as JSON, with diagnostics for what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scene_specs.language.diagnostics import path_text
from scene_specs.language.errors import Diagnostic, SpecError, spec_error
from scene_specs.reading.located_json import scan


def read_text(path: Path, most_bytes: int | None = None) -> str:
    """Return the text of a file. Raises SpecError if it cannot be read, is larger than `most_bytes` or is not UTF-8."""
    file = str(path)
    try:
        if most_bytes is not None and path.stat().st_size > most_bytes:
            raise spec_error(f"larger than {most_bytes >> 20} MiB", file=file)
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise spec_error(f"can't be read: {error.strerror or error}", file=file) from error
    except UnicodeDecodeError as error:
        raise spec_error(f"not UTF-8: {error.reason} at byte {error.start}", file=file) from error


def parse_json(text: str, file: str) -> Any:
    """Parse JSON without NaN and infinities. Raises SpecError with the line of each problem."""
    try:
        return json.loads(text, parse_constant=_reject)
    except (ValueError, RecursionError):
        located = [Diagnostic(file, p.line, "", path_text(p.path), p.problem, p.hint) for p in scan(text).diagnostics]
        raise SpecError(located or [Diagnostic.of("not JSON", file=file)]) from None


def _reject(word: str) -> Any:
    raise ValueError(word)
