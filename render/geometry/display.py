"""Images as displayed: Blender's Standard view transform, the plain background and the fixation cross."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.language.vocabulary import linear_of_srgb
from diorama.scene_specs.model.stage import StageFixation

# Tolerance for rounding in the mean of equal samples.
_EXACT = 2e-6
_VALUES = (np.arange(256, dtype=np.float64) + 0.5) / 255
# The linear values from which the display byte is 1, 2, ..., 255, and one that is never reached.
_STEPS = np.where(_VALUES <= 0.04045, _VALUES / 12.92, ((_VALUES + 0.055) / 1.055) ** 2.4).astype(np.float32)
# The byte at the start of each bin, in which at most one step lies.
_BINS = 4096
_BYTES = _STEPS.searchsorted(np.arange(_BINS + 1, dtype=np.float32) / _BINS, side="right").astype(np.uint8)


def display(linear: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Apply the sRGB curve to linear values, clip, and round to uint8; same shape.

    A table instead of a power function: the result does not depend on a math library, and NaN becomes 0.
    """
    # Comparisons with NaN are false.
    within = np.where(linear > 0, np.minimum(linear, np.float32(1)), np.float32(0))
    before = _BYTES.take((within * np.float32(_BINS)).astype(np.intp))
    return before + (within >= _STEPS.take(before))


def restore_background(
    color: NDArray[np.uint8], sampled: NDArray[np.float32], background: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """Restore the plain background of a (H, W, 3) image where the denoiser changed it.

    Args:
        sampled: (H, W, 3) linear, the image before denoising. Where it equals the background, no sample hit an object.
        background: 8-bit sRGB.
    """
    behind = np.array(linear_of_srgb(background), dtype=np.float32)
    plain = (np.abs(sampled - behind) <= _EXACT).all(axis=2, keepdims=True)
    return np.where(plain, np.array(background, dtype=np.uint8), color)


def with_fixation(color: NDArray[np.uint8], fixation: StageFixation) -> NDArray[np.uint8]:
    """Copy a (H, W, 3) image and draw the fixation cross at its center; see StageFixation for the dimensions."""
    height, width = color.shape[:2]
    side = min(height, width)
    arm, half = int(fixation.arm * side), int(fixation.width * side) // 2
    x, y = width // 2, height // 2
    crossed = color.copy()
    for across, down in ((arm + half, half), (half, arm + half)):
        rows = slice(max(y - down, 0), y + down + 1)
        columns = slice(max(x - across, 0), x + across + 1)
        crossed[rows, columns] = fixation.color
    return crossed
