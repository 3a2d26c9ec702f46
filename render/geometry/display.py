"""Blender's Standard view transform: linear color to 8-bit display values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_VALUES = (np.arange(255, dtype=np.float64) + 0.5) / 255
# The linear values from which the display byte is 1, 2, ..., 255.
_STEPS = np.where(_VALUES <= 0.04045, _VALUES / 12.92, ((_VALUES + 0.055) / 1.055) ** 2.4).astype(np.float32)


def display(linear: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Apply the sRGB curve to linear values, clip, and round to uint8; same shape.

    A table instead of a power function: the result does not depend on a math library, and NaN becomes 0.
    """
    flat = linear.ravel()
    # Black and white, most of a flat image, need no search. Comparisons with NaN are false.
    shown = np.where(flat >= _STEPS[-1], np.uint8(255), np.uint8(0))
    between = np.flatnonzero((flat >= _STEPS[0]) & (flat < _STEPS[-1]))
    shown[between] = np.searchsorted(_STEPS, flat[between], side="right")
    return shown.reshape(linear.shape)
