"""Text in pictures: one font, colors of ink and paper, and text that fits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from PIL import ImageFont

PAPER = (255, 255, 255)
INK = (32, 36, 40)
FAINT = (110, 116, 122)


@lru_cache(maxsize=16)
def font(size: int) -> Any:
    """The font that Pillow brings along, at a size in pixels."""
    return ImageFont.load_default(size=size)


def printable(text: str) -> str:
    """One line without control characters: what a spec carries may hold any."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def fitting(text: str, width: float, letter: Any) -> str:
    """`text` on one line, its end cut away where it is wider than `width` pixels."""
    text = printable(text)
    if letter.getlength(text) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if letter.getlength(text[:middle] + "…") <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low] + "…"


def wrapped(text: str, width: float, letter: Any, lines: int) -> list[str]:
    """`text` broken at spaces into at most so many lines of `width` pixels; the last one is cut where more follows."""
    words = printable(text).split(" ")
    found: list[str] = []
    while words and len(found) < lines - 1:
        count = 1
        while count < len(words) and letter.getlength(" ".join(words[: count + 1])) <= width:
            count += 1
        found.append(fitting(" ".join(words[:count]), width, letter))
        words = words[count:]
    return [*found, fitting(" ".join(words), width, letter)] if words else found
