"""PNG images of strangers."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.model.pictures import decode_png

# Limits of an image: pixels on a side, bytes.
LONGEST, MOST_BYTES = 4096, 64 << 20


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
