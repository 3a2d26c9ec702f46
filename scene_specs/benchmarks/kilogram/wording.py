"""Captions, a whole with its parts, each with its article; and comparison of descriptions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import inflect

_ENGLISH = inflect.engine()


@lru_cache(maxsize=50_000)
def with_article(phrase: str) -> str:
    """Return the phrase after `a` or `an`, or unchanged if its last word is a plural, as the published code does.

    An `a` or `an` that is there is replaced; other determiners get one, too.
    """
    last = phrase.split(" ")[-1].strip()
    if not phrase.strip() or (last and _ENGLISH.singular_noun(last)):
        return phrase
    # It returns nothing for several lines.
    return _ENGLISH.a(phrase) or phrase


def caption(whole: str, parts: Sequence[str]) -> str:
    """Return `a <whole> with a <part>, a <part>, and a <part>`. Two parts keep the comma; without parts, the whole."""
    head = with_article(whole)
    named = [with_article(part) for part in parts]
    if not named:
        return head
    if len(named) == 1:
        return f"{head} with {named[0]}"
    return f"{head} with {', '.join(named[:-1])}, and {named[-1]}"


@lru_cache(maxsize=50_000)
def normalized(text: str) -> tuple[str, ...]:
    """Return the words in lower case without punctuation and articles."""
    words = re.findall(r"[^\W_]+", text.lower())
    return tuple(word for word in words if word not in ("a", "an", "the")) or tuple(words)


def same_text(one: str, other: str) -> bool:
    """Return whether two descriptions differ at most in case, articles, punctuation, and one typo per word.

    A typo: a letter added, removed or replaced, or two letters swapped, in words of at least five letters.
    """
    first, second = normalized(one), normalized(other)
    if len(first) != len(second):
        # Only the spaces may differ: "bow tie", "bowtie".
        return "".join(first) == "".join(second)
    return all(a == b or (min(len(a), len(b)) >= 5 and _one_typo(a, b)) for a, b in zip(first, second, strict=True))


def _one_typo(a: str, b: str) -> bool:
    if abs(len(a) - len(b)) > 1:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    one, other = a[start:], b[start:]
    return (
        one[1:] == other[1:] or one[1:] == other or one == other[1:]
        or (one[:2] == other[1::-1] and one[2:] == other[2:])
    )  # fmt: skip
