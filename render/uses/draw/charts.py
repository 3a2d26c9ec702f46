"""Charts as SVG: measures by group as lines with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from diorama.render.uses.draw.canvas import Point, Svg
from diorama.render.uses.draw.typography import FAINT, INK, fitting, font

_GRID = "#e3e6e9"
# Okabe and Ito's palette, which color-blind readers can distinguish, ordered by contrast.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#6e747a", "#b8a900")
_DASHES = (None, "6 3", "2 3")
_LINE_WIDTH, _LINE_HEIGHT, _LINE_HEAD, _LEGEND = 300.0, 220.0, 30.0, 17.0


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
        """Return the y coordinate of a value."""
        return self.y + self.height * (1 - value / self.top)

    def draw(self, page: Svg) -> None:
        """Draw five horizontal lines with their values at the left."""
        for part in range(5):
            level = self.level(self.top * part / 4)
            page.line((self.x, level), (self.x + self.width, level), stroke=_GRID)
            page.text((self.x - 5, level + 4), f"{self.top * part / 4:.3g}", 10, fill=FAINT, text_anchor="end")


def axis_top(value: float) -> float:
    """Return the next round number above a value, for an axis that starts at 0."""
    scale = 1.0
    while scale * 10 <= value:
        scale *= 10
    while scale > value > 1e-9:
        scale /= 10
    return next((step * scale for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8) if value <= step * scale), 10 * scale)


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
