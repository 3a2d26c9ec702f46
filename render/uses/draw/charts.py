"""Charts as SVG: distributions of a store as bars, and measures by group as lines with intervals."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from diorama.render.store.analysis.stats import Distribution, Key, Stats
from diorama.render.uses.draw.canvas import Point, Svg
from diorama.render.uses.draw.typography import FAINT, INK, fitting, font
from diorama.scene_specs.errors import counted

_GRID = "#e3e6e9"
# Okabe and Ito's palette, which color-blind readers can distinguish, ordered by contrast.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#6e747a", "#b8a900")
_DASHES = (None, "6 3", "2 3")
_BAR_COLUMNS = 3
_BAR_WIDTH, _BAR_HEIGHT, _BAR_HEAD = 400.0, 250.0, 64.0
_MAX_BARS = 24
_WIDEST_BAR = 48.0
_LINE_WIDTH, _LINE_HEIGHT, _LINE_HEAD, _LEGEND = 300.0, 220.0, 30.0, 17.0
REST = "others"


class Axes(NamedTuple):
    """The area of a chart.

    Attributes:
        x: left edge, pixels.
        y: top edge, pixels.
        width: pixels.
        height: pixels.
        top: the value at its upper edge.
    """

    x: float
    y: float
    width: float
    height: float
    top: float

    def level(self, value: float) -> float:
        """The y coordinate of a value."""
        return self.y + self.height * (1 - value / self.top)

    def draw(self, page: Svg) -> None:
        """Draw five horizontal lines with their values at the left."""
        for part in range(5):
            level = self.level(self.top * part / 4)
            page.line((self.x, level), (self.x + self.width, level), stroke=_GRID)
            page.text((self.x - 5, level + 4), f"{self.top * part / 4:.3g}", 10, fill=FAINT, text_anchor="end")


def axis_top(value: float) -> float:
    """The next round number above a value, for an axis that starts at 0."""
    scale = 1.0
    while scale * 10 <= value:
        scale *= 10
    while scale > value > 1e-9:
        scale /= 10
    return next((step * scale for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8) if value <= step * scale), 10 * scale)


def bar_charts(stats: Stats, title: str) -> str:
    """Draw all distributions that have values, as SVG."""
    shown = [item for item in stats.distributions.values() if item.counts]
    groups = shown_groups(stats)
    columns = min(_BAR_COLUMNS, max(len(shown), 1))
    width, height = columns * _BAR_WIDTH, _BAR_HEAD + math.ceil(len(shown) / columns) * _BAR_HEIGHT
    page = Svg(width, height, title)
    _draw_bars_head(page, stats, title, groups, width)
    for index, item in enumerate(shown):
        at = (index % columns * _BAR_WIDTH, _BAR_HEAD + index // columns * _BAR_HEIGHT)
        _bar_chart(page, item, groups, at)
    return page.markup()


def shown_groups(stats: Stats) -> list[str]:
    """The largest groups, which get their own colors; all others share the last color."""
    ordered = sorted(stats.groups, key=lambda group: (-stats.episodes[group], group))
    return ordered if len(ordered) <= len(_COLORS) else [*ordered[: len(_COLORS) - 1], REST]


def merged(item: Distribution, groups: Sequence[str]) -> dict[str, Counter[Key]]:
    """Group -> value -> count; groups that are not in `groups` are counted together."""
    merged_counts: dict[str, Counter[Key]] = {group: Counter() for group in groups}
    for group, counter in item.counts.items():
        merged_counts[group if group in merged_counts else REST].update(counter)
    return merged_counts


def bars(item: Distribution) -> list[tuple[str, list[Key]]]:
    """(label, values) of each bar. Rare words share a bar, and so do neighboring numbers if there are many."""
    keys = item.keys()
    if item.kind == "bins":
        return [(item.label(key), [key]) for key in keys]
    if len(keys) <= _MAX_BARS:
        return [(str(key), [key]) for key in keys]
    if item.kind == "words":
        head = [(str(key), [key]) for key in keys[: _MAX_BARS - 1]]
        return [*head, (f"{len(keys) - len(head)} {REST}", keys[_MAX_BARS - 1 :])]
    step = math.ceil(len(keys) / _MAX_BARS)
    parts = [keys[k : k + step] for k in range(0, len(keys), step)]
    return [(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]), part) for part in parts]


def _draw_bars_head(page: Svg, stats: Stats, title: str, groups: Sequence[str], width: float) -> None:
    page.text((14, 24), fitting(title, width - 28, font(17)), 17, fill=INK)
    total = [sum(counts.values()) for counts in (stats.episodes, stats.images, stats.objects)]
    text = ", ".join(counted(number, noun) for number, noun in zip(total, ("episode", "image", "object"), strict=True))
    text += "; bars show percentages of each group"
    page.text((14, 43), text, 12, fill=FAINT)
    if stats.by is None:
        return
    x = 14.0
    for index, group in enumerate(groups):
        page.rect(x, 51, 10, 10, fill=_COLORS[index])
        name = fitting(group, 160, font(12))
        page.text((x + 14, 60), name, 12, fill=INK)
        x += 30 + font(12).getlength(name)


def _bar_chart(page: Svg, item: Distribution, groups: Sequence[str], at: Point) -> None:
    for line, text in enumerate(textwrap.wrap(item.of, 62)[:2]):
        page.text((at[0] + 14, at[1] + 20 + 14 * line), text, 12, fill=INK)
    counts = merged(item, groups)
    labeled = bars(item)
    shares = [
        [100 * sum(counts[group][key] for key in keys) / max(counts[group].total(), 1) for group in groups]
        for _, keys in labeled
    ]
    top = axis_top(max((max(row) for row in shares), default=1.0))
    axes = Axes(at[0] + 44, at[1] + 42, _BAR_WIDTH - 54, _BAR_HEIGHT - 96, top)
    axes.draw(page)
    bottom = axes.y + axes.height
    slot = axes.width / max(len(labeled), 1)
    bar = min(slot * 0.84 / len(groups), _WIDEST_BAR)
    for column, row in enumerate(shares):
        for index, share in enumerate(row):
            left = axes.x + (column + 0.5) * slot + (index - len(groups) / 2) * bar
            page.rect(left, axes.level(share), bar, bottom - axes.level(share), fill=_COLORS[index])
    page.line((axes.x, bottom), (axes.x + axes.width, bottom), stroke=FAINT)
    _bar_labels(page, [label for label, _ in labeled], item.kind == "bins", (axes.x, bottom), slot)


def _bar_labels(page: Svg, labels: Sequence[str], bins: bool, at: Point, slot: float) -> None:
    """Label the bars, or the edges of bins. Long labels alternate between two or three rows."""
    if bins:
        for edge in range(0, len(labels) + 1, 4):
            page.text(
                (at[0] + edge * slot, at[1] + 15), f"{edge / len(labels):g}", 10, fill=FAINT, text_anchor="middle"
            )
        return
    letter = font(10)
    widest = max((letter.getlength(label) for label in labels), default=0)
    rows = 1 if widest + 6 <= slot else 2 if widest + 6 <= 2 * slot else 3
    for column, label in enumerate(labels):
        text = fitting(label, rows * slot - 4, letter)
        origin = (at[0] + (column + 0.5) * slot, at[1] + 15 + 13 * (column % rows))
        page.text(origin, text, 10, fill=FAINT, text_anchor="middle")


class Panel(NamedTuple):
    """One measure.

    Attributes:
        lines: group -> points (x, mean, low, high).
        top: end of the axis; None to fit the values.
        level: a value to mark with a thin line, such as chance.
    """

    title: str
    lines: Mapping[str, Sequence[tuple[float, float, float, float]]]
    top: float | None = None
    level: float | None = None


def line_chart(title: str, axis: str, panels: Sequence[Panel]) -> str:
    """Draw panels side by side above one legend, as SVG.

    Args:
        axis: the label of the x axes.
    """
    groups = list(dict.fromkeys(group for panel in panels for group in panel.lines))
    width = max(len(panels), 1) * _LINE_WIDTH
    page = Svg(width, _LINE_HEAD + _LINE_HEIGHT + _LEGEND * len(groups) + 10, title)
    page.text((14, 21), fitting(title, width - 28, font(15)), 15, fill=INK)
    for k, panel in enumerate(panels):
        _line_panel(page, panel, groups, axis, (k * _LINE_WIDTH, _LINE_HEAD))
    for index, group in enumerate(groups):
        y = _LINE_HEAD + _LINE_HEIGHT + _LEGEND * (index + 0.5)
        page.line((16, y), (44, y), stroke_width=2, **_line_style(index))
        page.text((52, y + 4), fitting(group, width - 70, font(12)), 12, fill=INK)
    return page.markup()


def _line_style(series: int) -> dict[str, object]:
    dashes = _DASHES[series // len(_COLORS) % len(_DASHES)]
    return {"stroke": _COLORS[series % len(_COLORS)], "stroke_dasharray": dashes, "fill": "none"}


def _line_panel(page: Svg, panel: Panel, groups: Sequence[str], axis: str, at: Point) -> None:
    points = [point for line in panel.lines.values() for point in line]
    top = panel.top or axis_top(max((point[3] for point in points), default=1.0))
    axes = Axes(at[0] + 40, at[1] + 34, _LINE_WIDTH - 52, _LINE_HEIGHT - 68, top)
    bottom = axes.y + axes.height
    xs = sorted({point[0] for point in points}) or [0.0]
    step = axes.width / len(xs)
    columns = {x: axes.x + (k + 0.5) * step for k, x in enumerate(xs)}
    page.text((at[0] + 14, at[1] + 20), panel.title, 12, fill=INK)
    axes.draw(page)
    if panel.level is not None:
        y = axes.level(panel.level)
        page.line((axes.x, y), (axes.x + axes.width, y), stroke=FAINT, stroke_dasharray="2 2")
    for x, column in columns.items():
        page.text((column, bottom + 14), f"{x:g}", 10, fill=FAINT, text_anchor="middle")
    page.text((axes.x + axes.width / 2, bottom + 28), axis, 10, fill=FAINT, text_anchor="middle")
    for index, group in enumerate(groups):
        # Equal lines stay visible by their intervals, which are side by side.
        shift = (index - (len(groups) - 1) / 2) * min(3.0, 0.6 * step / max(len(groups), 1))
        style = _line_style(index)
        # (x, and the y coordinates of mean, low and high)
        marks = [
            (columns[x] + shift, *(axes.level(min(value, top)) for value in values))
            for x, *values in panel.lines.get(group, ())
        ]
        for (x, mean, *_), (next_x, next_mean, *_) in pairwise(marks):
            page.line((x, mean), (next_x, next_mean), stroke_width=1.8, **style)
        for x, mean, low, high in marks:
            page.line((x, low), (x, high), stroke=style["stroke"], stroke_width=1)
            page.circle((x, mean), 2.4, fill=style["stroke"])
