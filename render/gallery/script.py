"""Data for a page as script files: a page opened from a disk may load scripts, and nothing else."""

from __future__ import annotations

import json
import math
import re
from typing import Any

# Harmless in a script file, deadly should one ever be pasted into a page; U+2028 and U+2029 end a line of old scripts.
_ESCAPED = re.compile("[<>&\u2028\u2029]")


def script_call(function: str, *values: Any) -> str:
    """One line of JavaScript that calls `function` with the values, each handed over as a string of JSON.

    JSON.parse and not an object literal: there a key called `__proto__` would be no key. Not-a-number and infinities
    become the strings "nan", "inf", "-inf".
    """
    return f"{function}({', '.join(_literal(value) for value in values)});\n"


def _literal(value: Any) -> str:
    text = to_json(value).replace("\\", "\\\\").replace("'", "\\'")
    text = _ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    return f"JSON.parse('{text}')"


def to_json(value: Any) -> str:
    """Compact JSON of plain data, on one line."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
