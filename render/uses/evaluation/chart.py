"""A chart of scores: a line per task and group with accuracy, its interval, chance and guessers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diorama.render.uses.draw.canvas import Svg
from diorama.render.uses.draw.typography import FAINT, INK, fitting, font
from diorama.render.uses.items.scores import DIFFERENCE

_ROW, _HEAD, _LABEL, _WIDTH = 22.0, 64.0, 250.0, 400.0
_GRID, _ACCURACY = "#e3e6e9", "#0072b2"
# Marks of a row: key -> color, name in the legend, and half the height, so that equal values stay visible.
_MARKS = {"chance": (FAINT, "chance", 9), "blind": ("#e69f00", "blind", 7), "text": ("#d55e00", "text only", 4)}


def chart(rows: Sequence[Mapping[str, Any]], title: str) -> str:
    """Draw rows of diorama.render.uses.items.scores.rows, as SVG."""
    # Differences are no shares.
    rows = [row for row in rows if row["by"] != DIFFERENCE]
    bottom = _HEAD + _ROW * len(rows)
    page = Svg(_LABEL + _WIDTH + 30, bottom + 30, f"Accuracy: {title}")
    page.text((14, 22), fitting(f"Accuracy: {title}", _LABEL + _WIDTH, font(15)), 15, fill=INK)
    legend = {"accuracy, 95 % interval": _ACCURACY, **{name: color for color, name, _ in _MARKS.values()}}
    x = 20.0
    for name, color in legend.items():
        page.circle((x, 42), 4, fill=color)
        page.text((x + 9, 46), name, 12, fill=INK)
        x += 40 + 7 * len(name)
    for part in range(5):
        across = _LABEL + _WIDTH * part / 4
        page.line((across, _HEAD), (across, bottom), stroke=_GRID)
        page.text((across, bottom + 16), f"{25 * part} %", 10, fill=FAINT, text_anchor="middle")
    for number, row in enumerate(rows):
        y = _HEAD + _ROW * (number + 0.5)
        label = f"{row['by']}: {row['group']} ({row['items']})".replace(":  (", " (")
        page.text((_LABEL - 10, y + 4), fitting(label, _LABEL - 20, font(12)), 12, fill=INK, text_anchor="end")
        for name, (color, _, half) in _MARKS.items():
            if row[name] is None:
                continue
            at = _LABEL + _WIDTH * row[name]
            page.line((at, y - half), (at, y + half), stroke=color, stroke_width=2)
        low, mean, high = (_LABEL + _WIDTH * row[name] for name in ("low", "accuracy", "high"))
        page.line((low, y), (high, y), stroke=_ACCURACY, stroke_width=1.5)
        page.circle((mean, y), 4, fill=_ACCURACY)
    return page.markup()
