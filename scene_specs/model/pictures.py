"""PNG images, of which a small file may fill the memory."""

from __future__ import annotations

import io
import struct

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from PIL.PngImagePlugin import PngImageFile

from diorama.scene_specs.model.scene import MOST_SIDE

# What Pillow raises for damaged and huge images; the last three, for damaged chunks of a PNG.
DAMAGED = (OSError, ValueError, Image.DecompressionBombError, SyntaxError, LookupError, struct.error)


def open_png(data: bytes, longest: int = MOST_SIDE) -> Image.Image:
    """Open a PNG as a Pillow image without decoding it; the caller closes it.

    Pillow's own limit is not used: it refuses sizes that Diorama renders and is global to the process.

    Args:
        data: contents of the file.
        longest: maximum width and height in pixels.

    Raises:
        OSError: the data are not a PNG, or a larger one.
    """
    try:
        image = PngImageFile(io.BytesIO(data))
    except DAMAGED as error:
        raise UnidentifiedImageError(f"expected a PNG file: {error}") from error
    if max(image.size) > longest:
        width, height = image.size
        image.close()
        raise UnidentifiedImageError(f"found {width}x{height} pixels; allowed: at most {longest} per side")
    return image


def decode_png(data: bytes, longest: int = MOST_SIDE) -> NDArray[np.uint8]:
    """Decode a PNG to (H, W, 3) RGB.

    Args:
        data: contents of the file.
        longest: maximum width and height in pixels.

    Raises:
        OSError: the PNG is damaged or too large.
    """
    with open_png(data, longest) as image:
        try:
            return np.asarray(image.convert("RGB"), dtype=np.uint8)
        except DAMAGED as error:
            raise UnidentifiedImageError(f"damaged: {error}") from error
