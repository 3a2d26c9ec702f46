"""Descriptions as English, and English back as descriptions: the words that built-in speakers and listeners know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from scene_specs.benchmarks.icca.picture import MOST_THINGS, Picture, picture_of

# Adjectives in the order of English, then what is a noun.
ORDER: tuple[str, ...] = ("size", "color", "material", "shape", "category", "part")
NOUNS: tuple[str, ...] = ("shape", "category", "part")
RELATION_WORDS: Mapping[str, str] = MappingProxyType({"left": "left of", "front": "in front of"})
# What a listener understands besides.
_HEARD = MappingProxyType(
    {"left of": "left", "right of": "right", "in front of": "front", "front of": "front", "behind": "behind"}
)
_ORDINALS: tuple[str, ...] = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
_RELATION = re.compile(r"\b(left of|right of|in front of|front of|behind)\b")
_NO_NOUN = "thing"
_AGAIN = re.compile(rf"\bthe\b(?: ({'|'.join(_ORDINALS)})\b)?")


def noun_phrase(thing: Iterable[tuple[str, str]], article: str = "a") -> str:
    """`a small red metal cube`; without a noun `a red thing`."""
    values = dict(thing)
    words = [values[name] for name in ORDER if name in values]
    if not any(name in values for name in NOUNS):
        words.append(_NO_NOUN)
    if article == "a":
        article = "" if words[-1].endswith("s") and words[-1][-2:] not in ("ss", "us") else article
    if article == "a" and words[0][0] in "aeiou":
        article = "an"
    return " ".join([article, *words] if article else words)


def text_of(description: Picture) -> str:
    """`a red cube and a sphere left of a small cylinder`; each relation is a clause, things without one stand alone.

    Of things of which the same is said: `a cube`, `another cube`, `a third cube`; then `the first cube`, ...
    """
    said: list[int] = []

    def phrase(k: int) -> str:
        thing, first = description.things[k], k not in said
        if first:
            said.append(k)
        place = [j for j in said if description.things[j] == thing].index(k)
        if description.things.count(thing) == 1:
            article = "a" if first else "the"
        else:
            ordinal = _ORDINALS[place]
            article = ("a", "another", *(f"a {word}" for word in _ORDINALS[2:]))[place] if first else f"the {ordinal}"
        return noun_phrase(thing, article)

    related = {k for _, *pair in description.relations for k in pair}
    clauses = [phrase(k) for k in range(len(description.things)) if k not in related]
    clauses += [f"{phrase(a)} {RELATION_WORDS[name]} {phrase(b)}" for name, a, b in description.relations]
    return " and ".join([", ".join(clauses[:-1]), clauses[-1]] if len(clauses) > 1 else clauses)


class Lexicon:
    """The values that pictures have, word by word."""

    def __init__(self, pictures: Sequence[Picture]) -> None:
        self._names: dict[str, str] = {}
        for picture in pictures:
            for thing in picture.things:
                for name, value in thing:
                    self._names.setdefault(value, name)
        longest = sorted(self._names, key=lambda value: (-len(value), value))
        # Of no value at all nothing is understood; an empty alternative would be found everywhere.
        words = "|".join(map(re.escape, longest)) or r"(?!)"
        self._pattern = re.compile(rf"(?<![\w-])({words})(?![\w-])")

    def parse(self, message: str) -> Picture:
        """What a message says, as far as it is known; words that name no value are passed over.

        Values up to the next value of the same kind, comma, `and` or relation are of one thing; `the` and what was said
        before is that thing again, or `the first`, `the second` of them. A `thing` without values counts where it
        stands in a relation. Of more things than a picture can show, the first are taken.
        """
        things: list[dict[str, str]] = []
        relations: list[tuple[str, int, int]] = []
        for clause in re.split(r"[,;.]|\band\b", message.lower()):
            sides = _RELATION.split(clause)
            at = [self._add(side, things, len(sides) > 1) for side in sides[::2]]
            for k, heard in enumerate(sides[1::2]):
                if at[k] and at[k + 1]:
                    relations.append((_HEARD[heard], at[k][-1], at[k + 1][0]))
        return picture_of(things, relations)

    def _add(self, text: str, things: list[dict[str, str]], related: bool) -> list[int]:
        """Places of the things that a piece of text speaks of; related: it is one side of a relation."""
        found: list[dict[str, str]] = []
        for value in self._pattern.findall(text):
            name = self._names[value]
            if not found or name in found[-1]:
                found.append({})
            found[-1][name] = value
        if related and not found and re.search(rf"\b{_NO_NOUN}\b", text):
            found.append({})
        again = _AGAIN.search(text)
        places = []
        for thing in found:
            alike = [k for k, one in enumerate(things) if one == thing]
            if again and alike:
                which = _ORDINALS.index(again[1]) if again[1] else 0
                places.append(alike[min(which, len(alike) - 1)])
            elif len(things) < MOST_THINGS:
                things.append(thing)
                places.append(len(things) - 1)
        return places
