"""Tables as text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

# The beginning of a formula; "-0.5" is none.
_FORMULA = re.compile(r"[=@\t\r]|[-+](?![\d.]+(e[-+]?\d+)?$)")


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table whose columns are as wide as their widest cells; none if there are no rows."""
    cells = [head, *rows]
    if len(cells) > 1:
        widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
        for row in cells:
            yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


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


def markdown_table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table with a line break at its end."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]]) + "\n"
