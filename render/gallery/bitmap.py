"""The part of `Svg` that charts need, drawn as pixels: for a PNG without a browser."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

from render.gallery.svg import Point
from render.gallery.text import font, printable

# Drawn so much larger: letters and edges stay sharp on dense screens.
_SCALE = 2
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


class Bitmap:
    """A drawing of `width` x `height` units, each two pixels; colors as #rrggbb."""

    def __init__(self, width: float, height: float) -> None:
        self._picture = Image.new("RGB", (round(width * _SCALE), round(height * _SCALE)), "#ffffff")
        self._draw = ImageDraw.Draw(self._picture)

    def rect(self, x: float, y: float, width: float, height: float, *, fill: str) -> None:
        """A filled rectangle by its top left corner."""
        left, top = round(x * _SCALE), round(y * _SCALE)
        right, bottom = round((x + width) * _SCALE) - 1, round((y + height) * _SCALE) - 1
        if right >= left and bottom >= top:
            self._draw.rectangle((left, top, right, bottom), fill=fill)

    def line(self, start: Point, end: Point, *, stroke: str) -> None:
        """A thin straight line."""
        self._draw.line([(x * _SCALE, y * _SCALE) for x, y in (start, end)], fill=stroke, width=_SCALE)

    def text(self, at: Point, text: str, size: float = 12, *, fill: str, text_anchor: str = "start") -> None:
        """One line of text, its baseline at `at`."""
        place = (at[0] * _SCALE, at[1] * _SCALE)
        self._draw.text(
            place, printable(text), fill=fill, font=font(round(size * _SCALE)), anchor=_ANCHORS[text_anchor]
        )

    def save(self, path: Path) -> None:
        """As PNG."""
        self._picture.save(path, format="PNG")
