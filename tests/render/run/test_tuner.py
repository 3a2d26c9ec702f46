"""How many workers share a card."""

from __future__ import annotations

import pytest

from diorama.render.run.cards import Tuner


def drive(tuner: Tuner, rates: dict[int, float], seconds: float = 200.0) -> int:
    """A run in which a card gives rates[level] images a second at each level; the level it ends with."""
    images, level = 0.0, tuner.level
    for step in range(int(seconds * 10)):
        level = tuner.observe(step / 10, int(images), settled=True)
        images += rates[level] / 10
    return level


@pytest.mark.parametrize(
    ("rates", "best"),
    [
        ({1: 5.0, 2: 5.1, 4: 9.0, 8: 9.0}, 1),
        ({1: 5.0, 2: 9.0, 4: 9.1, 8: 20.0}, 2),
        ({1: 5.0, 2: 9.0, 4: 16.0, 8: 14.0}, 4),
        ({1: 5.0, 2: 9.0, 4: 16.0, 8: 30.0}, 8),
    ],
)
def test_more_workers_for_as_long_as_they_bring_something(rates: dict[int, float], best: int) -> None:
    tuner = Tuner()
    assert drive(tuner, rates) == best == tuner.chosen
    assert tuner.rates[1] == pytest.approx(5.0, rel=0.1)


def test_nothing_is_judged_before_the_workers_are_warm() -> None:
    tuner = Tuner()
    for second in range(100):
        assert tuner.observe(second, second * 10, settled=False) == 1
    assert tuner.rates == {}
    tuner.observe(100, 1000, settled=True)
    tuner.observe(101, 1001, settled=True)
    assert tuner.rates == {}, "a second is too short to judge by"
