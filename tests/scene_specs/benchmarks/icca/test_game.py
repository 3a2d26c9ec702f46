"""Games: targets, orders, wrong orders. I1, I2, I3, I6, I13 of the facts about the published games."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.icca.game import LISTENER_VARIANTS, Game, misleading_order, new_game
from diorama.scene_specs.errors import SpecError
from tests.scene_specs.benchmarks.icca.pieces import game

NAMES = ["d.png", "b.png", "a.png", "c.png"]
NUMBERS = st.integers(0, 500)


@given(NUMBERS, st.integers(0, 3), st.integers(0, 2**40))
def test_every_image_is_the_target_once_a_repetition(context: int, number: int, seed: int) -> None:
    made = new_game(context, number, NAMES, (), seed)
    assert made.images == ("a.png", "b.png", "c.png", "d.png")
    assert len(made.targets) == 24
    assert all(sorted(made.targets[k : k + 4]) == [0, 1, 2, 3] for k in range(0, 24, 4))
    assert all(one != other for one, other in pairwise(made.targets))
    assert made.context == context
    assert made == new_game(context, number, NAMES, (), seed)


@given(NUMBERS)
def test_orders_are_independent_permutations_of_the_same_files(context: int) -> None:
    made = new_game(context, 0, NAMES, ())
    for variant in LISTENER_VARIANTS.values():
        orders = [made.listener_order(variant, trial) for trial in range(24)]
        assert all(sorted(order) == [0, 1, 2, 3] for order in (*orders, made.speaker_order))
        assert (len({*orders}) > 1) == variant.shuffle


def test_speaker_and_listener_orders_are_unrelated_over_games() -> None:
    variant = LISTENER_VARIANTS["L3"]
    games = [new_game(k, 0, NAMES, ()) for k in range(600)]
    same = sum(one.speaker_order == one.listener_order(variant, 0) for one in games)
    # 25 expected of 600; the chance of leaving 5 ... 50 is below one in a million.
    assert 5 < same < 50
    assert {one.speaker_order for one in games} == {*permutations(range(4))}


@given(st.integers(0, 2**40), st.text("abc0", min_size=1, max_size=5), st.integers(0, 23))
def test_wrong_orders_leave_nothing_in_its_place(seed: int, name: str, trial: int) -> None:
    assert all(k != value for k, value in enumerate(misleading_order(seed, name, trial)))


def test_wrong_orders_differ_and_each_is_as_likely() -> None:
    counts = Counter(misleading_order(0, f"game {k}", 0) for k in range(1800))
    assert len(counts) == 9
    assert all(140 < count < 265 for count in counts.values())


@pytest.mark.parametrize("name", ["L6", "L7"])
def test_misleading_trials_show_others_and_keep_gold(name: str) -> None:
    variant, one = LISTENER_VARIANTS[name], game()
    for trial in range(24):
        gold, shown = one.listener_order(variant, trial), one.shown_order(variant, trial)
        assert gold == one.listener_order(LISTENER_VARIANTS["L3"], trial)
        wrong = [a != b for a, b in zip(gold, shown, strict=True)]
        assert all(wrong) if trial in variant.misleading_trials else not any(wrong)


def targets(**changes: int) -> tuple[int, ...]:
    found = [0, 1, 2, 3] * 6
    for place, value in changes.items():
        found[int(place[1:])] = value
    return tuple(found)


@pytest.mark.parametrize(
    ("name", "images", "wanted", "problem"),
    [
        ("game", ("a", "b", "c", "d"), targets(), "expected <number of the context>"),
        ("1_x", ("a", "b", "c"), targets(), "expected four different ones"),
        ("1_x", ("a", "b", "c", "c"), targets(), "expected four different ones"),
        ("1_x", ("b", "a", "c", "d"), targets(), "sorted"),
        ("1_x", ("a", "b", "c", "d"), targets()[:23], "found 23 trials; expected 24"),
        ("1_x", ("a", "b", "c", "d"), targets(_9=2), "repetition 2: each image has to be the target once"),
    ],
)
def test_what_is_no_game(name: str, images: Any, wanted: Any, problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        Game(name, images, wanted)
