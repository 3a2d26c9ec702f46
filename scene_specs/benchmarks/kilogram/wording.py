"""Captions, a whole with its parts, each with its article; and comparison of descriptions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_ARTICLE = re.compile(r"(a|an|the|some|one|two|three|four|no|its|his|her|their)\s", re.IGNORECASE)
# Words that start with a vowel but a consonant sound (unicorn, one, European), and the reverse (hour, heir).
_CONSONANT = re.compile(
    r"(uni([^nm]|mo)|use|usu|usa|uti|ura|ute|ufo|uku|eu|ewe|once|one\b|one-|ouija|u-|u\b)", re.IGNORECASE
)
_VOWEL = re.compile(r"(hour|honest|honou?r|heir|herb\b)", re.IGNORECASE)
# Letters whose name starts with a vowel sound: an M, an x-ray, an SUV.
_LETTER = re.compile(r"([aefhilmnorsx])(\b|-)", re.IGNORECASE)
_CAPITALS = re.compile(r"[AEFHILMNORSX][A-Z]*\b")
_NUMBER = re.compile(r"(8\d*|11|18)(?!\d)")

# Nouns whose form does not show their number: plurals without s, singulars with s, and plurals in -us or -is.
_PLURALS = frozenset({
    "feet", "teeth", "geese", "mice", "lice", "men", "women", "children", "people", "oxen", "dice", "antennae", "data",
    "cattle", "police", "hooves",
})  # fmt: skip
_SINGULARS = frozenset({
    "gas", "lens", "canvas", "atlas", "christmas", "chaos", "cosmos", "pancreas", "bias", "alias", "mars", "texas",
    "pegasus",
})  # fmt: skip
_PLURALS_IN_US = frozenset({"menus", "gnus", "emus", "thous", "skis", "taxis", "bikinis"})


def is_plural(word: str) -> bool:
    """Return whether a noun is a plural by its form: it ends in s (not ss, us, is), or is an irregular plural."""
    word = word.lower().strip(".,;:!?\"'")
    if word in _PLURALS or word in _PLURALS_IN_US:
        return True
    if word.endswith(("men", "feet", "teeth", "children")):
        return not word.endswith(("omen", "imen", "emen", "amen")) or word.endswith("women")
    if word in _SINGULARS or not word.endswith("s") or len(word) < 3:
        return False
    return not word.endswith(("ss", "us", "is", "'s"))


def article(phrase: str) -> str:
    """Return `a` or `an`, by the beginning of the phrase."""
    start = phrase.lstrip("\"'([ ")
    capitals = _CAPITALS.match(start) and not start[1:2].islower() and len(start.split()[0]) > 1
    vowel = start[:1].lower() in {*"aeiou"} and not _CONSONANT.match(start)
    spoken = _NUMBER.match(start) or _VOWEL.match(start) or _LETTER.match(start)
    return "an" if capitals or vowel or spoken else "a"


def with_article(phrase: str) -> str:
    """Return the phrase after `a` or `an`, or unchanged if it starts with a determiner or its last word is a plural."""
    words = phrase.split()
    if not words or _ARTICLE.match(phrase.lstrip()) or is_plural(words[-1]):
        return phrase
    return f"{article(phrase)} {phrase}"


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
