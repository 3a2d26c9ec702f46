"""Background and fixation cross of a rendered image, in pixels. Pure numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.language.stage import StageFixation
from diorama.scene_specs.language.vocabulary import linear_of_srgb

# Tolerance for rounding in the mean of equal samples.
_EXACT = 2e-6


def on_background(
    color: NDArray[np.uint8], sampled: NDArray[np.float32], background: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """Restore the plain background (8-bit sRGB) of a (H, W, 3) image where the denoiser changed it.

    sampled: (H, W, 3) linear, the image before denoising. Where it equals the background, no sample hit an object.
    """
    behind = np.array(linear_of_srgb(background), dtype=np.float32)
    plain = (np.abs(sampled - behind) <= _EXACT).all(axis=2, keepdims=True)
    return np.where(plain, np.array(background, dtype=np.uint8), color)


def with_fixation(color: NDArray[np.uint8], fixation: StageFixation) -> NDArray[np.uint8]:
    """A copy of a (H, W, 3) image with the fixation cross at its center; see StageFixation for the dimensions."""
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
