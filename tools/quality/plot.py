"""Plot error over time as an SVG, with the Pareto front: candidates that no other beats in both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from diorama.render.draw.canvas import Svg

_WIDTH, _HEIGHT = 760, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 630, 20, 412
_GREEN, _GRAY, _GRID = "#22aa66", "#999999", "#dddddd"
_LINE = 13


class Point(NamedTuple):
    """A candidate in the plot. seconds: per image, above 0. psnr: dB, finite."""

    name: str
    seconds: float
    psnr: float


def front(points: Sequence[Point]) -> list[Point]:
    """Return the points for which no other is as fast and better, or faster and as good; the fastest first."""
    kept: list[Point] = []
    for point in sorted(points, key=lambda p: (p.seconds, -p.psnr)):
        if not kept or point.psnr > kept[-1].psnr:
            kept.append(point)
    return kept


def _steps(low: float, high: float) -> list[float]:
    """Return 1, 2, 5, 10, ... within the range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [m * 10.0**k for k in powers for m in (1, 2, 5) if low <= m * 10.0**k <= high]


def svg(points: Sequence[Point]) -> str:
    """Draw seconds per image (logarithmic) to the right and PSNR upwards. Raises ValueError without a point."""
    low, high = min(p.seconds for p in points) / 1.3, max(p.seconds for p in points) * 1.3
    bottom, top = math.floor(min(p.psnr for p in points) - 0.5), math.ceil(max(p.psnr for p in points) + 0.5)

    def x(seconds: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * math.log(seconds / low) / math.log(high / low)

    def y(psnr: float) -> float:
        return _TOP + (_BOTTOM - _TOP) * (top - psnr) / (top - bottom)

    page = Svg(_WIDTH, _HEIGHT, "Error over time")
    for value in _steps(low, high):
        page.line((x(value), _TOP), (x(value), _BOTTOM), stroke=_GRID)
        page.text((x(value), _BOTTOM + 16), f"{value:g}", text_anchor="middle")
    for level in range(bottom, top + 1, max(1, (top - bottom) // 8)):
        page.line((_LEFT, y(level)), (_RIGHT, y(level)), stroke=_GRID)
        page.text((_LEFT - 8, y(level) + 4), f"{level}", text_anchor="end")
    best = front(points)
    for a, b in pairwise(best):
        page.line((x(a.seconds), y(a.psnr)), (x(b.seconds), y(b.psnr)), stroke=_GREEN, stroke_width=1.5)
    for p in points:
        tooltip = f"<title>{escape(p.name)}</title>"
        page.add("circle", tooltip, cx=x(p.seconds), cy=y(p.psnr), r=4, fill=_GREEN if p in best else _GRAY)
    taken: list[tuple[float, float]] = []
    for p in [*best, *(p for p in points if p not in best)]:
        # The rising front never crosses a name below its point. A name without room is left to the tooltip.
        at = (x(p.seconds) + 6, y(p.psnr) + 16)
        if not any(abs(at[0] - left) < 7 * len(p.name) and abs(at[1] - base) < _LINE for left, base in taken):
            page.text(at, p.name)
            taken.append(at)
    page.text(((_LEFT + _RIGHT) / 2, _HEIGHT - 10), "mean seconds per image", text_anchor="middle")
    turned = f"translate(16 {(_TOP + _BOTTOM) / 2}) rotate(-90)"
    page.text((0, 0), "median PSNR, dB", text_anchor="middle", transform=turned)
    return page.markup()
