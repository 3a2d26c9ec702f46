"""PNG decoding, with a limit on the size."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from PIL.PngImagePlugin import PngImageFile

from diorama.scene_specs.language.pictures import DAMAGED
from diorama.scene_specs.language.scene import MOST_SIDE


def open_png(data: bytes) -> Image.Image:
    """Open a PNG as a Pillow image without decoding it; the caller closes it.

    Pillow's own limit is not used: it refuses sizes that Diorama renders and is global to the process. The limit here
    is MOST_SIDE. Raises OSError or ValueError for data that is not a PNG, or for a larger one.
    """
    try:
        image = PngImageFile(io.BytesIO(data))
    except DAMAGED as error:
        raise UnidentifiedImageError(f"not a PNG: {error}") from error
    if max(image.size) > MOST_SIDE:
        width, height = image.size
        image.close()
        raise UnidentifiedImageError(f"found {width}x{height} pixels; allowed: at most {MOST_SIDE} per side")
    return image


def decode_png(data: bytes) -> NDArray[np.uint8]:
    """Decode a PNG to (H, W, 3) uint8. Raises OSError or ValueError for a damaged or oversized PNG."""
    with open_png(data) as image:
        try:
            return np.asarray(image.convert("RGB"), dtype=np.uint8)
        except DAMAGED as error:
            raise UnidentifiedImageError(f"damaged: {error}") from error
