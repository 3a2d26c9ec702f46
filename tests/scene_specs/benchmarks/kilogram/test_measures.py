"""SND, PND and PSA against slow ones written from their definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from diorama.scene_specs.benchmarks.kilogram.annotations import Annotation
from diorama.scene_specs.benchmarks.kilogram.measures import agreement, divergence, measures, stem, words_of


def made_up(count: int, seed: int) -> list[Annotation]:
    rng = np.random.default_rng(seed)
    names = ["head", "body", "tail", "leg", "wing", "beak", "eye"]
    found = []
    for number in range(count):
        parts = int(rng.integers(1, 8))
        part = tuple(names[int(k)] for k in rng.integers(parts, size=7))
        found.append(Annotation("t", number, f"{names[int(rng.integers(7))]} thing", part))
    return found


def brute_force(one: Annotation, other: Annotation) -> int:
    """The best of all matchings of parts to parts, the fewer to the more."""
    few, many = sorted(([set(v) for v in item.groups().values()] for item in (one, other)), key=len)
    return max(sum(len(a & b) for a, b in zip(few, chosen, strict=True)) for chosen in permutations(many, len(few)))


def test_agreement_is_the_brute_force_one() -> None:
    items = made_up(50, 3)
    pairs = [brute_force(items[i], items[j]) for j in range(50) for i in range(j)]
    assert agreement(items) == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)
    assert len({*pairs}) > 4
    # Each again 99 times: two equal descriptions agree on all seven pieces.
    many = sum(pairs) * 100**2 + 50 * 7 * (100 * 99 // 2)
    assert agreement(items * 100) == pytest.approx(many / (5000 * 4999 / 2), abs=1e-12)


def test_agreement_of_equals_and_extremes() -> None:
    whole = Annotation("t", 0, "x", ("a",) * 7)
    single = Annotation("t", 1, "x", tuple("abcdefg"))
    assert agreement([whole, whole]) == 7
    assert agreement([whole, single]) == 1
    assert agreement([whole]) == 7


def test_divergence_from_the_definition() -> None:
    texts = ["a big dog", "dog", "small cat", "the", "big cats"]
    said = [["big", "dog"], ["dog"], ["small", "cat"], [], ["big", "cat"]]
    assert [list(words_of(text)) for text in texts] == said
    total = 0.0
    for k, words in enumerate(said):
        others = [said[j] for j in range(5) if j != k]
        if words:
            total += sum(sum(word not in other for other in others) / 4 for word in words) / len(words)
    assert divergence(texts) == pytest.approx(total / 5)
    assert divergence(["same", "same"]) == 0
    assert divergence(["one dog", "one cat"]) == pytest.approx(0.5)
    assert divergence(["only"]) == 0


def test_part_names_count_once() -> None:
    one = Annotation("t", 0, "dog", ("leg",) * 3 + ("head",) * 4)
    other = Annotation("t", 1, "dog", ("leg",) * 6 + ("nose",))
    found = measures([one, other])
    assert found["snd"] == 0
    assert found["pnd"] == pytest.approx(0.5)
    assert found["psa"] == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # As published: a token with "/" or "-" is one word, and NLTK splits contractions and punctuation.
        ("head/face of a cat", ["head/fac", "cat"]),
        ("half-moon, sitting", ["half-moon", "sit"]),
        ("the dog's 2 legs!", ["dog", "'s", "2", "leg"]),
        ("can't see", ["ca", "n't", "see"]),
        ("...", []),
    ],
)
def test_tokens_are_the_published_ones(text: str, words: list[str]) -> None:
    assert list(words_of(text)) == words


def test_a_slash_does_not_split_a_word() -> None:
    # "head/face" is one word, which "head" does not share: 1 for the first text, (0 + 1) / 2 if it were split.
    assert divergence(["head/face", "head"]) == 1


@pytest.mark.parametrize(
    ("word", "said"),
    [
        # Of the paper's own examples.
        ("caresses", "caress"), ("ponies", "poni"), ("ties", "tie"), ("cats", "cat"), ("feed", "feed"),
        ("agreed", "agre"),        ("plastered", "plaster"), ("motoring", "motor"), ("sing", "sing"),
        ("conflated", "conflat"), ("hopping", "hop"),
        ("falling", "fall"), ("hissing", "hiss"), ("filing", "file"), ("happy", "happi"), ("sky", "sky"),
        ("relational", "relat"), ("rational", "ration"), ("digitizer", "digit"), ("vietnamization", "vietnam"),
        ("sensibiliti", "sensibl"), ("triplicate", "triplic"), ("hopeful", "hope"), ("goodness", "good"),
        ("adjustable", "adjust"), ("adoption", "adopt"), ("probate", "probat"), ("rate", "rate"), ("cease", "ceas"),
        ("controll", "control"), ("roll", "roll"), ("generalizations", "gener"), ("oscillators", "oscil"),
        ("dying", "die"), ("is", "is"),
    ],
)  # fmt: skip
def test_stems(word: str, said: str) -> None:
    assert stem(word) == said
