"""Two renders of one image and their difference, side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from diorama.render.uses.draw.tile_grid import Tile, tile_grid

# Factor of the difference image.
AMPLIFY = 16
_MIN_WIDTH = 240


def difference_picture(old: NDArray[np.uint8], new: NDArray[np.uint8]) -> Image.Image:
    """|old - new| times AMPLIFY, clipped. old, new: (H, W, 3) display values of one size."""
    return Image.fromarray(np.clip(np.abs(old.astype(np.int16) - new) * AMPLIFY, 0, 255).astype(np.uint8))


def comparison_strip(old: NDArray[np.uint8], new: NDArray[np.uint8], text: str) -> Image.Image:
    """Draw the stored image, the new one and their difference in a row, under `text`.

    Small images are enlarged by an integer factor.

    Args:
        old: (H, W, 3) display values of one size.
        new: (H, W, 3) display values of one size.
    """
    height, width = new.shape[:2]
    scale = max(1, -(-_MIN_WIDTH // width))
    images = {
        "stored": Image.fromarray(old),
        "new": Image.fromarray(new),
        f"difference, {AMPLIFY} times": difference_picture(old, new),
    }
    size = (width * scale, height * scale)
    tiles = [Tile(image.resize(size, Image.Resampling.NEAREST), name) for name, image in images.items()]
    return tile_grid(tiles, columns=3, gap=8, notes=[text])
