"""Means that a denoiser changed, put back; without Blender."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from render.cycles.means import TILE, with_means_kept
from render.cycles.passes import Exr
from render.geometry.display import display
from tools.quality.references import display16

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


def shown(linear: Picture) -> NDArray[np.float64]:
    """Display steps of 255, not rounded."""
    return display16(linear) / 257


def lamp(level: float, ground: float) -> tuple[Picture, NDArray[np.bool_]]:
    """A disc of radius 6 and smooth edge on even ground; and what is away from it."""
    y, x = np.mgrid[0:120, 0:160]
    from_centre = np.hypot(x - 80, y - 60)
    part = np.clip(6.5 - from_centre, 0, 1)[..., None]
    picture = ground + (level - ground) * np.repeat(part, 3, axis=2)
    return picture.astype(np.float32), from_centre > 9


@pytest.mark.parametrize("ground", [0.01, 0.05, 0.3])
@pytest.mark.parametrize(("level", "amount", "change"), [(50, 25, 1), (50, 0, 0.9), (50, 5, 0.97), (2, 0.5, 0.95)])
def test_a_lamp_leaves_no_halo(level: float, amount: float, change: float, ground: float) -> None:
    right, away = lamp(level, ground)
    noisy = right + noise(120, 160, amount) * (right > 2 * ground)
    denoised = np.where(right > 2 * ground, right * np.float32(change), right)
    mended = with_means_kept(denoised, noisy)
    assert np.abs(shown(mended) - shown(right))[away].max() < 0.1


@pytest.mark.parametrize("value", [5.0, 50.0, 1000.0])
def test_one_bright_sample_leaves_no_glow(value: float) -> None:
    right = np.full((120, 160, 3), 0.3, np.float32)
    sampled = right + noise(120, 160, 0.02)
    plain = with_means_kept(right, sampled)
    sampled[60, 80] += value
    assert np.abs(shown(with_means_kept(right, sampled)) - shown(plain)).max() < 0.5


def test_light_in_many_bright_samples_is_kept() -> None:
    # As light through glass comes: in one pixel of twenty, all of it.
    right = np.full((240, 320, 3), 0.5, np.float32)
    hit = np.random.Generator(np.random.Philox(3)).random((240, 320, 1)) < 0.05
    sampled = np.where(hit, 4.3, 0.3).astype(np.float32).repeat(3, axis=2)
    mended = with_means_kept(np.full_like(right, 0.3), sampled)
    assert np.abs(mended - right).mean() < 0.05


def test_a_bright_thing_changes_a_dark_one_no_more_than_can_be_seen_of_it() -> None:
    right = np.full((120, 160, 3), 0.01, np.float32)
    right[:, :80] = 0.9
    bias = np.where(right > 0.5, np.float32(0.01), np.float32(0))
    changed = shown(with_means_kept(right - bias, right)) - shown(right - bias)
    seen = (shown(right) - shown(right - bias)).max()
    assert np.abs(changed[:, 80:]).max() <= seen


def test_small_pictures_have_no_more_pixels_than_they_have() -> None:
    # Of 8 x 8 pixels the mean's noise is an eighth of a pixel's; x of a normal distribution as above.
    right = truth(8, 8)
    changes = [with_means_kept(right, right + noise(8, 8, 0.1, seed)) - right for seed in range(200)]
    assert np.sqrt(np.mean(np.square(changes))) < 0.65 * 0.1 / 8


def test_white_stays_as_it_was() -> None:
    white = np.full((40, 40, 3), 1.5, np.float32)
    np.testing.assert_array_equal(with_means_kept(white, white + noise(40, 40, 0.1)), white)


def test_a_profile_that_keeps_means_shows_them_and_a_plain_background_as_it_is() -> None:
    right = truth(40, 40)
    right[:8] = 1.0
    tinted = right - np.float32(0.02)
    exr = Exr.__new__(Exr)
    exr.channels = {f"Combined.{letter}": tinted[..., k] for k, letter in enumerate("RGB")}
    assert np.array_equal(exr.color(keep_means=True), display(tinted)), "without a denoiser there is nothing to mend"
    exr.channels |= {f"Noisy Image.{letter}": right[..., k] for k, letter in enumerate("RGB")}
    assert np.array_equal(exr.color(), display(tinted))
    assert np.array_equal(exr.color(keep_means=True), display(with_means_kept(tinted, right)))
    assert np.abs(exr.color((255, 255, 255), keep_means=True).astype(int) - display(right)).max() <= 1
    assert (exr.color((255, 255, 255), keep_means=True)[:8] == 255).all()
