"""Reading a file as UTF-8, with diagnostics instead of surprises."""

from __future__ import annotations

from pathlib import Path

from scene_specs.language.errors import Diagnostic, SpecError


def read_text(path: Path) -> str:
    """The text of a file. Raises SpecError if it can't be read or isn't UTF-8."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise SpecError([Diagnostic(str(path), 0, "", "", f"can't be read: {error.strerror or error}")]) from error
    except UnicodeDecodeError as error:
        raise SpecError(
            [Diagnostic(str(path), 0, "", "", f"not UTF-8: {error.reason} at byte {error.start}")]
        ) from error
