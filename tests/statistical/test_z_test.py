"""The statistics themselves, with noise made here: how often they fail without a change, and what they notice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.statistical.z_test import FALSE_ALARMS, MOST_DIFFERING, RENDERS, Reference, compare, limit

IDS = np.zeros((36, 48), dtype=np.uint16)
IDS[10:20, 10:30] = 1
SEEDS, RUNS = 256, range(1001, 1061)


def images(seed: int, count: int, noise: float = 8.0) -> NDArray[np.uint8]:
    """Renders of a gray ramp with an object, whose pixels have noise of this standard deviation."""
    random = np.random.Generator(np.random.Philox(seed))
    true = np.linspace(60, 180, 48) + 20 * IDS
    values = true[None, :, :, None] + noise * random.standard_normal((count, 36, 48, 3))
    shown: NDArray[np.uint8] = np.rint(values).clip(0, 255).astype(np.uint8)
    return shown


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference.of(images(0, SEEDS), IDS, "a test")


def test_unchanged_images_pass(reference: Reference) -> None:
    found = [compare(images(seed, RENDERS), reference, 1) for seed in RUNS]
    assert all(one.passes for one in found)
    # The limit isn't simply far away: the largest of 60 runs comes near it.
    assert max(one.region_excess for one in found) > 0.6


def test_z_is_standard_normal(reference: Reference) -> None:
    found = [compare(images(seed, RENDERS), reference, 1) for seed in RUNS]
    assert np.std([one.pixel_z for one in found]) == pytest.approx(1, abs=0.02)
    assert np.std([one.region_z for one in found]) == pytest.approx(1, abs=0.06)


def test_a_small_bias_of_one_object_is_found_and_named(reference: Reference) -> None:
    changed = images(1, RENDERS).astype(int)
    changed[:, IDS == 1, 2] += 1
    found = compare(changed.astype(np.uint8), reference, 1)
    assert found.pixel_excess < 1 < found.region_excess
    assert all(problem.startswith("object 1") and "mean of B" in problem for problem in found.problems())


def test_a_highlight_that_moves_within_an_object_is_found(reference: Reference) -> None:
    changed = images(1, RENDERS).astype(int)
    changed[:, 10:20, 10:14] += 4
    changed[:, 10:20, 26:30] -= 4
    found = compare(changed.astype(np.uint8), reference, 1)
    assert not found.passes
    assert {problem.partition(" in the tile")[0] for problem in found.problems()} == {"object 1"}


def test_few_pixels_that_move_are_found_by_their_number(reference: Reference) -> None:
    changed = images(1, RENDERS)
    changed[:, ::9, ::9] += 20
    found = compare(changed, reference, 1)
    assert found.pixel_excess > 1
    assert f"allowed {MOST_DIFFERING + 2 * reference.differing:.2%}" in found.problems()[0]


def test_one_level_is_found_where_there_is_no_noise() -> None:
    flat = Reference.of(images(0, SEEDS, noise=0), IDS, "a test")
    same = images(1, RENDERS, noise=0)
    assert compare(same, flat, 1).passes
    assert not compare(np.where(IDS[..., None] == 1, same + np.uint8(1), same), flat, 1).passes


def test_rare_bright_samples_widen_what_is_allowed(reference: Reference) -> None:
    """Pixels that are white in one of 50 renders, as below glass, do not fail the test of unchanged images."""

    def spotted(seed: int, count: int) -> NDArray[np.uint8]:
        rare = np.random.Generator(np.random.Philox(10**6 + seed)).random((count, 36, 48, 1)) < 0.02
        return np.where(rare & (IDS[..., None] == 1), np.uint8(255), images(seed, count))

    known = Reference.of(spotted(0, SEEDS), IDS, "a test")
    assert known.differing > reference.differing
    assert all(compare(spotted(seed, RENDERS), known, 1).passes for seed in RUNS)


def test_a_reference_is_read_as_it_was_written(reference: Reference, tmp_path: Path) -> None:
    path = tmp_path / "reference.npz"
    reference.save(path)
    kept = Reference.load(path)
    assert (kept.about, kept.seeds, kept.differing) == (reference.about, SEEDS, reference.differing)
    again = images(1, RENDERS)
    one, other = compare(again, kept, 1), compare(again, reference, 1)
    assert np.array_equal(one.pixel_z, other.pixel_z)
    assert np.array_equal(one.region_z, other.region_z)


def test_limits_are_quantiles_of_student_and_sidak() -> None:
    """Against the table of Student's distribution, 100 degrees of freedom: 97.5 % at 1.984, 99.95 % at 3.390."""
    assert limit(0.05, 1, 101) == pytest.approx(1.984, abs=1e-3)
    assert limit(0.001, 1, 101) == pytest.approx(3.390, abs=1e-3)
    # Sidak: 13 tests at 0.393 % each err together in 5 %.
    assert limit(0.05, 13, 101) == pytest.approx(limit(1 - 0.95 ** (1 / 13), 1, 101), abs=1e-9)
    assert limit(FALSE_ALARMS, 1, 10**9) == pytest.approx(3.891, abs=1e-3)
