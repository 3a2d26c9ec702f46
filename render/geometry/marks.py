"""What is laid over or behind a rendered picture, in pixels: background and fixation cross. Pure numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from render.geometry.display import display
from scene_specs.stage import StageFixation
from scene_specs.vocabulary import linear_of_srgb


def over_background(
    linear: NDArray[np.float32], alpha: NDArray[np.float32], background: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """Display values (H, W, 3) uint8 of a picture over a plain colour (8-bit sRGB).

    linear: (H, W, 3), alpha: (H, W) share of the pixel that is covered, which `linear` is multiplied by. Where nothing
    is, the background's own bytes stand: a denoiser may leave traces of light there.
    """
    behind = np.array(linear_of_srgb(background), dtype=np.float32)
    share = np.clip(alpha, 0.0, 1.0)[:, :, None].astype(np.float32)
    color = display(linear + (np.float32(1.0) - share) * behind)
    return np.where(share > 0, color, np.array(background, dtype=np.uint8))


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
