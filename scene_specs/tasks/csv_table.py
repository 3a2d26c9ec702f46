"""Tables for programs that read CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

# The beginning of a formula; "-0.5" is none.
_FORMULA = re.compile(r"[=@\t\r]|[-+](?![\d.]+(e[-+]?\d+)?$)")


def csv_table(rows: Iterable[Iterable[object]], *, published: bool) -> str:
    """Return rows as CSV, with a line feed after each.

    Args:
        published: whether programs of others read the table, which expect each text as it is. In other tables, a text
            that a spreadsheet would take for a formula begins with an apostrophe.
    """
    text = io.StringIO(newline="")
    if not published:
        rows = [
            [f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell for cell in row] for row in rows
        ]
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
