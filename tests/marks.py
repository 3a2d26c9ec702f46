"""Parameters that only `make test-all` tries."""

from __future__ import annotations

from typing import Any

import pytest


def slow(*values: Any) -> list[Any]:
    """Parameters of a test, marked slow: of many alike, `make test` tries those that are not in here."""
    rows = (value if isinstance(value, tuple) else (value,) for value in values)
    return [pytest.param(*row, marks=pytest.mark.slow) for row in rows]
