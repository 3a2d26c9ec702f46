"""Images of strangers, of which a small file may fill the memory."""

from __future__ import annotations

import io
import struct
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from diorama.scene_specs.language.errors import spec_error
from diorama.scene_specs.language.foreign import read_foreign

LONGEST, MOST_BYTES = 4096, 64 << 20
# What Pillow raises for damaged and huge images; the last three, for damaged chunks of a PNG.
DAMAGED = (OSError, ValueError, Image.DecompressionBombError, SyntaxError, LookupError, struct.error)


def read_picture(file: Path) -> NDArray[np.uint8]:
    """Return a PNG image of at most 4096 pixels on a side, (H, W, 3) RGB. Raises SpecError."""
    try:
        with warnings.catch_warnings():
            # Of an image that is refused below, and of transparency, which is ignored.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(read_foreign(file, MOST_BYTES)), formats=["PNG"]) as picture:
                if max(picture.size) > LONGEST:
                    raise ValueError(f"{picture.width} x {picture.height} pixels; at most {LONGEST} on a side")
                return np.asarray(picture.convert("RGB"))
    except DAMAGED as error:
        reason = "expected a PNG file" if isinstance(error, UnidentifiedImageError) else error
        problem = "missing" if isinstance(error, FileNotFoundError) else f"not an image: {reason}"
        raise spec_error(problem, file=str(file)) from error
