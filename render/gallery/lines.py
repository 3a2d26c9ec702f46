"""Line charts: a panel a measure, a line a group, intervals as whiskers. As SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from render.gallery.svg import Point, Svg
from render.gallery.text import fitting, font

_INK, _FAINT, _GRID = "#202428", "#6e747a", "#e3e6e9"
# Okabe and Ito's colors, then dashes.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#202428")
_DASHES = (None, "6 3", "2 3")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM, _LEGEND = 300.0, 220.0, 40.0, 12.0, 34.0, 34.0, 17.0


@dataclass(frozen=True)
class Panel:
    """One measure. lines: group -> points (x, mean, low, high). top: of the axis, None for what the values need.

    level: a value that a thin line marks, such as chance.
    """

    title: str
    lines: Mapping[str, Sequence[tuple[float, float, float, float]]]
    top: float | None = None
    level: float | None = None


def line_chart(title: str, axis: str, panels: Sequence[Panel]) -> str:
    """All panels side by side, over one legend. axis: what x counts."""
    groups = list(dict.fromkeys(group for panel in panels for group in panel.lines))
    width = max(len(panels), 1) * _WIDTH
    page = Svg(width, 30 + _HEIGHT + _LEGEND * len(groups) + 10, title)
    page.text((14, 21), fitting(title, width - 28, font(15)), 15, fill=_INK)
    for k, panel in enumerate(panels):
        _panel(page, panel, groups, axis, (k * _WIDTH, 30.0))
    for number, group in enumerate(groups):
        y = 30 + _HEIGHT + _LEGEND * (number + 0.5)
        page.line((16, y), (44, y), stroke_width=2, **_style(number))
        page.text((52, y + 4), fitting(group, width - 70, font(12)), 12, fill=_INK)
    return page.markup()


def _style(number: int) -> dict[str, object]:
    return {
        "stroke": _COLORS[number % len(_COLORS)],
        "stroke_dasharray": _DASHES[number // len(_COLORS) % len(_DASHES)],
        "fill": "none",
    }


def _panel(page: Svg, panel: Panel, groups: Sequence[str], axis: str, at: Point) -> None:
    x0, y0 = at[0] + _LEFT, at[1] + _TOP
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    points = [point for line in panel.lines.values() for point in line]
    top = panel.top or _ceiling(max((point[3] for point in points), default=1.0))
    xs = sorted({point[0] for point in points}) or [0.0]
    step = width / max(len(xs), 1)

    def place(x: float, y: float) -> Point:
        return (x0 + (xs.index(x) + 0.5) * step, y0 + height * (1 - min(y, top) / top))

    page.text((at[0] + 14, at[1] + 20), panel.title, 12, fill=_INK)
    for part in range(5):
        y = y0 + height * (1 - part / 4)
        page.line((x0, y), (x0 + width, y), stroke=_GRID)
        page.text((x0 - 5, y + 4), f"{top * part / 4:.3g}", 10, fill=_FAINT, text_anchor="end")
    if panel.level is not None:
        y = y0 + height * (1 - panel.level / top)
        page.line((x0, y), (x0 + width, y), stroke=_FAINT, stroke_dasharray="2 2")
    for x in xs:
        page.text((place(x, 0)[0], y0 + height + 14), f"{x:g}", 10, fill=_FAINT, text_anchor="middle")
    page.text((x0 + width / 2, y0 + height + 28), axis, 10, fill=_FAINT, text_anchor="middle")
    for number, group in enumerate(groups):
        line = list(panel.lines.get(group, ()))
        # Lines that lie on each other stay visible by their whiskers, which stand side by side.
        aside = (number - (len(groups) - 1) / 2) * min(3.0, 0.6 * step / max(len(groups), 1))
        style = _style(number)
        marks = [place(point[0], point[1]) for point in line]
        for (x, y), (ex, ey) in pairwise(marks):
            page.line((x + aside, y), (ex + aside, ey), stroke_width=1.8, **style)
        for point, (x, y) in zip(line, marks, strict=True):
            low, high = place(point[0], point[2]), place(point[0], point[3])
            page.line((x + aside, low[1]), (x + aside, high[1]), stroke=style["stroke"], stroke_width=1)
            page.circle((x + aside, y), 2.4, fill=style["stroke"])


def _ceiling(value: float) -> float:
    """The next round number above a value."""
    scale = 1.0
    while scale * 10 <= value:
        scale *= 10
    while scale > value > 1e-9:
        scale /= 10
    return next((step * scale for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8) if value <= step * scale), 10 * scale)
