"""Text in drawings: the font, colors of ink and paper, and text that fits a width."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import Any

from PIL import ImageFont

PAPER, INK, FAINT = "#ffffff", "#202428", "#6e747a"


@lru_cache(maxsize=16)
def font(size: int) -> Any:
    """Return the font that is part of Pillow, at a size in pixels."""
    return ImageFont.load_default(size=size)


def printable(text: str) -> str:
    """Replace control characters and line breaks, which a spec may contain, by spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def fitting(text: str, width: float, letter: Any) -> str:
    """`text` on one line, cut at the end if it is wider than `width` pixels."""
    text = printable(text)
    if letter.getlength(text) <= width:
        return text
    # The number of letters at which text and ellipsis first become too wide.
    count = bisect_left(range(1, len(text) + 1), True, key=lambda n: letter.getlength(text[:n] + "…") > width)
    return text[:count] + "…"


def wrapped(text: str, width: float, letter: Any, lines: int) -> list[str]:
    """`text` wrapped at spaces into at most `lines` lines of `width` pixels; the last one is cut if more follows."""
    words = printable(text).split(" ")
    wrapped_lines: list[str] = []
    while words and len(wrapped_lines) < lines - 1:
        count = 1
        while count < len(words) and letter.getlength(" ".join(words[: count + 1])) <= width:
            count += 1
        wrapped_lines.append(fitting(" ".join(words[:count]), width, letter))
        words = words[count:]
    return [*wrapped_lines, fitting(" ".join(words), width, letter)] if words else wrapped_lines
