"""Digests of plain data, the same in every version."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def sha256(text: str) -> str:
    """Hexadecimal SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(data: Any) -> str:
    """JSON with sorted keys and without spaces."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))
