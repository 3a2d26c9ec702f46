"""What a denoiser does to whole areas, undone.

OpenImageDenoise keeps neither the mean of an area nor its hue: over bare ground it is off by a tenth of a display
step, everywhere in the same way. The samples it was given are right in the mean, and over a few hundred pixels their
noise is less than that. So the difference between the two, blurred, is added to the denoised picture, less of it where
noise makes it unsure. FLIP falls by an eighth, which three times the samples would not do; PSNR gains 0.1 dB
(docs/quality.md).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TILE = 8
# Of the blur, in tiles: 16 pixels.
_SIGMA = 2.0
_REACH = 6
# How sure a correction must be: it is halved where its variance is a third of its square.
_DOUBT = 3.0


def with_means_kept(denoised: NDArray[np.float32], noisy: NDArray[np.float32]) -> NDArray[np.float32]:
    """The denoised picture with the local means of the noisy one; all (H, W, 3) linear colour.

    Sums are of 64 bits and in a fixed order, so that the result is the same on every processor.
    """
    height, width = denoised.shape[:2]
    difference = noisy.astype(np.float64) - denoised
    difference[~np.isfinite(difference)] = 0.0
    rows, columns = np.arange(0, height, TILE), np.arange(0, width, TILE)
    pixels = np.outer(np.diff([*rows, height]), np.diff([*columns, width])).astype(np.float64)[..., None]
    weight = _blurred(pixels)
    mean = _blurred(_tiles(difference, rows, columns)) / weight
    square = _blurred(_tiles(difference * difference, rows, columns)) / weight
    # As many pixels count as a Gaussian of this width has, 4 pi sigma^2; fewer at the border, where it is cut off.
    counted = 4 * math.pi * (_SIGMA * TILE) ** 2 * weight / _blurred(np.full_like(pixels, TILE * TILE)).max()
    doubt = _DOUBT * np.maximum(square - mean * mean, 0.0) / counted
    sure = mean * mean
    correction = mean * np.divide(sure, sure + doubt, out=np.zeros_like(mean), where=sure > 0)
    return (denoised + _spread(_spread(correction, height, 0), width, 1)).astype(np.float32)


def _tiles(values: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
    """Sums of (H, W, C) over tiles."""
    sums: Floats = np.add.reduceat(np.add.reduceat(values, rows, axis=0), columns, axis=1)
    return sums


def _blurred(grid: Floats) -> Floats:
    """Sums of a grid (rows, columns, C) under a Gaussian; beyond the border there is nothing."""
    for axis in (0, 1):
        room = [(_REACH, _REACH) if k == axis else (0, 0) for k in range(grid.ndim)]
        wide, count = np.pad(grid, room), grid.shape[axis]
        grid = np.zeros_like(grid)
        for step in range(2 * _REACH + 1):
            share = math.exp(-0.5 * ((step - _REACH) / _SIGMA) ** 2)
            grid += share * np.take(wide, range(step, step + count), axis)
    return grid


def _spread(grid: Floats, size: int, axis: int) -> Floats:
    """Values at tiles' centres, interpolated to `size` pixels along an axis; constant beyond the outermost."""
    last = grid.shape[axis] - 1
    place: Floats = np.clip((np.arange(size) + 0.5) / TILE - 0.5, 0, last)
    before = place.astype(np.int64)
    part: Floats = (place - before).reshape([-1 if k == axis else 1 for k in range(grid.ndim)])
    after = np.minimum(before + 1, last)
    spread: Floats = (1 - part) * np.take(grid, before, axis) + part * np.take(grid, after, axis)
    return spread
