"""The comparison at equal error, on curves whose answer is known."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.quality.equal import compare, cost_at
from tools.quality.metrics import Errors
from tools.quality.report import Row
from tools.quality.results import Result


def law(seconds: float) -> float:
    """PSNR of plain sampling: 40 dB in one second, ten dB more in ten times the time."""
    return 40 + 10 * math.log10(seconds)


@given(st.floats(0.01, 1000))
def test_on_the_law_of_plain_sampling_every_cost_is_found(seconds: float) -> None:
    curve = [(law(each), each) for each in (0.5, 2.0, 30.0)]
    found, beyond = cost_at(law(seconds), curve)
    assert found == pytest.approx(seconds, rel=1e-6)
    if not math.isclose(seconds, 0.5) and not math.isclose(seconds, 30):
        assert beyond == (not 0.5 <= seconds <= 30)


def test_a_costlier_picture_that_came_out_worse_gains_nothing() -> None:
    curve = [(40.0, 1.0), (39.0, 2.0), (43.0, 4.0)]
    found, beyond = cost_at(41.5, curve)
    assert found == pytest.approx(math.sqrt(8)) and not beyond


def row(name: str, psnr: float, seconds: float) -> Row:
    """One scene, whose picture's own seconds are nine tenths of all, on two cores."""
    steps = {"sampling": 0.9 * seconds, "load": 0.1 * seconds}
    result = Result(name, "a", steps, 2 * seconds, "", "", 0.0, {}, Path())
    return Row(name, (result,), (Errors(psnr, 1.0, 0.0, psnr, (0, 0)),))


def test_a_scene_is_compared_by_all_in_by_its_picture_alone_and_by_processors() -> None:
    recipe = [row("published-1", law(1), 1.0), row("published-16", law(16), 16.0)]
    (found,) = compare(row("ours", law(8), 0.5), recipe)
    assert (found.recipe, found.recipe_picture, found.recipe_cpu) == pytest.approx((8.0, 7.2, 16.0))
    assert (found.seconds, found.cpu, found.beyond) == (0.5, 1.0, False)
    (found,) = compare(row("ours", law(64), 0.5), recipe)
    assert found.beyond and found.recipe == pytest.approx(64)
    assert compare(row("ours", math.inf, 0.5), recipe) == []
