"""What a camera does: blur, vignette, noise and blocks, the same bytes everywhere."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from numpy.typing import NDArray

from diorama.render.geometry.camera_finish import finished
from diorama.scene_specs.model.look import Finish

GRAY = np.full((48, 64, 3), 128, dtype=np.uint8)


def ramp() -> NDArray[np.uint8]:
    y, x = np.mgrid[0:45, 0:61]
    made: NDArray[np.uint8] = np.stack([4 * x, 5 * y, 2 * (x + y)], axis=-1).astype(np.uint8)
    return made


def test_nothing_is_nothing() -> None:
    assert np.array_equal(finished(ramp(), Finish(), 7), ramp())


def test_noise_has_its_strength_and_seed() -> None:
    shown = finished(GRAY, Finish(noise=5), 1)
    assert shown.std() == pytest.approx(5, rel=0.05) and shown.mean() == pytest.approx(128, abs=0.3)
    assert np.array_equal(shown, finished(GRAY, Finish(noise=5), 1))
    assert not np.array_equal(shown, finished(GRAY, Finish(noise=5), 2))


def test_blur_keeps_light_and_softens_edges() -> None:
    edge = np.zeros((48, 64, 3), dtype=np.uint8) + np.where(np.arange(64) < 32, 40, 200).astype(np.uint8)[:, None]
    shown = finished(edge, Finish(blur=10), 0)
    steps = np.abs(np.diff(shown[20, :, 0].astype(int)))
    assert steps.max() < 160 and steps.sum() == 160
    assert shown.mean() == pytest.approx(edge.mean(), abs=0.6)


def test_corners_lose_their_share() -> None:
    shown = finished(GRAY, Finish(vignette=0.25), 0)
    assert shown[0, 0, 0] == 96 and shown[24, 32, 0] >= 127


def test_blocks_lose_what_eyes_do_not_see() -> None:
    assert np.array_equal(finished(GRAY, Finish(compression=30), 0), GRAY)
    shown = finished(ramp(), Finish(compression=16), 0)
    error = shown.astype(int) - ramp()
    assert 0 < np.abs(error).mean() < 4
    rough = finished(GRAY, Finish(noise=4, compression=64), 3)
    assert rough.std() < finished(GRAY, Finish(noise=4), 3).std() / 2


def test_the_bytes() -> None:
    shown = finished(ramp(), Finish(blur=1.2, vignette=0.25, noise=4, compression=14), 11)
    assert hashlib.sha256(shown.tobytes()).hexdigest()[:16] == "692c31bd1f1dc711"
