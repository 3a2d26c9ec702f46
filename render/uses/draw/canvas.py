"""Drawings as SVG text. `Svg` escapes all text of specs and stores."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from diorama.render.uses.draw.typography import PAPER, printable

Point = tuple[float, float]


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Svg:
    """A drawing of `width` x `height` pixels. Methods take SVG attributes, `stroke_width` for `stroke-width`."""

    def __init__(self, width: float, height: float, title: str, background: str | None = PAPER) -> None:
        self.width, self.height = width, height
        self._parts: list[str] = []
        self._title = title
        if background is not None:
            self.rect(0, 0, width, height, fill=background)

    def add(self, tag: str, content: str | None = None, /, **attributes: object) -> None:
        """Add an element; numbers get two decimals.

        Args:
            content: escaped markup.
        """
        pairs = []
        for name, value in attributes.items():
            if value is None:
                continue
            text = _number(value) if isinstance(value, float | int) else printable(str(value))
            pairs.append(f" {name.rstrip('_').replace('_', '-')}={quoteattr(text)}")
        self._parts.append(f"<{tag}{''.join(pairs)}>{content}</{tag}>" if content else f"<{tag}{''.join(pairs)}/>")

    def rect(self, x: float, y: float, width: float, height: float, **attributes: object) -> None:
        """Add a rectangle, given its top left corner."""
        self.add("rect", x=x, y=y, width=max(width, 0), height=max(height, 0), **attributes)

    def circle(self, at: Point, radius: float, **attributes: object) -> None:
        """Add a circle."""
        self.add("circle", cx=at[0], cy=at[1], r=radius, **attributes)

    def line(self, start: Point, end: Point, **attributes: object) -> None:
        """Add a straight line."""
        self.add("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], **attributes)

    def polygon(self, points: Sequence[Point], **attributes: object) -> None:
        """Add a closed shape through the points."""
        self.add("polygon", points=" ".join(f"{_number(x)},{_number(y)}" for x, y in points), **attributes)

    def text(self, at: Point, text: str, size: float = 12, **attributes: object) -> None:
        """Add one line of text with its baseline at `at`."""
        self.add("text", escape(printable(text)), x=at[0], y=at[1], font_size=size, **attributes)

    def open_window(self, x: float, y: float, width: float, height: float) -> None:
        """Clip everything up to `close_window` to this rectangle; coordinates inside start at x, y."""
        window = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
        # A clipPath needs an id, and two drawings on one page might use the same one. An inner <svg> clips without.
        self._parts.append(f'<svg {window} overflow="hidden">')

    def close_window(self) -> None:
        """End `open_window`."""
        self._parts.append("</svg>")

    def elements(self) -> str:
        """Return the elements that were added, for an <svg> of the caller's."""
        return "".join(self._parts)

    def markup(self) -> str:
        """Return the drawing as a self-contained element."""
        size = f'width="{_number(self.width)}" height="{_number(self.height)}"'
        box = f'viewBox="0 0 {_number(self.width)} {_number(self.height)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} role="img" font-family="sans-serif">'
        return "\n".join([head, f"<title>{escape(printable(self._title))}</title>", *self._parts, "</svg>"]) + "\n"
