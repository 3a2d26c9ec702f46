"""English questions about an image, read with a parser of the third judge's own."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from tools.third_judge.world import USUAL, Things, Unclear, World

# Value -> words for it; all other values are their own words.
_WORDS = {
    "large": ("big",), "small": ("tiny",), "metal": ("metallic", "shiny"), "rubber": ("matte",), "cube": ("block",),
    "sphere": ("ball",), "shelf": ("shelves",), "box": ("boxes",), "bench": ("benches",), "person": ("people",),
}  # fmt: skip
_SIDES = {
    "to the left of": "left", "to the right of": "right", "in front of": "front", "behind": "behind",
    "above": "above", "below": "below", "underneath": "below", "on top of": "on",
    "inside": "in", "leaning against": "leaning",
}  # fmt: skip
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMERALS: dict[str, Callable[[int, int], bool]] = {
    "exactly": operator.eq, "at least": operator.ge, "at most": operator.le, "more than": operator.gt,
    "fewer than": operator.lt, "no more than": operator.le,
}  # fmt: skip
_SUPERLATIVES = ("leftmost", "rightmost", "frontmost", "rearmost", "largest", "biggest", "smallest")
_HIDDEN = {"partly hidden": False, "fully visible": True, "completely visible": True}


class Reader:
    """Reads texts about one image. A phrase is read as all that it can mean: a list of functions without arguments."""

    def __init__(self, world: World) -> None:
        self._world = world
        words: dict[str, list[tuple[str, str]]] = {}
        for name, some in world.values.items():
            for value in sorted({*USUAL[name], *(one for one in some if one)}):
                for word in (value.replace("_", " "), *_WORDS.get(value, ())):
                    words.setdefault(word, []).append((name, value))
        self._words = words
        self.things, self.object, self.property = cache(self._things), cache(self._object), cache(self._property)

    def _things(self, text: str) -> list[Things]:
        """What a noun phrase can mean."""
        world, found = self._world, list[Things]()
        text = re.sub(r"^(?:an?|of the|the|other|another) ", "", text)
        text = text.removeprefix("other ")
        for left, right in cuts(text, " that is ", " that are "):
            found += [some & more for some in self.things(left) for more in self.property(right)]
        if text.endswith(" is facing"):
            for left, right in cuts(text.removesuffix(" is facing"), " that "):
                found += [some & world.ahead(k) for some in self.things(left) for k in self.object(right)]
        for words, side in _SIDES.items():
            for left, right in cuts(text, f" {words} "):
                found += [some & world.beside(side, k) for some in self.things(left) for k in self.object(right)]
        for left, right in cuts(text, " of the same "):
            found += [some & more for some in self.things(left) for more in self.property("of the same " + right)]
        *adjectives, noun = text.split(" ")
        some = world.all
        for one in (*adjectives, noun):
            known = self._words.get(one) or (self._words.get(one.removesuffix("s")) if one is noun else None)
            if one is noun and one.removesuffix("s") in ("thing", "object"):
                continue
            if known is None or (known[0][0] == "kind") != (one is noun):
                return found
            some = some & world.having(*known[0])
        return [*found, some]

    def kinds(self, text: str) -> list[Things]:
        """What a noun phrase without an article can mean."""
        return [] if text.startswith("the ") else self.things(text)

    def _object(self, text: str) -> list[int]:
        """What "the ..." can mean. All sides of an expression are the camera's, whether it says so or not."""
        text = text.removesuffix(", from the camera's point of view")
        if not text.startswith(("the ", "a ", "an ", "another ")):
            return []
        world, found = self._world, list[int]()
        rest = text.partition(" ")[2]
        first, _, others = rest.partition(" ")
        if first in _SUPERLATIVES:
            return [world.most(first, some) for some in self.things(others)]
        for left, right in cuts(rest, " nearest to ", " closest to "):
            found += [world.nearest(some, k) for some in self.things(left) for k in self.object(right)]
        found += [min(some) for some in self.things(rest) if len(some) == 1]
        return found

    def _property(self, text: str) -> list[Things]:
        """The objects that have a property."""
        world = self._world
        joins: dict[str, tuple[str, Callable[[Things, Things], Things]]] = {
            "either ": (" or ", operator.or_), "both ": (" and ", operator.and_),
            "neither ": (" nor ", lambda one, other: world.all - one - other),
        }  # fmt: skip
        for word, (joined, join) in joins.items():
            if text.startswith(word):
                return [
                    join(one, other)
                    for left, right in cuts(text.removeprefix(word), joined)
                    for one in self.property(left)
                    for other in self.property(right.removeprefix("else "))
                ]
        for left, right in cuts(text, " or "):
            if both := [one | other for one in self.property(left) for other in self.property(right)]:
                return both
        if text.startswith("not "):
            return [world.all - one for one in self.property(text[4:])]
        if text in _HIDDEN:
            return [frozenset(k for k in world.all if world.visible(k) is _HIDDEN[text])]
        for words, side in _SIDES.items():
            if text.startswith(words + " "):
                return [world.beside(side, k) for k in self.object(text.removeprefix(words + " "))]
        if same := re.fullmatch(r"of the same (\w+) as (.+)", text):
            return [self.alike(same[1], k) - {k} for k in self.object(same[2])]
        if text in self._words and self._words[text][0][0] != "kind":
            return [world.having(*self._words[text][0])]
        # "Either cubes or red things".
        return [] if text.startswith("that ") else self.things(text)

    def value(self, name: str, k: int) -> str:
        """An attribute of an object."""
        found = self._world.values["kind" if name in ("shape", "category") else name][k]
        if found is None:
            raise Unclear(f"an object without {name}")
        return found

    def alike(self, name: str, k: int) -> Things:
        """All objects with the same value of an attribute."""
        return self._world.having("kind" if name == "shape" else name, self.value(name, k))

    def utmost(self, word: str, some: Things) -> int:
        """The leftmost, largest, ... of a set."""
        if word not in _SUPERLATIVES or not some:
            raise Unclear("no superlative")
        return self._world.most(word, some)

    def falling(self, k: int) -> Things:
        """The objects that stand, lean or are in another one, directly or not; not asked if something is in it."""
        if self._world.beside("in", k):
            raise Unclear("it is a container with contents")
        if self._world.beside("leaning", k) and self._world.beside("stands", k):
            raise Unclear("what falls may hold up what leans")
        above = [k]
        for one in above:
            above += sorted(j for side in ("stands", "in", "leaning") for j in self._world.beside(side, one) - {*above})
        return frozenset(above[1:])

    def answers(self, text: str) -> set[Any]:
        """All answers that a question can have."""
        text = re.sub(r" ?([,;]) ", r" \1 ", text.lower().removesuffix("?"))
        found = set()
        for pattern, slots, meaning in _QUESTIONS:
            for parts in splits(pattern, text):
                try:
                    read = [self._slot(kind, part) for kind, part in zip(slots, parts, strict=True)]
                    found |= {meaning(self, *values) for values in product(*read)}
                except Unclear:
                    continue
        return found

    def _slot(self, kind: str, text: str) -> Sequence[Any]:
        readers: dict[str, Callable[[str], Sequence[Any]]]
        readers = {"S": self.things, "T": self.kinds, "X": self.object, "P": self.property, "W": lambda word: [word]}
        return readers[kind](text)


