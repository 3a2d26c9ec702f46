from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.mewl.lexicons import (
    SPLITS,
    SYLLABLES,
    allowed,
    draw_words,
    read_real_words,
    split_of,
)

syllables = st.sampled_from(SYLLABLES)


def test_there_are_175_syllables_and_five_million_words_of_three() -> None:
    assert len(SYLLABLES) == len({*SYLLABLES}) == 175
    denied_in_two = sum(not allowed(a + b) for a in SYLLABLES for b in SYLLABLES)
    rng = np.random.Generator(np.random.Philox(1))
    drawn = rng.integers(175, size=(20_000, 3)).tolist()
    share = sum(allowed("".join(SYLLABLES[k] for k in row)) for row in drawn) / len(drawn)
    # Four standard errors above five million, and no shortage of words of two either.
    assert 175**3 * (share - 4 * (0.07 * 0.93 / len(drawn)) ** 0.5) > 5_000_000
    assert 175**2 - denied_in_two > 25_000


@given(st.lists(syllables, min_size=1, max_size=4), st.lists(syllables, min_size=1, max_size=4))
def test_a_word_is_cut_in_one_way(one: list[str], two: list[str]) -> None:
    assert ("".join(one) == "".join(two)) == (one == two)
    if len(one) == len(two) and one != two:
        assert not "".join(one).startswith("".join(two))


@pytest.mark.parametrize("word", ["fame", "hero", "tomato", "potato", "banana", "pagoda", "lovely"])
def test_real_words_are_none(word: str) -> None:
    # `lovely` can't be spelled with the syllables, and needs no place in the list.
    assert (word in read_real_words()) == (word != "lovely")
    assert allowed(word) == (word == "lovely")


@pytest.mark.parametrize("word", ["kikela", "rapetu", "shitaro", "pedola"])
def test_offensive_words_are_none(word: str) -> None:
    assert not allowed(word)


def test_the_list_is_what_the_packages_bring() -> None:
    from tools.mewl_words import spelled

    assert [*read_real_words()] and sorted(read_real_words()) == spelled()


@given(st.integers(0, 2**32), st.sampled_from(SPLITS), st.sampled_from([(3, 2, 2), (6, 0, 3), (3, 0, 3)]))
def test_words_are_fit_and_a_map_belongs_to_one_split(seed: int, split: str, form: tuple[int, int, int]) -> None:
    words = draw_words(np.random.Generator(np.random.Philox(seed)), split, *form)
    mapped, unused, length = form
    assert len(words) == len({*words}) == mapped + unused
    assert all(map(allowed, words))
    assert all(sum(letter in "aeiou" for letter in word) == length for word in words)
    assert not any(b.startswith(a) for a, b in pairwise(sorted(words)))
    # The split can be told from the words alone, in any order: no other split can have the same map.
    assert split_of(words[:mapped]) == split_of(words[:mapped][::-1]) == split


def test_splits_get_their_share_of_maps() -> None:
    rng = np.random.Generator(np.random.Philox(3))
    counts = dict.fromkeys(SPLITS, 0)
    for row in rng.integers(175, size=(7000, 3)).tolist():
        counts[split_of([SYLLABLES[k] for k in row])] += 1
    assert abs(counts["train"] - 5000) < 200
    assert abs(counts["val"] - 1000) < 150
    assert abs(counts["test"] - 1000) < 150
