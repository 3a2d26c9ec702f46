"""What is laid over or behind a rendered picture, in pixels: background and fixation cross. Pure numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scene_specs.language.stage import StageFixation
from scene_specs.language.vocabulary import linear_of_srgb

# A sum of equal samples, divided by their number, comes back with some rounding.
_EXACT = 2e-6


def on_background(
    color: NDArray[np.uint8], sampled: NDArray[np.float32], background: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """A picture (H, W, 3) rendered before a plain color (8-bit sRGB), without the traces a denoiser left on it.

    sampled: (H, W, 3) linear, the picture before it was denoised: where it is the background, no sample met anything.
    """
    behind = np.array(linear_of_srgb(background), dtype=np.float32)
    plain = (np.abs(sampled - behind) <= _EXACT).all(axis=2, keepdims=True)
    return np.where(plain, np.array(background, dtype=np.uint8), color)


def with_fixation(color: NDArray[np.uint8], fixation: StageFixation) -> NDArray[np.uint8]:
    """A copy of a picture (H, W, 3) with the cross in its middle pixel; see StageFixation for its measures."""
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
