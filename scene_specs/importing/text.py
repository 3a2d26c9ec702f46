"""Text files of other projects and of users, with diagnostics for what cannot be read as UTF-8 or as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scene_specs.language.errors import Diagnostic, SpecError, spec_error
from scene_specs.reading.located_json import scan


def read_text(path: Path, most_bytes: int | None = 1 << 30) -> str:
    """Return the text of a UTF-8 file, without the byte order mark that some editors write.

    most_bytes: the largest size, None for any. Raises SpecError if the file cannot be read, is larger, or is not UTF-8.
    """
    try:
        if most_bytes is not None and path.stat().st_size > most_bytes:
            raise spec_error(f"larger than {most_bytes >> 20} MiB", file=str(path))
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start}: not UTF-8: {error.reason}"
        raise spec_error(problem, "save the file as UTF-8", file=str(path)) from error
    except OSError as error:
        raise spec_error(f"can't be read: {error.strerror or error}", file=str(path)) from error


def parse_json(text: str, file: str) -> Any:
    """Parse JSON without NaN and infinities. Raises SpecError with the line of each problem."""
    try:
        return json.loads(text, parse_constant=_reject)
    except (ValueError, RecursionError):
        located = [found.in_file(file) for found in scan(text).diagnostics]
        raise SpecError(located or [Diagnostic.of("not JSON", file=file)]) from None


def _reject(word: str) -> Any:
    raise ValueError(word)
