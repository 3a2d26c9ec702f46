"""Differences between two JSON values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from diorama.scene_specs.language import diagnostics

# Stands for a value that one side lacks; null is a value.
MISSING: Final = object()


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, old, new) for every leaf that differs, such as `frames[0].objects[0].color`, with sorted keys.

    Values are compared as JSON text: 1, 1.0 and true differ, although they are equal in Python.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            inner = f"{path}.{key}" if path else str(key)
            yield from differences(old.get(key, MISSING), new.get(key, MISSING), inner)
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            before = old[index] if index < len(old) else MISSING
            after = new[index] if index < len(new) else MISSING
            yield from differences(before, after, f"{path}[{index}]")
    elif _text(old) != _text(new):
        yield path, old, new


def _text(value: Any) -> str:
    return "" if value is MISSING else json.dumps(value, sort_keys=True)


def preview_json(value: Any) -> str:
    """A short form of a value as JSON; `nothing` for a missing one."""
    return "nothing" if value is MISSING else diagnostics.preview_json(value)
