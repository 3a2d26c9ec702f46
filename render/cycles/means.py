"""What a denoiser does to whole areas, undone.

OpenImageDenoise keeps neither the mean of an area nor its hue: over bare ground it is off by a tenth of a display
step, everywhere in the same way. The samples it was given are right in the mean, and over a few hundred pixels their
noise is less than that. So the difference between the two, blurred, is added to the denoised picture, less of it where
noise makes it unsure. With all differences alike FLIP fell by an eighth, which three times the samples would not do;
PSNR gained 0.1 dB (docs/quality.md).

What is blurred reaches other things than those it comes from. Differences count by how much they are seen, so that a
bright object leaves no halo on dark ground; of what shows as white, and of its edge, they don't count at all; and
where a few pixels make up all of the noise, it is not known well enough to correct anything by it.
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
_BLUR = [math.exp(-0.5 * ((step - _REACH) / _SIGMA) ** 2) for step in range(2 * _REACH + 1)]
# Sum over weights of single pixels, over the number of pixels that count under the blur (4 pi sigma^2).
_SHARE = (TILE * sum(_BLUR)) ** 2 / (4 * math.pi * (_SIGMA * TILE) ** 2)
# How sure a correction must be: it is halved where its variance is a third of its square.
_DOUBT = 3.0
# Variance made by so many pixels, all others without any, counts twice; of half as many, five times.
_FEW = 64.0
# Pixels about what is white that may show a part of it, by the pixel filter and by what denoisers smear.
_EDGE = 2
# The slope of the sRGB curve is nearly proportional to 1 / (value + this).
_SLOPE = 0.06


def with_means_kept(denoised: NDArray[np.float32], noisy: NDArray[np.float32]) -> NDArray[np.float32]:
    """The denoised picture with the local means of the noisy one; all (H, W, 3) linear colour.

    Sums are of 64 bits and in a fixed order, so that the result is the same on every processor.
    """
    height, width = denoised.shape[:2]
    difference = noisy.astype(np.float64) - denoised
    weight = _seen(denoised.astype(np.float64))
    broken = ~np.isfinite(difference)
    difference[broken] = weight[broken] = 0.0
    seen: Floats = weight * difference
    square: Floats = seen * seen
    each: list[Floats] = [weight, weight * weight, seen, square, square * square]
    rows, columns = np.arange(0, height, TILE), np.arange(0, width, TILE)
    weights, weights2, sums, squares, fourth = (_blurred(_tiles(values, rows, columns)) for values in each)
    mean = _ratio(sums, weights)
    variance = _ratio(np.maximum(squares - mean * mean * weights2, 0.0), weights * weights) * _SHARE
    # One over the number of pixels that make the noise.
    few = _SHARE * _ratio(fourth, squares * squares)
    doubt = _DOUBT * variance * (1.0 + (_FEW * few) ** 2)
    sure = mean * mean
    correction = mean * _ratio(sure, sure + doubt)
    return (denoised + _spread(_spread(correction, height, 0), width, 1)).astype(np.float32)


def _seen(denoised: Floats) -> Floats:
    """Weights of differences: as a small one shows on a display, 0 for what is white there and beside it."""
    weight: Floats = 1.0 / (np.clip(np.nan_to_num(denoised), 0.0, 1.0) + _SLOPE)
    white = denoised >= 1.0
    for axis in (0, 1):
        room = [(_EDGE, _EDGE) if k == axis else (0, 0) for k in range(3)]
        wide, count = np.pad(white, room), white.shape[axis]
        white = np.logical_or.reduce([wide.take(range(k, k + count), axis) for k in range(2 * _EDGE + 1)])
    weight[white] = 0.0
    return weight


def _ratio(above: Floats, below: Floats) -> Floats:
    """above / below, 0 where nothing is below."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


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
        for step, share in enumerate(_BLUR):
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
