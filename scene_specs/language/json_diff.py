"""Differences between two JSON values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

from diorama.scene_specs.language import diagnostics

# Stands for a value that one side lacks; null is a value.
MISSING: Final = object()


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, old, new) for every leaf that differs, such as `frames[0].objects[0].color`, with sorted keys.

    Values are compared as JSON text: 1, 1.0 and true differ, although they are equal in Python.
    """
    match old, new:
        case dict(), dict():
            for key in sorted(old.keys() | new.keys()):
                inner = f"{path}.{key}" if path else str(key)
                yield from differences(old.get(key, MISSING), new.get(key, MISSING), inner)
        case list(), list():
            for index, (before, after) in enumerate(zip_longest(old, new, fillvalue=MISSING)):
                yield from differences(before, after, f"{path}[{index}]")
        case _ if _text(old) != _text(new):
            yield path, old, new


def _text(value: Any) -> str:
    return "" if value is MISSING else json.dumps(value, sort_keys=True)


def preview_json(value: Any) -> str:
    """Return a short form of a value as JSON; `nothing` for a missing one."""
    return "nothing" if value is MISSING else diagnostics.preview_json(value)
