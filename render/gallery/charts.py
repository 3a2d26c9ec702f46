"""Distributions of a store as bar charts on one page, the same as SVG and as PNG."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from render.gallery.bitmap import Bitmap
from render.gallery.svg import Point, Svg
from render.gallery.text import fitting, font
from render.store.analysis.stats import Distribution, Key, Stats

_INK, _FAINT, _GRID = "#202428", "#6e747a", "#e3e6e9"
# Okabe and Ito's colors, told apart also by who does not tell red from green, in an order of contrast.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#6e747a", "#b8a900")
_COLUMNS = 3
_WIDTH, _HEIGHT = 400.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 10.0, 42.0, 54.0
_HEAD = 64.0
_MOST_BARS = 24
_WIDEST_BAR = 48.0
REST = "others"


class Canvas(Protocol):
    """What is drawn on."""

    def rect(self, x: float, y: float, width: float, height: float, *, fill: str) -> None:
        """A filled rectangle."""
        ...

    def line(self, start: Point, end: Point, *, stroke: str) -> None:
        """A thin line."""
        ...

    def text(self, at: Point, text: str, size: float = 12, *, fill: str, text_anchor: str = "start") -> None:
        """One line of text."""
        ...


def save_charts(stats: Stats, title: str, path: Path, svg: bool) -> None:
    """All distributions that have values, as SVG or PNG, whatever the name of the file."""
    shown = [item for item in stats.distributions.values() if item.counts]
    groups = shown_groups(stats)
    columns = min(_COLUMNS, max(len(shown), 1))
    width, height = columns * _WIDTH, _HEAD + math.ceil(len(shown) / columns) * _HEIGHT
    page: Any = Svg(width, height, title) if svg else Bitmap(width, height)
    _head(page, stats, title, groups, width)
    for number, item in enumerate(shown):
        at = (number % columns * _WIDTH, _HEAD + number // columns * _HEIGHT)
        _chart(page, item, groups, at)
    if isinstance(page, Svg):
        path.write_text(page.markup(), encoding="utf-8")
    else:
        page.save(path)


def shown_groups(stats: Stats) -> list[str]:
    """The groups that get a color of their own, the largest; the others share the last."""
    ordered = sorted(stats.groups, key=lambda group: (-stats.episodes[group], group))
    return ordered if len(ordered) <= len(_COLORS) else [*ordered[: len(_COLORS) - 1], REST]


def merged(item: Distribution, groups: Sequence[str]) -> dict[str, dict[Key, int]]:
    """Group -> value -> how often, groups that are not named counted together."""
    found: dict[str, dict[Key, int]] = {group: {} for group in groups}
    for group, counter in item.counts.items():
        into = found[group if group in found else REST]
        for key, count in counter.items():
            into[key] = into.get(key, 0) + count
    return found


def bars(item: Distribution) -> list[tuple[str, list[Key]]]:
    """Label -> the values that a bar counts: rare words go together, and so do numbers where there are very many."""
    keys = item.keys()
    if item.kind == "bins":
        return [(item.label(key), [key]) for key in keys]
    if len(keys) <= _MOST_BARS:
        return [(str(key), [key]) for key in keys]
    if item.kind == "words":
        head = [(str(key), [key]) for key in keys[: _MOST_BARS - 1]]
        return [*head, (f"{len(keys) - len(head)} {REST}", keys[_MOST_BARS - 1 :])]
    step = math.ceil(len(keys) / _MOST_BARS)
    parts = [keys[k : k + step] for k in range(0, len(keys), step)]
    return [(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]), part) for part in parts]


def _head(page: Canvas, stats: Stats, title: str, groups: Sequence[str], width: float) -> None:
    page.text((14, 24), fitting(title, width - 28, font(17)), 17, fill=_INK)
    total = [sum(counts.values()) for counts in (stats.episodes, stats.images, stats.objects)]
    text = (
        f"{total[0]:,} episodes, {total[1]:,} images, {total[2]:,} objects; bars are shares of each group, in per cent"
    )
    page.text((14, 43), text, 12, fill=_FAINT)
    if stats.by is None:
        return
    x = 14.0
    for number, group in enumerate(groups):
        page.rect(x, 51, 10, 10, fill=_COLORS[number])
        name = fitting(group, 160, font(12))
        page.text((x + 14, 60), name, 12, fill=_INK)
        x += 30 + font(12).getlength(name)


def _chart(page: Canvas, item: Distribution, groups: Sequence[str], at: Point) -> None:
    x, y = at[0] + _LEFT, at[1] + _TOP
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    for number, line in enumerate(textwrap.wrap(item.of, 62)[:2]):
        page.text((at[0] + 14, at[1] + 20 + 14 * number), line, 12, fill=_INK)
    counts = merged(item, groups)
    found = bars(item)
    totals = {group: sum(counter.values()) for group, counter in counts.items()}
    shares = [
        [100 * sum(counts[group].get(key, 0) for key in keys) / max(totals[group], 1) for group in groups]
        for _, keys in found
    ]
    top = _ceiling(max((max(row) for row in shares), default=1.0))
    for part in range(5):
        level = y + height - part / 4 * height
        page.line((x, level), (x + width, level), stroke=_GRID)
        page.text((x - 5, level + 4), f"{top * part / 4:g}", 10, fill=_FAINT, text_anchor="end")
    slot = width / max(len(found), 1)
    bar = min(slot * 0.84 / len(groups), _WIDEST_BAR)
    for column, row in enumerate(shares):
        for number, share in enumerate(row):
            tall = share / top * height
            left = x + (column + 0.5) * slot + (number - len(groups) / 2) * bar
            page.rect(left, y + height - tall, bar, tall, fill=_COLORS[number])
    page.line((x, y + height), (x + width, y + height), stroke=_FAINT)
    _labels(page, [label for label, _ in found], item.kind == "bins", (x, y + height), slot)


def _labels(page: Canvas, labels: Sequence[str], bins: bool, at: Point, slot: float) -> None:
    """Below the bars; of bins their edges, of many labels every second or third, in two rows where they are long."""
    if bins:
        for number in range(0, len(labels) + 1, 4):
            page.text(
                (at[0] + number * slot, at[1] + 15), f"{number / len(labels):g}", 10, fill=_FAINT, text_anchor="middle"
            )
        return
    letter = font(10)
    widest = max((letter.getlength(label) for label in labels), default=0)
    rows = 1 if widest + 6 <= slot else 2 if widest + 6 <= 2 * slot else 3
    for number, label in enumerate(labels):
        text = fitting(label, rows * slot - 4, letter)
        place = (at[0] + (number + 0.5) * slot, at[1] + 15 + 13 * (number % rows))
        page.text(place, text, 10, fill=_FAINT, text_anchor="middle")


def _ceiling(value: float) -> float:
    """The next round number above a share."""
    return next((step for step in (4, 8, 12, 20, 40, 60, 80) if value <= step), 100.0)
