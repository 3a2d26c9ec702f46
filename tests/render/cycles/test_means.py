"""Means that a denoiser changed, put back; without Blender."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from render.cycles.means import TILE, with_means_kept

Picture = NDArray[np.float32]


def noise(height: int, width: int, amount: float, seed: int = 0) -> Picture:
    rng = np.random.Generator(np.random.Philox(seed))
    return np.float32(amount) * rng.standard_normal((height, width, 3), np.float32)


def truth(height: int, width: int) -> Picture:
    y, x = np.mgrid[0:height, 0:width]
    ramp = 0.2 + 0.3 * x / width + 0.2 * y / height
    shown: Picture = np.stack([ramp, ramp * 0.9, ramp * 0.8], axis=-1).astype(np.float32)
    return shown


def test_a_tint_is_undone() -> None:
    right = truth(120, 160)
    tinted = right + np.array([-0.004, 0.002, -0.003], np.float32)
    mended = with_means_kept(tinted, right + noise(120, 160, 0.03))
    assert mended.dtype == np.float32
    before, after = (np.sqrt(np.mean((picture - right) ** 2)) for picture in (tinted, mended))
    assert after < before / 3


def test_a_change_too_small_for_the_noise_is_left() -> None:
    right = truth(480, 640)
    mended = with_means_kept(right, right + noise(480, 640, 0.3))
    # Away from the border the blurred noise alone would change it by 0.3 / sqrt(4 pi 16^2) = 0.0053; for x of a normal
    # distribution the root mean square of x * x^2 / (x^2 + 3) is 0.52.
    assert np.sqrt(np.mean((mended - right)[32:-32, 32:-32] ** 2)) < 0.6 * 0.0053


def test_edges_stay_as_sharp() -> None:
    right = truth(64, 64)
    right[:, 32:] += 0.4
    mended = with_means_kept(right - np.float32(0.003), right)
    assert np.abs(np.diff(mended, axis=1) - np.diff(right, axis=1)).max() < 1e-3


@given(st.integers(1, 3 * TILE + 1), st.integers(1, 3 * TILE + 1))
def test_any_size_and_equal_pictures_are_returned(height: int, width: int) -> None:
    picture = truth(height, width)
    np.testing.assert_array_equal(with_means_kept(picture, picture), picture)
    moved = with_means_kept(picture, picture + np.float32(0.01))
    np.testing.assert_allclose(moved, picture + 0.01, atol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_broken_sample_changes_no_other_pixel(bad: float) -> None:
    right = truth(40, 40)
    sampled = right.copy()
    sampled[7, 9, 1] = bad
    np.testing.assert_array_equal(with_means_kept(right, sampled), right)
