"""JSON files that users hand to a benchmark: transcripts, tables, configurations."""

from __future__ import annotations

import json
from typing import Any

from scene_specs.language.errors import spec_error


def parse_json(text: str, file: str = "", line: int = 0) -> Any:
    """JSON data. Raises SpecError for text that is not JSON or that is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise spec_error("invalid JSON: nested too deeply", file=file, line=line) from None
    except ValueError as error:
        raise spec_error(f"invalid JSON: {error}", file=file, line=line) from None
