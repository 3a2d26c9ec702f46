"""Two makings of one image and where they differ, side by side in one picture with the error figures below."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from render.gallery.text import INK, PAPER, fitting, font

# The difference shows one level of 255 as this many.
AMPLIFY = 16
_GAP = 8
_LEAST_WIDTH = 240


def difference_picture(old: NDArray[np.uint8], new: NDArray[np.uint8]) -> Image.Image:
    """|old - new|, each level shown as AMPLIFY; (H, W, 3) display values of one size."""
    error = np.abs(old.astype(np.int16) - new) * AMPLIFY
    return Image.fromarray(np.clip(error, 0, 255).astype(np.uint8))


def comparison_strip(old: NDArray[np.uint8], new: NDArray[np.uint8], text: str) -> Image.Image:
    """Stored, new and difference in a row, enlarged by a whole factor where they are small; `text` below them.

    old, new: (H, W, 3) display values of one size.
    """
    height, width = new.shape[:2]
    scale = max(1, -(-_LEAST_WIDTH // width))
    letter = font(13)
    line = 20
    parts = [
        ("stored", Image.fromarray(old)),
        ("new", Image.fromarray(new)),
        (f"difference, {AMPLIFY} times", difference_picture(old, new)),
    ]
    step = width * scale + _GAP
    picture = Image.new("RGB", (3 * step + _GAP, height * scale + 2 * line + 2 * _GAP), PAPER)
    draw = ImageDraw.Draw(picture)
    for column, (name, part) in enumerate(parts):
        x = _GAP + column * step
        draw.text((x, _GAP // 2 + 1), name, fill=INK, font=letter)
        larger = part.resize((width * scale, height * scale), Image.Resampling.NEAREST) if scale > 1 else part
        picture.paste(larger, (x, line + _GAP // 2))
    below = line + _GAP + height * scale
    draw.text((_GAP, below), fitting(text, picture.width - 2 * _GAP, letter), fill=INK, font=letter)
    return picture
