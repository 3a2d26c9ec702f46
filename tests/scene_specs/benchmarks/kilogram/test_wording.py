"""Captions, articles, and texts that are the same but for their writing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.kilogram.examples import (
    caption,
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
        ("owl", "an owl"), ("unicorn", "a unicorn"), ("hour glass case", "an hour glass case"), ("house", "a house"),
        ("european castle", "a european castle"), ("one-eyed man", "a one-eyed man"), ("x-wing", "an x-wing"),
        ("UNKNOWN", "an UNKNOWN"), ("legs", "legs"), ("two men", "two men"),
        ("woman", "a woman"), ("a bird", "a bird"), ("an dinosaur", "a dinosaur"), ("a  swan", "a swan"),
        ("man with long legs", "man with long legs"), ("bird ", "a bird "), ("bird\t", "a bird\t"),
        # Wrong, and in the published captions.
        ("the head", "a the head"), ("octopus", "octopus"), ("dress", "dress"), ("fish", "fish"),
        ("8 ball", "a 8 ball"), ("bus", "bus"), ("two\nlines", "two\nlines"), ("", ""), (" \t", " \t"),
    ],
)  # fmt: skip
def test_articles_as_published(phrase: str, said: str) -> None:
    assert with_article(phrase) == said


@given(st.text(max_size=20) | st.text(" \n\t.#'()-1aeST", max_size=12))
def test_any_text_gets_an_article_or_stays(text: str) -> None:
    bare = re.sub(r"^\s*(an?\s+)?", "", text, flags=re.IGNORECASE)
    assert with_article(text).endswith((text, bare))


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
