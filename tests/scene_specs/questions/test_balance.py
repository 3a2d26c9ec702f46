from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from diorama.scene_specs.questions.balance import EXCESS, FREE, Balance, Guesser, WordBalance, chances_of
from diorama.scene_specs.questions.program import parse_program
from tests.scene_specs.questions.images import stacked


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


def test_a_guesser_learns_a_word_that_gives_the_answer_away() -> None:
    skewed, fair = Guesser(), Guesser()
    draws = np.random.Generator(np.random.Philox(1)).random((400, 2)) < 0.5
    for yes, red in draws.tolist():
        skewed.add("exist", f"Are there any {'red' if yes else 'blue'} cubes?", yes)
        fair.add("exist", f"Are there any {'red' if red else 'blue'} cubes?", yes)
    balance = Balance()
    for number in range(400):
        balance.add("exist", number % 2 == 0)
    ((_, total, chance, _, learned, answers),) = skewed.rows(balance.counts)
    assert (total, chance) == ("400", "50.0%")
    assert float(learned.rstrip("%")) > 99
    assert answers == "yes 50%, no 50%"
    ((*_, guessed, _),) = fair.rows(balance.counts)
    assert 40 < float(guessed.rstrip("%")) < 60
    assert "blind guesser" in fair.table(balance.counts)


def test_a_guesser_does_not_learn_from_the_other_scene_of_a_contrast() -> None:
    """It would know the words, and one of few answers that is not right."""
    pairs, alone = Guesser(), Guesser()
    draws = np.random.Generator(np.random.Philox(1)).integers(0, 8, (400, 2))
    for number, answers in enumerate(draws.tolist()):
        text = f"What color is thing {number}?"
        pairs.add("query", text, str(answers[0]))
        pairs.add("query", text, str(answers[0]), again=True)
        alone.add("query", text, str(answers[0]))
    counts: dict[str, Counter[Any]] = {"query": Counter(str(answer) for answer in draws[:, 0].tolist())}
    (paired,), (single,) = pairs.rows(counts), alone.rows(counts)
    assert paired[4] == single[4] != "100.0%"


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
