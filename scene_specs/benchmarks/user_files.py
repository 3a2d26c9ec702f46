"""Text and JSON files that users hand to a benchmark: transcripts, tables, configurations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scene_specs.language.errors import spec_error

_MAX_BYTES = 1 << 30


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, without the byte order mark that some editors write. Raises SpecError."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise spec_error(f"larger than {_MAX_BYTES >> 30} GiB", file=str(path))
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise spec_error(f"byte {error.start}: not UTF-8", "save the file as UTF-8", file=str(path)) from None
    except OSError as error:
        raise spec_error(f"can't be read: {error.strerror or error}", file=str(path)) from error


def parse_json(text: str, file: str = "", line: int = 0) -> Any:
    """JSON data. Raises SpecError for text that is not JSON or that is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise spec_error("invalid JSON: nested too deeply", file=file, line=line) from None
    except ValueError as error:
        raise spec_error(f"invalid JSON: {error}", file=file, line=line) from None