def cuts(text: str, *words: str) -> Iterator[tuple[str, str]]:
    """All ways to cut a text at some words."""
    for word in words:
        start = text.find(word)
        while start >= 0:
            yield text[:start], text[start + len(word) :]
            start = text.find(word, start + 1)


def splits(pattern: Sequence[str], text: str) -> Iterator[list[str]]:
    """All ways in which texts between the literal words of a pattern make up a text."""
    head, *rest = pattern
    if not text.startswith(head):
        return
    text = text[len(head) :]
    if not rest:
        if not text:
            yield []
        return
    if rest == [""]:
        yield [text]
        return
    for left, _ in cuts(text, rest[0]):
        yield from ([left, *more] for more in splits(rest, text[len(left) :]))


def _at_least(least: int, test: Callable[[int, int], bool]) -> Callable[..., bool]:
    def meaning(_: Reader, some: Things, those: Things) -> bool:
        if len(some) < least:
            raise Unclear("too few")
        return test(len(some & those), len(some))

    return meaning


def _vague(few: bool) -> Callable[..., bool]:
    def meaning(self: Reader, some: Things, those: Things) -> bool:
        limit = self._world.share
        if limit is None or not some:
            raise Unclear("no threshold")
        return len(some & those) / len(some) <= limit if few else len(some & those) / len(some) >= limit

    return meaning


