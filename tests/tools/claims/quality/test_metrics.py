"""The measures: known values, and what each of them must notice."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.claims.quality.metrics import Picture, errors, flip, mse, psnr, ssim, unit, worst_tile


def noise(seed: int, height: int = 24, width: int = 32) -> Picture:
    return np.random.Generator(np.random.Philox(seed)).random((height, width, 3))


@given(st.integers(0, 2**32), st.floats(0.001, 0.5))
def test_psnr_of_a_constant_difference_is_that_of_its_size(seed: int, shift: float) -> None:
    picture = noise(seed) / 2
    assert psnr(picture, picture + shift) == pytest.approx(-20 * math.log10(shift))


def test_equal_pictures_have_no_error() -> None:
    picture = noise(1)
    found = errors(picture, picture)
    assert found.psnr == found.tile == math.inf
    assert found.ssim == pytest.approx(1.0)
    assert found.flip == 0.0


def test_the_worst_tile_is_where_the_error_is_and_the_edge_counts_whole() -> None:
    picture = noise(2, 20, 30)
    spoiled = picture.copy()
    spoiled[16:20, 24:30] += 0.1
    found, at = worst_tile(picture, spoiled)
    assert at == (24, 16)
    # The last tile is 4 x 6 pixels, and all of it is 0.1 off.
    assert found == pytest.approx(20.0)
    assert psnr(picture, spoiled) > found


def windowed_ssim(a: Picture, b: Picture) -> float:
    """SSIM as its definition reads: one window after another."""
    window = np.exp(-0.5 * (np.arange(-5, 6)[:, None] ** 2 + np.arange(-5, 6) ** 2) / 1.5**2)
    window /= window.sum()
    values = []
    for y in range(a.shape[0] - 10):
        for x in range(a.shape[1] - 10):
            p, q = a[y : y + 11, x : x + 11], b[y : y + 11, x : x + 11]
            mp, mq = (window * p).sum(), (window * q).sum()
            vp, vq = (window * (p - mp) ** 2).sum(), (window * (q - mq) ** 2).sum()
            cov = (window * (p - mp) * (q - mq)).sum()
            top = (2 * mp * mq + 1e-4) * (2 * cov + 9e-4)
            values.append(top / ((mp**2 + mq**2 + 1e-4) * (vp + vq + 9e-4)))
    return float(np.mean(values))


def test_ssim_is_its_definition() -> None:
    a, b = noise(3, 16, 18), noise(4, 16, 18)
    mixed = 0.7 * a + 0.3 * b
    gray = [picture @ [0.2126, 0.7152, 0.0722] for picture in (a, mixed)]
    assert ssim(a, mixed) == pytest.approx(windowed_ssim(*gray), abs=1e-9)


def test_flip_grows_with_the_difference_up_to_black_beside_white() -> None:
    picture = 0.25 + noise(5) / 2
    found = [flip(picture, np.clip(picture + shift, 0, 1)) for shift in (0.0, 0.01, 0.05, 0.2)]
    assert found == sorted(found)
    assert found[0] == 0.0
    assert flip(np.zeros((32, 32, 3)), np.ones((32, 32, 3))) == pytest.approx(1.0, abs=0.05)


def test_a_smeared_highlight_shows_in_the_worst_tile_where_psnr_cannot_tell_it_from_grain() -> None:
    sharp = np.full((48, 64, 3), 0.4)
    sharp[20:24, 30:34] = 1.0
    blurred = sharp.copy()
    blurred[18:26, 28:36] = 0.55
    grain = np.clip(sharp + math.sqrt(mse(sharp, blurred)) * np.sign(noise(6, 48, 64) - 0.5), 0, 1)
    assert psnr(sharp, blurred) == pytest.approx(psnr(sharp, grain), abs=0.5)
    assert worst_tile(sharp, blurred)[0] < worst_tile(sharp, grain)[0] - 5


def test_two_sizes_are_an_error_that_names_both() -> None:
    with pytest.raises(ValueError, match=r"\(24, 32, 3\).*\(20, 32, 3\)"):
        errors(noise(1, 20), noise(1))


def test_bits_are_brought_to_one_scale() -> None:
    eight, sixteen = np.array([0, 255], np.uint8), np.array([0, 65535], np.uint16)
    assert unit(eight).tolist() == unit(sixteen).tolist() == [0.0, 1.0]
