"""The rule that finds the answer in a reply."""

from __future__ import annotations

import subprocess
import sys
import timeit
from pathlib import Path

import pytest

from diorama.scene_specs.tasks import answer_rule
from diorama.scene_specs.tasks.answer_rule import answer_of

WORDS = ("supri", "ecle", "red cube")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("B", "ecle"),
        ("b", "ecle"),
        (" (B) ", "ecle"),
        ("**B**", "ecle"),
        ("B.", "ecle"),
        ("B. ecle", "ecle"),
        ("B) Ecle.", "ecle"),
        ("ecle", "ecle"),
        ("Red  CUBE\n", "red cube"),
        ("\uff22", "ecle"),  # full width
        ("A is wrong. Answer: C", "red cube"),
        ("Answer: A\nno, the answer is: C: red cube", "red cube"),
        ("B. supri", ""),
        ("Because of B", ""),
        ("D", ""),
        ("A, B", ""),
        ("", ""),
        ("ecle or supri", ""),
        ("B ecle", ""),
    ],
)
def test_replies_to_options_with_letters(reply: str, answer: str) -> None:
    assert answer_of(reply, WORDS, lettered=True) == answer


@pytest.mark.parametrize(
    ("reply", "answer"), [("Yes.", "yes"), ("answer: NO", "no"), ("A", ""), ("yes, it is", ""), ("", "")]
)
def test_replies_to_options_without_letters(reply: str, answer: str) -> None:
    assert answer_of(reply, ("yes", "no")) == answer


LONG = "because " * 200_000


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("red cube", "red cube"),
        (LONG[:900_000] + "Answer: B", "ecle"),
        ("Answer: B" + " " * 100, "ecle"),
        (LONG[:900_000] + "B", ""),
        (" " * 5000 + "B", ""),
        ("Answer: B" + " " * 5000, ""),
        (LONG + "Answer: B", ""),
        ("B" * 10_000_000, ""),
        ("answer " * 1_400_000 + "Answer: B", ""),
    ],
)
def test_long_replies_take_less_than_a_millisecond(reply: str, answer: str) -> None:
    assert answer_of(reply, WORDS, lettered=True) == answer
    seconds = min(timeit.repeat(lambda: answer_of(reply, WORDS, lettered=True), number=1, repeat=20))
    assert seconds < 1e-3, seconds


def test_an_empty_reply_is_no_answer_even_where_an_option_has_no_letters() -> None:
    assert answer_of("", ("?", "yes")) == answer_of("...", ("?", "yes")) == ""


def test_a_text_wins_over_a_letter() -> None:
    assert answer_of("a", ("b", "a"), lettered=True) == "a"


def test_the_file_needs_the_standard_library_only() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from answer_rule import *; print(answer_of('b', 'xy', True))"
    command = [sys.executable, "-ISc", code, str(Path(answer_rule.__file__).parent)]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout == "y\n"