def _only(_: Reader, some: Things, those: Things) -> bool:
    if not those:
        raise Unclear("nothing is")
    return those <= some


def _opposite(meaning: Callable[..., bool]) -> Callable[..., bool]:
    return lambda *values: not meaning(*values)


def only(some: Things) -> int:
    """The only object of a set."""
    if len(some) != 1:
        raise Unclear("not one object")
    return min(some)


def _value(name: str) -> Callable[..., str]:
    return lambda self, k: self.value(name, k)


def _equal(name: str) -> Callable[..., bool]:
    return lambda self, one, other: self.value(name, one) == self.value(name, other)


def _bigger(self: Reader, one: int, other: int) -> bool:
    first, second = (self._world.items[k]["scale"] for k in (one, other))
    if max(first, second) < 1.0999 * min(first, second):
        raise Unclear("of one size")
    return bool(first > second)


def _choice(self: Reader, k: int, *colors: str) -> str:
    return next((one for one in colors if one == self.value("color", k)), "none of these")


def _shared(name: str) -> Callable[..., bool]:
    return lambda self, some, k: bool(some & self.alike(name, k) - {k})


def _counts(compare: Callable[[int, int], bool]) -> Callable[..., bool]:
    return lambda _, some, others: compare(len(some), len(others))


def _questions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Texts, with "|" between those of one meaning, and what they mean.

    S: a set; T: a kind; X: an object; P: a property; W: a word.
    """
    yield "how many {S} are there | what is the number of {S}", lambda _, s: len(s)
    yield "how many {S} are {P}", lambda _, s, p: len(s & p)
    yield "would any {S} fall if {X} were taken away", lambda self, s, x: bool(s & self.falling(x))
    yield "how many {S} would fall if {X} were taken away", lambda self, s, x: len(s & self.falling(x))
    yield "how many {S} would not fall if {X} were taken away", lambda self, s, x: len(s - self.falling(x))
    yield "not counting {X} , how many {S} are there", lambda _, x, s: len(s - {x})
    yield "not counting {T} , how many {S} are there", lambda _, t, s: len(s - t)
    for name in ("size", "color", "material", "shape", "kind"):
        yield f"how many other {{S}} differ in {name} from {{X}}", lambda self, s, x, n=name: len(s - self.alike(n, x))
        yield f"does any other {{S}} have the same {name} as {{X}}", _shared(name)
        yield f"is it true that no other {{S}} has the same {name} as {{X}}", _opposite(_shared(name))
        text = f"not counting {{X}} , what {name} is the {{W}} {{S}}"
        yield text, lambda self, x, word, s, n=name: self.value(n, self.utmost(word, s - {x}))
        yield f"what {name} is {{X}} | what is the {name} of {{X}}", _value(name)
        yield f"there is {{X}} ; what {name} is it | there is {{X}} ; what is its {name}", _value(name)
        yield f"do {{X}} and {{X}} have the same {name} | is {{X}} the same {name} as {{X}}", _equal(name)
        yield f"there is {{X}} ; does it have the same {name} as {{X}}", _equal(name)
        yield f"is the {name} of {{X}} the same as the {name} of {{X}}", _equal(name)
        yield f"is the {name} of {{X}} different from the {name} of {{X}}", _opposite(_equal(name))
        text = f"what {name} is the {{S}} that would fall if {{X}} were taken away"
        yield text, lambda self, s, x, n=name: self.value(n, only(s & self.falling(x)))
    yield "how big is {X}", _value("size")
    yield "what is {X} made of | there is {X} ; what is it made of", _value("material")
    yield "are {X} and {X} made of the same material", _equal("material")
    yield "what kind of object is {X} | there is {X} ; what kind of object is it", _value("kind")
    yield "are {X} and {X} the same kind of object | is {X} the same kind of object as {X}", _equal("kind")
    yield "there is {X} ; is it the same kind of object as {X}", _equal("kind")
    yield "is {X} larger than {X} | there is {X} ; is it bigger than {X}", _bigger
    yield "is {X} smaller than {X} | there is {X} ; is it smaller than {X}", _opposite(_bigger)
    for words, side in list(_SIDES.items())[:4]:
        text = f"from the point of view of {{X}} , is {{X}} {words} {{X}}"
        yield text, lambda self, p, x, y, s=side: self._world.sees(s, x, y, p)
        text = f"judging by the way {{X}} faces , is {{X}} {words} {{X}}"
        yield text, lambda self, y, x, same, s=side: self._world.sees(s, x, only(frozenset({y, same})), y)
    yield "is {X} facing {X}", lambda self, y, x: self._world.faces(y, x)
    for k, sides in enumerate(("left or right", "front or back")):
        text = f"judging by the way {{X}} faces , are {{X}} and {{X}} on the same side ({sides}) of {{X}}"
        yield text, lambda self, y, i, j, same, k=k: self._world.together(i, j, only(frozenset({y, same})))[k]
    yield "are there any {S} | is there a {S} | is there an {S} | is there another {S}", lambda _, s: bool(s)
    yield "is it true that there are no {S}", lambda _, s: not s
    yield "are any of the {S} {P} | of the {S} , are any of them {P}", _at_least(1, lambda yes, _: yes > 0)
    yield "is it true that none of the {S} are {P}", _at_least(2, lambda yes, _: yes == 0)
    text = "are all of the {S} {P} | of the {S} , are all of them {P} | is it true that each {S} is {P}"
    yield text, _at_least(2, lambda yes, total: yes == total)
    yield "is it true that not all of the {S} are {P}", _at_least(2, lambda yes, total: yes < total)
    text = "are most of the {S} {P} | of the {S} , are most of them {P} | are more than half of the {S} {P}"
    yield text, _at_least(3, lambda yes, total: yes > total - yes)
    text = "are {0} of the {{S}} {{P}} | is it true that {0} of the {{S}} are {{P}}"
    yield text.format("exactly half"), _at_least(2, lambda yes, total: yes == total - yes)
    yield text.format("fewer than half"), _at_least(3, lambda yes, total: yes < total - yes)
    yield "are at least half of the {S} {P}", _at_least(3, lambda yes, total: yes >= total - yes)
    yield "is it true that few of the {S} are {P}", _vague(True)
    yield "are many of the {S} {P} | is it true that many of the {S} are {P}", _vague(False)
    yield "is it true that not many of the {S} are {P}", _opposite(_vague(False))
    yield "are there only {S} {P}", _only
    yield "not counting {X} , are most of the {S} {P}", lambda _, x, s, p: len((s - {x}) & p) * 2 > len(s - {x})
    yield "are there an equal number of {S} and {S} | are there exactly as many {S} as {S}", _counts(operator.eq)
    yield "are there exactly twice as many {S} as {S}", lambda _, s, t: len(s) == 2 * len(t)
    yield "are there fewer {S} than {S} | is the number of {S} less than the number of {S}", _counts(operator.lt)
    yield "are there more {S} than {S} | is the number of {S} greater than the number of {S}", _counts(operator.gt)
    yield "is the number of {S} equal to the number of {S}", _counts(operator.eq)
    yield "is the number of {S} different from the number of {S}", _counts(operator.ne)
    for k, name in enumerate(_NUMBERS):
        for word, is_true in _NUMERALS.items():
            yield f"are there {word} {name} {{S}}", lambda _, s, k=k, is_true=is_true: is_true(len(s), k)
            text = f"not counting {{X}} , are there {word} {name} {{S}}"
            yield text, lambda _, x, s, k=k, is_true=is_true: is_true(len(s - {x}), k)
            yield f"are {word} {name} of the {{S}} {{P}}", lambda _, s, p, k=k, is_true=is_true: is_true(len(s & p), k)
        for high in range(k + 1, len(_NUMBERS)):
            text = f"are there between {name} and {_NUMBERS[high]} {{S}} , inclusive"
            yield text, lambda _, s, k=k, high=high: k <= len(s) <= high
    yield "is {X} {W} , {W} , {W} , or none of these colors", _choice


def _pattern(text: str) -> tuple[list[str], list[str]]:
    parts = re.split(r"\{(\w)\}", text)
    return parts[::2], parts[1::2]


_QUESTIONS = [(*_pattern(text), meaning) for texts, meaning in _questions() for text in texts.split(" | ")]


def answers(annotation: Mapping[str, Any], threshold: float, line: Mapping[str, Any]) -> set[Any]:
    """All answers to a question that the judge finds; one if the question is clear.

    Args:
        annotation: of the image, as `render-export` writes it.
        threshold: Blender units by which one object must be beside another.
        line: of `render-specs questions`.
    """
    return Reader(World(annotation, threshold, line.get("threshold"))).answers(line["question"])
