"""Captions, articles, and texts that are the same but for their writing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scene_specs.benchmarks.kilogram.wording import (
    article,
    caption,
    is_plural,
    normalized,
    same_text,
    with_article,
)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([], "a bird"),
        (["wing"], "a bird with a wing"),
        (["wing", "eye"], "a bird with a wing, and an eye"),
        (["wing", "feet", "eye"], "a bird with a wing, feet, and an eye"),
    ],
)
def test_the_published_form(parts: list[str], said: str) -> None:
    assert caption("bird", parts) == said


@pytest.mark.parametrize(
    ("phrase", "said"),
    [
        ("owl", "an owl"), ("unicorn", "a unicorn"), ("hour glass", "an hour glass"), ("house", "a house"),
        ("european castle", "a european castle"), ("one-eyed man", "a one-eyed man"), ("x-wing", "an x-wing"),
        ("umbrella", "an umbrella"), ("UFO", "a UFO"), ("SUV", "an SUV"), ("u-boat", "a u-boat"),
        ("8 ball", "an 8 ball"),        ("11 man", "an 11 man"), ("ewe", "a ewe"), ("legs", "legs"),
        ("bus", "a bus"), ("glass", "a glass"),
        ("two men", "two men"), ("men", "men"), ("woman", "a woman"), ("teeth", "teeth"), ("a bird", "a bird"),
        ("the head", "the head"), ("octopus", "an octopus"), ("gas mask", "a gas mask"), ("canvas", "a canvas"),
        ("man with long legs", "man with long legs"), ("UNKNOWN", "an UNKNOWN"), ("omen", "an omen"), ("", ""),
    ],
)  # fmt: skip
def test_articles(phrase: str, said: str) -> None:
    assert with_article(phrase) == said


@given(st.text(max_size=20))
def test_any_text_gets_an_article_or_stays(text: str) -> None:
    assert with_article(text) in (text, f"a {text}", f"an {text}")
    assert article(text) in ("a", "an")
    assert is_plural(text) in (True, False)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("bird", "a Bird.", True), ("The big bird", "big bird", True), ("rabbit", "rabit", True),
        ("house", "houes", True),        ("bow tie", "bowtie", True), ("cat", "bat", False),
        ("bird", "birds", False), ("big bird", "bird", False),
        ("lobster", "lobsters", True), ("horse", "shore", False), ("a", "A", True),
        ("crocodile", "crocodyle", True),
    ],
)  # fmt: skip
def test_same_but_for_the_writing(one: str, other: str, same: bool) -> None:
    assert same_text(one, other) is same
    assert same_text(other, one) is same


@given(st.text(max_size=30), st.text(max_size=30))
def test_sameness_is_mutual(one: str, other: str) -> None:
    assert same_text(one, one)
    assert same_text(one, other) == same_text(other, one)
    assert normalized(one.upper() if one.isascii() else one) == normalized(one)
