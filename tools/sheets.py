"""Images with long texts below them, as tiles of a sheet."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from PIL import Image

from render.gallery.tile_grid import Tile, tile_grid

FONT_SIZE = 10
# A safe estimate, so that a wrapped line always fits.
_LETTER_WIDTH = 6


def text_tile(image: Image.Image, texts: Iterable[str], width: int) -> Tile:
    """Return an image with texts of any length below it, wrapped at `width` pixels; all except the first are gray."""
    blank = Image.new("RGB", (width, 1), "white")
    first, *others = ([Tile(blank, line) for line in textwrap.wrap(text, width // _LETTER_WIDTH)] for text in texts)
    notes = [Tile(blank, note=tile.caption) for lines in others for tile in lines]
    return Tile(tile_grid([Tile(image), *first, *notes], 1, gap=0, font_size=FONT_SIZE))
