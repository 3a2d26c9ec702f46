"""Tables as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table whose columns are as wide as their widest cells; none if there are no rows."""
    cells = [head, *rows]
    if len(cells) > 1:
        widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
        for row in cells:
            yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def markdown_table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table with a line break at its end."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]]) + "\n"
