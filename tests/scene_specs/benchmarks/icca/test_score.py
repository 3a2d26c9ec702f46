"""WND and WNR by hand, and against a reference: what is left of the later message after the longest common part."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.icca.score import content_words, novelty, plain_words, rate

WORDS = st.lists(st.sampled_from(["dirty", "truck", "red", "cube"]), max_size=5)


def reference(earlier: list[str], later: list[str]) -> int:
    """Words that have to be added or replaced: all but the most that can be kept in order. By trying all."""

    def kept(words: tuple[str, ...]) -> bool:
        rest = iter(earlier)
        return all(word in rest for word in words)

    sizes = range(len(later), -1, -1)
    return next(len(later) - size for size in sizes if any(map(kept, combinations(later, size))))


@pytest.mark.parametrize(
    ("earlier", "later", "definition", "published"),
    [
        ("dirty truck", "truck", 0, 1),
        ("truck dirty", "truck", 0, 0),
        ("a b c", "c", 0, 2),
        ("truck", "truck", 0, 0),
        ("truck", "dirty truck", 1, 1),
        ("red cube", "blue cube", 1, 1),
        ("red cube", "blue ball", 2, 2),
        ("", "blue ball", 2, 2),
        ("red cube", "", 0, 2),
        ("", "", 0, 0),
    ],
)
def test_by_hand(earlier: str, later: str, definition: int, published: int) -> None:
    assert novelty(earlier.split(), later.split()) == definition
    assert novelty(earlier.split(), later.split(), published=True) == published


@given(WORDS, WORDS)
def test_against_the_reference(earlier: list[str], later: list[str]) -> None:
    found = novelty(earlier, later)
    assert found == reference(earlier, later)
    assert found <= novelty(earlier, later, published=True) <= found + len(earlier)


@given(WORDS, WORDS)
def test_what_is_free_and_what_costs(earlier: list[str], more: list[str]) -> None:
    assert novelty(earlier, earlier) == 0
    assert novelty(earlier, earlier[::2]) == 0
    assert novelty(earlier, [*earlier, *("new" for _ in more)]) == len(more)


def test_rates() -> None:
    assert rate(1, ["red", "cube"], ["blue", "cube"]) == 0.5
    assert [rate(0, [], []), rate(1, [], ["cube"])] == [0.0, 1.0]
    assert [rate(0, [], [], published=True), rate(1, [], ["cube"], published=True)] == [1.0, 1.0]


def test_words() -> None:
    assert plain_words(" It's the man, with a T-shirt; don't! ") == ["it", "'s", "the", "man", "with", "a", "t-shirt",
                                                                     "do", "not"]  # fmt: skip
    assert content_words("The two dogs are running on it.") == ["two", "dog", "run", "on", "it"]
    assert content_words("a and the") == []
    assert content_words("You can't see, won't see, shan't see and cannot see it") == ["you", *["see"] * 4, "it"]
