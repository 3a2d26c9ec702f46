"""Contact sheets: images with captions in rows, under a title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from diorama.render.uses.draw.typography import FAINT, INK, PAPER, font, wrapped

_NOTE_LINES = 4
# Pixels between the bottom of an image and its caption, and between the lines of a text, apart from the letters.
_PADDING = 2
_LEADING = 5


@dataclass(frozen=True)
class Tile:
    """An image with a caption in dark ink (one line) and a note in gray (up to four lines) below it.

    Text wraps at the width of the widest image of the grid; what does not fit is cut.
    """

    image: Image.Image
    caption: str = ""
    note: str = ""


def tile_grid(
    tiles: Sequence[Tile],
    columns: int,
    gap: int = 12,
    *,
    title: str = "",
    notes: Sequence[str] = (),
    font_size: int = 14,
) -> Image.Image:
    """Draw tiles row by row, `columns` to a row, and return an RGB image.

    All columns are as wide as the widest image, a row is as high as its highest tile. A larger grid can have grids as
    its tiles.

    Args:
        gap: pixels between tiles and around the grid.
        title: one line above the tiles, in a larger font.
        notes: paragraphs below the title, of up to four lines each.
        font_size: size of captions and notes, pixels.
    """
    line_height = font_size + _LEADING
    tile_width = max((tile.image.width for tile in tiles), default=1)
    columns = max(1, min(columns, len(tiles)))
    width = columns * (tile_width + gap) + gap
    captions = [
        _wrapped_lines([(tile.caption, INK, font_size, 1), (tile.note, FAINT, font_size, _NOTE_LINES)], tile_width)
        for tile in tiles
    ]
    rows = [range(start, min(start + columns, len(tiles))) for start in range(0, len(tiles), columns)]
    heights = [max(tiles[k].image.height + line_height * len(captions[k]) for k in row) + gap for row in rows]
    paragraphs = [(title, INK, font_size + 3, 1), *((note, FAINT, font_size, _NOTE_LINES) for note in notes)]
    head = _wrapped_lines(paragraphs, width - 2 * gap)
    top = gap + sum(size + _LEADING for _, _, size in head) + (gap // 2 if head else 0)
    grid = Image.new("RGB", (width, top + sum(heights)), PAPER)
    draw = ImageDraw.Draw(grid)
    _draw_lines(draw, (gap, gap), head)
    for row, height in zip(rows, heights, strict=True):
        for column, k in enumerate(row):
            left = gap + column * (tile_width + gap)
            grid.paste(tiles[k].image, (left, top))
            _draw_lines(draw, (left, top + tiles[k].image.height + _PADDING), captions[k])
        top += height
    return grid


# A line of text, its color, and the size of its font in pixels.
_Line = tuple[str, str, int]


def _wrapped_lines(texts: Sequence[tuple[str, str, int, int]], width: int) -> list[_Line]:
    """Return the lines of texts: (text, color, size of the font, maximum number of lines) of each."""
    return [
        (line, color, size)
        for text, color, size, count in texts
        for line in (wrapped(text, width, font(size), count) if text else ())
    ]


def _draw_lines(draw: ImageDraw.ImageDraw, at: tuple[int, int], lines: Sequence[_Line]) -> None:
    x, y = at
    for text, color, size in lines:
        draw.text((x, y), text, fill=color, font=font(size))
        y += size + _LEADING
