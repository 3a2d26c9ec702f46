"""Measure the error of an image against its reference: PSNR, SSIM, FLIP and the worst tile, on display values.

Both images are (H, W, 3) display values from 0 to 1 (the sRGB curve of linear color, clipped), the reference first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import flip_evaluator
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

Picture = NDArray[np.float64]

TILE = 8
# SSIM as published (Wang et al. 2004): a Gaussian window of 11 x 11, and the constants that avoid 0 / 0.
_SIGMA, _RADIUS = 1.5, 5
_C1, _C2 = 0.01**2, 0.03**2
# Rec. 709 luma of display values; SSIM is defined on gray.
_LUMA = np.array([0.2126, 0.7152, 0.0722])


@dataclass(frozen=True)
class Errors:
    """All errors of one image.

    psnr, tile: dB, of the image and of its worst 8 x 8 tile. ssim: 1 is equal. flip: mean, 0 is equal.

    tile_at: (x, y) of that tile's top left pixel.
    """

    psnr: float
    ssim: float
    flip: float
    tile: float
    tile_at: tuple[int, int]


def mse(reference: Picture, picture: Picture) -> float:
    """Return the mean squared difference over pixels and channels."""
    return float(np.mean((reference - picture) ** 2))


def psnr_of(mean_square: float) -> float:
    """Return the PSNR of a mean squared error, dB; inf for 0."""
    return math.inf if mean_square == 0 else -10 * math.log10(mean_square)


def psnr(reference: Picture, picture: Picture) -> float:
    """Return the peak signal-to-noise ratio over pixels and channels, dB."""
    return psnr_of(mse(reference, picture))


def worst_tile(reference: Picture, picture: Picture) -> tuple[float, tuple[int, int]]:
    """Return the PSNR of the tile with the largest mean squared difference, dB, and its top left pixel (x, y).

    Tiles start at the top left; those at the right and lower edge may be smaller.
    """
    squares = ((reference - picture) ** 2).mean(axis=2)
    height, width = squares.shape
    rows, columns = np.arange(0, height, TILE), np.arange(0, width, TILE)
    sums = np.add.reduceat(np.add.reduceat(squares, rows, axis=0), columns, axis=1)
    counts = np.outer(np.diff([*rows, height]), np.diff([*columns, width]))
    means = sums / counts
    y, x = np.unravel_index(int(np.argmax(means)), means.shape)
    return psnr_of(float(means[y, x])), (int(x) * TILE, int(y) * TILE)


def _blurred(plane: Picture) -> Picture:
    """Return the weighted mean at each position of the window inside the image: (H - 10, W - 10)."""
    blurred: Picture = gaussian_filter(plane, _SIGMA, radius=_RADIUS)
    return blurred[_RADIUS:-_RADIUS, _RADIUS:-_RADIUS]


def ssim(reference: Picture, picture: Picture) -> float:
    """Return the mean structural similarity of luma (Wang, Bovik, Sheikh, Simoncelli 2004), 1 for equal images.

    Images must not be smaller than the window of 11 x 11.
    """
    a, b = reference @ _LUMA, picture @ _LUMA
    mean_a, mean_b = _blurred(a), _blurred(b)
    var_a, var_b = _blurred(a * a) - mean_a**2, _blurred(b * b) - mean_b**2
    covariance = _blurred(a * b) - mean_a * mean_b
    above = (2 * mean_a * mean_b + _C1) * (2 * covariance + _C2)
    return float(np.mean(above / ((mean_a**2 + mean_b**2 + _C1) * (var_a + var_b + _C2))))


def flip(reference: Picture, picture: Picture) -> float:
    """Return the mean LDR-FLIP (Andersson et al. 2020), by the authors' library, at their 67 pixels per degree.

    0 is equal, 1 the largest difference.
    """
    pair = (np.ascontiguousarray(each, dtype=np.float32) for each in (reference, picture))
    _, mean, _ = flip_evaluator.evaluate(*pair, "LDR", applyMagma=False)
    return float(mean)


def errors(reference: Picture, picture: Picture) -> Errors:
    """Return all errors of one image. Raises ValueError if the sizes differ."""
    if reference.shape != picture.shape:
        raise ValueError(f"found an image of {picture.shape}, expected the reference's {reference.shape}")
    tile, at = worst_tile(reference, picture)
    return Errors(psnr(reference, picture), ssim(reference, picture), flip(reference, picture), tile, at)


def unit(picture: NDArray[np.uint8] | NDArray[np.uint16]) -> Picture:
    """Convert display values of 8 or 16 bits to 0 to 1."""
    return picture / float(np.iinfo(picture.dtype).max)
