"""Words for values: names of sizes, colors and shapes in the singular and plural, relations, numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import Any

import inflect

from diorama.scene_specs.tasks.questions.patterns import GrammarForm
from diorama.scene_specs.tasks.questions.program import EXTREMES, NOUNS, NUMERALS, PAIRS, QUERIED, RELATED

_ENGLISH = inflect.engine()
Words = tuple[str, ...]
ADJECTIVES = ("size", "color", "material")
SIDES, STACKS = RELATED[:4], RELATED[4:]
# Slot -> relations that it stands for.
RELATIONS: Mapping[str, Words] = {"relate": SIDES, "stack": STACKS, "own_side": PAIRS}
COUNTS = range(2, 11)
# Colors that "Is it red, blue, green, or none of these colors?" names.
CHOICES = 3


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Words for values: kind of value -> value -> its word sequences; the first is the plainest."""

    words: Mapping[str, Mapping[Any, tuple[Words, ...]]]

    @cache  # noqa: B019 - lexicons are few and live as long as the program
    def by_first(self, kind: str) -> dict[str, list[tuple[Words, Any]]]:
        """First word -> word sequences of a kind with their values."""
        sequences: dict[str, list[tuple[Words, Any]]] = {}
        for value, forms in self.words[kind].items():
            for words in forms:
                sequences.setdefault(words[0], []).append((words, value))
        return sequences


def make_lexicon(data: GrammarForm, known: Mapping[str, Sequence[str]]) -> Lexicon:
    """Return the words of a grammar for values.

    Args:
        known: attribute -> values; those that the grammar has no words for are their own.

    Raises:
        ValueError: the words of a value are empty.
    """

    def split(texts: Iterable[str]) -> tuple[Words, ...]:
        forms = tuple(tuple(text.lower().split()) for text in texts)
        if not forms or not all(forms):
            raise ValueError("found no word for a value")
        return forms

    words: dict[str, Any] = {}
    for name, values in known.items():
        given = data.values.get(name, {})
        words[name] = {value: split(given.get(value, [value.replace("_", " ")])) for value in values}
    things: tuple[Words, ...] = split(data.things)
    nouns = {("", ""): things, **{(name, v): forms for name in NOUNS for v, forms in words[name].items()}}
    words["one"] = nouns
    words["many"] = {value: tuple(map(_plural_of, forms)) for value, forms in nouns.items()}
    for slot, names in RELATIONS.items():
        words[slot] = {name: split(data.relations[name]) for name in names}
    words["own"] = words["seen"] = words["relate"]
    words["extreme"] = {name: split(data.extremes[name]) for name in EXTREMES}
    words["same"] = {name: split([data.attributes.get(name, name)]) for name in QUERIED}
    words["differ"] = words["same"]
    numbers = {k: str(_ENGLISH.number_to_words(k)) for k in COUNTS}
    words |= {key: {k: split([word]) for k, word in numbers.items()} for key in NUMERALS}
    pairs = combinations(numbers.items(), 2)
    words["between"] = {
        f"{low}-{high}": split([f"{low_word} and {high_word}"]) for (low, low_word), (high, high_word) in pairs
    }
    plain = sorted(known["color"])
    words["among"] = {
        ", ".join(some): split([" , ".join(" ".join(words["color"][color][0]) for color in some)])
        for some in combinations(plain, CHOICES)
    }
    words["see"] = words["visibility"]
    words["fits"] = {(name, v): forms for name in ADJECTIVES for v, forms in words[name].items()}
    return Lexicon(words)


def with_article(words: Sequence[str]) -> list[str]:
    """Return a phrase with "a", "an" or "another" instead of "the"."""
    rest = words[1:] if words[0] == "the" else words
    if rest[0] == "other":
        return ["another", *rest[1:]]
    return [_article_of(rest[0]), *rest]


@lru_cache(maxsize=4096)
def _article_of(word: str) -> str:
    return str(_ENGLISH.a(word)).split()[0]


@lru_cache(maxsize=4096)
def _plural_of(words: Words) -> Words:
    return (*words[:-1], plural(words[-1]))


def plural(noun: str) -> str:
    """Return a noun or noun phrase in the plural, also if it is one already, as in the file names of some models."""
    plural_form = str(_ENGLISH.plural_noun(noun))
    # inflect takes the "glass" of one glass for a plural, too, but makes "glasses" of it.
    return noun if plural_form == f"{noun}s" and _ENGLISH.singular_noun(noun) else plural_form
