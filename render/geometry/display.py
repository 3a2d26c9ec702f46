"""The Standard view transform: linear color to 8-bit display values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def _thresholds() -> NDArray[np.float32]:
    """Linear values at which the rounded display byte steps to 1 .. 255."""
    value = (np.arange(255, dtype=np.float64) + 0.5) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return linear.astype(np.float32)


_STEPS = _thresholds()


def display(linear: NDArray[np.float32]) -> NDArray[np.uint8]:
    """sRGB curve of linear values, clipped and rounded to uint8; same shape.

    By table rather than by power: the result cannot depend on a maths library, and NaN shows as 0.
    """
    flat = linear.ravel()
    # Black and full light, which is most of a flat picture, need no search; a comparison with NaN is false.
    shown = np.where(flat >= _STEPS[-1], np.uint8(255), np.uint8(0))
    between = np.flatnonzero((flat >= _STEPS[0]) & (flat < _STEPS[-1]))
    shown[between] = np.searchsorted(_STEPS, flat[between], side="right")
    return shown.reshape(linear.shape)
