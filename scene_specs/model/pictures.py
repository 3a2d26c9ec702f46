"""PNG images, of which a small file may fill the memory."""

from __future__ import annotations

import io
import struct
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from PIL.PngImagePlugin import PngImageFile

from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.model.scene import MOST_SIDE

# Limits of an image of strangers: pixels on a side, bytes.
LONGEST, MOST_BYTES = 4096, 64 << 20
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


def read_picture(file: Path) -> NDArray[np.uint8]:
    """Read a PNG image of strangers, of at most 4096 pixels on a side, as (H, W, 3) RGB.

    Raises:
        SpecError: the file is missing, damaged, too large, or not a PNG.
    """
    try:
        with warnings.catch_warnings():
            # Of transparency, which is ignored.
            warnings.simplefilter("ignore")
            return decode_png(read_foreign(file, MOST_BYTES), LONGEST)
    except FileNotFoundError as error:
        raise spec_error("missing", file=str(file)) from error
    except (OSError, ValueError) as error:
        raise spec_error(f"not an image: {error}", file=str(file)) from error
