from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from diorama.scene_specs.tasks.questions.balance import EXCESS, FREE, Balance, WordBalance, answer_table, chances_of
from diorama.scene_specs.tasks.questions.program import parse_program
from tests.scene_specs.tasks.questions.images import stacked


def test_no_answer_gets_more_than_its_share() -> None:
    balance = Balance()
    for number in range(2000):
        # Four of five candidates are "yes".
        answer = number % 5 != 0
        if balance.admits("exist", answer, 2):
            balance.add("exist", answer)
    counts = balance.counts["exist"]
    assert counts[True] <= FREE + 1 + EXCESS * counts.total() / 2
    assert counts[False] == 400


def test_expected_answers() -> None:
    assert chances_of(True, "boolean", stacked()) == 2
    assert chances_of(3, "integer", stacked()) == 4
    assert chances_of("car", "category", stacked()) == 2
    assert chances_of("red", "color", stacked()) == len({item.values["color"] for item in stacked().objects})


def test_the_table_has_the_share_of_each_answer() -> None:
    balance = Balance()
    for number in range(8):
        balance.add("exist", number < 6)
    line = answer_table(balance.counts).splitlines()[-1]
    assert line.split() == ["exist", "8", "50.0%", "yes", "75.0%", "yes", "75%,", "no", "25%"]


def test_no_word_and_no_number_of_objects_tells_the_answer_of_a_form() -> None:
    """Of the tries, most with red are true, and most with an exact number are of that number."""
    balance, rng = WordBalance(), np.random.Generator(np.random.Philox(1))
    right: Counter[tuple[Any, ...]] = Counter()
    for _ in range(4000):
        color, number = str(rng.choice(["red", "blue"])), int(rng.geometric(0.4))
        program = parse_program(["exist", ["filter_color", color, ["scene"]]])
        for op, answer in (("exist", rng.random() < (0.8 if color == "red" else 0.4)), ("count", number)):
            one = program._replace(op=op)
            if balance.excess(op, one, answer, stacked())[0] <= 0:
                options = balance.add(op, one, answer, stacked())
                assert answer in options
                right[op, color] += 1
                right[op, color, answer] += 1
                right.update((op, option, "offered") for option in options)
                right[op, answer, "right"] += 1
    for color in ("red", "blue"):
        assert right["exist", color] > 500
        assert right["exist", color, True] == pytest.approx(right["exist", color] / 2, abs=10)
    for number in range(1, 6):
        offered = right["count", number, "offered"]
        assert offered > 100 and right["count", number, "right"] == pytest.approx(offered / 4, abs=10)


def test_a_word_that_is_said_twice_tells_no_answer() -> None:
    """Of the tries, most about red things that are red are true, and most about red ones that are blue are not."""
    balance, rng = WordBalance(), np.random.Generator(np.random.Philox(1))
    right: Counter[tuple[bool, bool]] = Counter()
    for _ in range(3000):
        one, other = rng.choice(["red", "blue"], 2).tolist()
        program = parse_program(["none", ["filter_color", one, ["scene"]], ["filter_color", other, ["scene"]]])
        answer = bool(rng.random() < (0.8 if one == other else 0.2))
        if balance.excess("none", program, answer, stacked())[0] <= 0:
            balance.add("none", program, answer, stacked())
            right[one == other, answer] += 1
    for again in (True, False):
        assert right[again, True] > 200 and right[again, True] == pytest.approx(right[again, False], abs=20)
