"""What a camera does to an image: blur, vignette, sensor noise, and block compression; the same bytes everywhere.

Integers and sums of a fixed order only: matrix products of floats differ between processors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.model.look import Finish
from diorama.scene_specs.rotation import Floats

# The orthonormal cosine transform of eight values, in 1 / 4096.
_ANGLES = np.outer(np.arange(8), 2 * np.arange(8) + 1) * np.pi / 16
_COSINES = np.rint(4096 * np.cos(_ANGLES) * np.where(np.arange(8) == 0, np.sqrt(1 / 8), 0.5)[:, None]).astype(np.int64)
# Share of the largest step by which the lowest frequency is quantized; the highest has the whole.
_LOWEST = 0.25


def finished(color: NDArray[np.uint8], finish: Finish, seed: int) -> NDArray[np.uint8]:
    """Return an image (H, W, 3) as a camera would have taken it; nothing else is random than the seed says."""
    image: Floats = color.astype(np.float64)
    if finish.blur:
        image = _blur(image, finish.blur * color.shape[1] / 1000)
    height, width = color.shape[:2]
    if finish.vignette:
        y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
        image = image * (1 - finish.vignette * (x * x + y * y) / 2)[..., None]
    if finish.noise:
        rng = np.random.Generator(np.random.Philox(seed))
        # Photons are counted, so their noise grows with the root of the light.
        image = image + rng.standard_normal(color.shape) * finish.noise * np.sqrt(np.maximum(image, 16) / 128)
    shown: NDArray[np.uint8] = np.rint(np.clip(image, 0, 255)).astype(np.uint8)
    return _compress_blocks(shown, finish.compression) if finish.compression else shown


def _blur(image: Floats, sigma: float) -> Floats:
    reach = max(1, round(3 * sigma))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    for axis in (0, 1):
        padded = np.pad(image, [(reach, reach) if k == axis else (0, 0) for k in range(3)], mode="edge")
        moved = (np.take(padded, np.arange(k, k + image.shape[axis]), axis=axis) for k in range(2 * reach + 1))
        image = sum((weight * part for weight, part in zip(weights / weights.sum(), moved, strict=True)), np.zeros(()))
    return image


def _compress_blocks(color: NDArray[np.uint8], step: float) -> NDArray[np.uint8]:
    """Quantize the frequencies of 8 x 8 blocks of each channel, the higher the coarser."""
    height, width, _ = color.shape
    padded = np.pad(color, [(0, -height % 8), (0, -width % 8), (0, 0)], mode="edge").astype(np.int64) - 128
    blocks = padded.reshape(padded.shape[0] // 8, 8, padded.shape[1] // 8, 8, 3).transpose(0, 2, 4, 1, 3)
    frequency = np.add.outer(np.arange(8), np.arange(8)) / 14
    steps = np.maximum(np.rint(4096 * step * (_LOWEST + (1 - _LOWEST) * frequency)).astype(np.int64), 4096)
    # In 1 / 4096, as the second product of integers is divided by that.
    spectrum = (_COSINES @ blocks @ _COSINES.T) // 4096
    kept = (2 * spectrum + steps) // (2 * steps) * steps
    # A factor of 4096 is left from the spectrum, two from the products.
    restored = (_COSINES.T @ kept @ _COSINES + 2**35) // 2**36 + 128
    whole = restored.transpose(0, 3, 1, 4, 2).reshape(padded.shape)[:height, :width]
    shown: NDArray[np.uint8] = np.clip(whole, 0, 255).astype(np.uint8)
    return shown
