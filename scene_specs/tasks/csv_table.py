"""Tables for programs that read CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable


def csv_table(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV, with a line feed after each; texts as they are, as programs of others expect."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
