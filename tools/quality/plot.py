"""Plot error over time as an SVG, with the Pareto front: candidates that no other beats in both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 760, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 130, 20, 48
_STYLE = (
    "text{font:12px sans-serif;fill:#333}.grid{stroke:#ddd}.front{fill:none;stroke:#2a6;stroke-width:1.5}"
    ".on{fill:#2a6}.off{fill:#999}"
)


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


def _labels(dots: Sequence[tuple[str, float, float]]) -> list[str]:
    """Return labels next to their dots, the first with priority.

    A name without room is left out: the dot's tooltip has it.
    """
    taken = [(x - 5, y - 5, x + 5, y + 5) for _, x, y in dots]
    made = []
    for name, x, y in dots:
        long = 6.6 * len(name)
        # First below to the right, which the rising front never crosses; then right, below, above, left.
        places = ((x + 6, y + 16), (x + 7, y + 4), (x - long / 2, y + 17), (x - long / 2, y - 8), (x - long - 7, y + 4))
        for left, base in places:
            box = (left, base - 10, left + long, base + 3)
            if not any(_overlap(box, other) for other in taken):
                taken.append(box)
                made.append(f'<text x="{left:.1f}" y="{base:.1f}">{escape(name)}</text>')
                break
    return made


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def svg(points: Sequence[Point]) -> str:
    """Draw seconds per image (logarithmic) to the right and PSNR upwards. Raises ValueError without a point."""
    if not points:
        raise ValueError("found no points, expected at least one")
    low, high = min(p.seconds for p in points) / 1.3, max(p.seconds for p in points) * 1.3
    bottom, top = math.floor(min(p.psnr for p in points) - 0.5), math.ceil(max(p.psnr for p in points) + 0.5)

    def x(seconds: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * math.log(seconds / low) / math.log(high / low)

    def y(psnr: float) -> float:
        return _TOP + (HEIGHT - _TOP - _BOTTOM) * (top - psnr) / (top - bottom)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">', f"<style>{_STYLE}</style>"]
    parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>')
    for value in _steps(low, high):
        at = x(value)
        parts.append(f'<line class="grid" x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{HEIGHT - _BOTTOM}"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle">{value:g}</text>')
    for level in range(bottom, top + 1, max(1, (top - bottom) // 8)):
        at = y(level)
        parts.append(f'<line class="grid" x1="{_LEFT}" y1="{at:.1f}" x2="{WIDTH - _RIGHT}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{level}</text>')
    best = front(points)
    line = " ".join(f"{x(p.seconds):.1f},{y(p.psnr):.1f}" for p in best)
    parts.append(f'<polyline class="front" points="{line}"/>')
    for p in points:
        kind = "on" if p in best else "off"
        where = f'cx="{x(p.seconds):.1f}" cy="{y(p.psnr):.1f}"'
        parts.append(f'<circle class="{kind}" {where} r="4"><title>{escape(p.name)}</title></circle>')
    others = [p for p in points if p not in best]
    parts += _labels([(p.name, x(p.seconds), y(p.psnr)) for p in [*best, *others]])
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    below = f'x="{(_LEFT + WIDTH - _RIGHT) / 2:.0f}" y="{HEIGHT - 10}"'
    parts.append(f'<text {below} text-anchor="middle">mean seconds per image</text>')
    parts.append(
        f'<text transform="translate(16 {middle:.0f}) rotate(-90)" text-anchor="middle">median PSNR, dB</text>'
    )
    return "\n".join([*parts, "</svg>", ""])
