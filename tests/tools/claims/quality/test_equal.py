"""The comparison at equal error, on curves whose answer is known."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.claims.quality.metrics import Errors
from tools.claims.quality.report import Row, compare, cost_of, from_truth, samples_at
from tools.claims.quality.results import Result

COUNTS = (32, 128, 512)


def law(samples: float) -> float:
    """PSNR of plain sampling: 40 dB of one sample, ten dB more of ten times as many."""
    return 40 + 10 * math.log10(samples)


def measured(psnr: float, own: float) -> float:
    """What a picture of an error has against a reference with one of its own."""
    return -10 * math.log10(10 ** (-psnr / 10) + 10 ** (-own / 10))


@given(st.floats(0.01, 1000))
def test_on_the_law_of_plain_sampling_every_count_is_found(samples: float) -> None:
    curve = [(law(each), each) for each in (0.5, 2.0, 30.0)]
    found, beyond = samples_at(law(samples), curve)
    assert found == pytest.approx(samples, rel=1e-6)
    if not math.isclose(samples, 0.5) and not math.isclose(samples, 30):
        assert beyond == (not 0.5 <= samples <= 30)


def test_more_samples_that_came_out_worse_gain_nothing() -> None:
    curve = [(40.0, 1.0), (39.0, 2.0), (43.0, 4.0)]
    found, beyond = samples_at(41.5, curve)
    assert found == pytest.approx(math.sqrt(8)) and not beyond


@given(st.floats(1, 5000), st.floats(0, 5), st.floats(0.001, 1))
def test_what_is_fixed_and_what_grows_with_samples_are_told_apart(samples: float, fixed: float, each: float) -> None:
    curve = [(count, fixed + each * count) for count in COUNTS]
    assert cost_of(samples, curve) == pytest.approx(fixed + each * samples)


def test_clocks_that_were_disturbed_give_no_absurd_costs() -> None:
    # The first took far too little: without a bound, four samples would take less than nothing.
    assert cost_of(4, [(32, 1.0), (128, 20.0)]) == pytest.approx(1 / 8)
    # The first took far too long: fewer samples don't cost more for that, nor more of them less.
    assert cost_of(4, [(32, 3.0), (128, 2.0)]) == 3.0
    assert cost_of(1000, [(32, 3.0), (128, 2.0)]) == 2.0


@given(st.floats(30, 55), st.floats(35, 60))
def test_the_references_own_error_is_taken_off(psnr: float, own: float) -> None:
    seen = measured(psnr, own)
    found = from_truth(seen, own)
    assert seen < found <= psnr + 1e-6
    # What lies far below the reference's noise is not known.
    assert found == pytest.approx(min(psnr, seen + 10 * math.log10(2)), abs=1e-6)
    assert from_truth(math.inf, own) == math.inf


def row(name: str, psnr: float, seconds: float) -> Row:
    """One scene, whose picture's own seconds are nine tenths of all, on two cores."""
    steps = {"sampling": 0.9 * seconds, "load": 0.1 * seconds}
    result = Result(steps, 2 * seconds, "", 0.0, path=Path(name, "a.json"))
    return Row(name, (result,), (Errors(psnr, 1.0, 0.0, psnr, (0, 0)),))


def test_a_scene_is_compared_by_all_in_by_its_picture_alone_and_by_processors() -> None:
    recipe = [(count, row(f"published-{count}", law(count), float(count))) for count in (1, 16)]
    (found,) = compare(row("ours", law(8), 0.5), recipe, {"a": math.inf})
    assert (found.recipe, found.recipe_picture, found.recipe_cpu) == pytest.approx((8.0, 7.2, 16.0))
    assert found.samples == pytest.approx(8)
    assert (found.seconds, found.cpu, found.beyond) == (0.5, 1.0, False)
    (found,) = compare(row("ours", law(64), 0.5), recipe, {"a": math.inf})
    assert found.beyond and found.recipe == pytest.approx(64)
    assert compare(row("ours", math.inf, 0.5), recipe, {"a": math.inf}) == []


@pytest.mark.parametrize("samples", [8, 64, 300, 1024, 2048])
def test_neither_loading_nor_a_noisy_reference_changes_the_answer(samples: int) -> None:
    own = law(4096)
    recipe = [(n, row(f"published-{n}", measured(law(n), own), 1.0 + 0.05 * n)) for n in COUNTS]
    (found,) = compare(row("ours", measured(law(samples), own), 0.5), recipe, {"a": own})
    assert found.samples == pytest.approx(samples)
    assert found.recipe == pytest.approx(1.0 + 0.05 * samples)
    assert found.psnr < law(samples)
