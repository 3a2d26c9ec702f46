"""English questions about an image, read with a parser of the third judge's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from operator import and_, eq, ge, gt, le, lt, or_
from typing import Any

from tools.claims.third_judge.world import USUAL, Things, Unclear, World, unclear_if

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
_NAMES = ("size", "color", "material", "shape", "kind")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SUPERLATIVES = ("leftmost", "rightmost", "frontmost", "rearmost", "largest", "biggest", "smallest")
_HIDDEN = {"partly hidden": False, "fully visible": True, "completely visible": True}


class Reader:
    """Reads texts about one image. A phrase is read as all that it can mean: a list of functions without arguments."""

    def __init__(self, world: World) -> None:
        self._world = world
        words: dict[str, list[tuple[str, str]]] = {}
        for name, some in world.values.items():
            for value in sorted({*USUAL[name], *(one for one in some if one)}):
                for word in (value, *_WORDS.get(value, ())):
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
        for words in (*_SIDES, "of the same"):
            for left, right in cuts(text, f" {words} "):
                found += [some & more for some in self.things(left) for more in self.property(f"{words} {right}")]
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
        joins: Sequence[tuple[str, str, Callable[[Things, Things], Things]]] = (
            ("either ", " or ", or_), ("both ", " and ", and_),
            ("neither ", " nor ", lambda one, other: world.all - one - other),
        )  # fmt: skip
        for word, joined, join in joins:
            if text.startswith(word):
                parts = cuts(text.removeprefix(word), joined)
                pairs = (product(self.property(a), self.property(b.removeprefix("else "))) for a, b in parts)
                return [join(*pair) for some in pairs for pair in some]
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
        unclear_if(word not in _SUPERLATIVES or not some, "no superlative")
        return self._world.most(word, some)

    def falling(self, k: int) -> Things:
        """The objects that stand, lean or are in another one, directly or not; not asked if something is in it."""
        unclear_if(self._world.beside("in", k), "it is a container with contents")
        if self._world.beside("leaning", k) and self._world.beside("stands", k):
            raise Unclear("what falls may hold up what leans")
        above = [k]
        for one in above:
            above += sorted(j for side in ("stands", "in", "leaning") for j in self._world.beside(side, one) - {*above})
        return frozenset(above[1:])

    def answers(self, text: str) -> set[Any]:
        """All answers that a question can have."""
        text = re.sub(r" ?([,;]) ", r" \1 ", text.lower().removesuffix("?"))
        for word in self._words:
            # A noun of two words, such as "open cell", is read as one.
            text = text.replace(word.replace("_", " "), word) if "_" in word else text
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
        readers = {"S": self.things, "T": self.kinds, "X": self.object, "P": self.property}
        known = _LITERALS.get(kind, {text: text})
        return readers[kind](text) if kind in readers else [known[text]] if text in known else []


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
        unclear_if(len(some) < least, "too few")
        return test(len(some & those), len(some))

    return meaning


def _vague(test: Callable[[float, float], bool]) -> Callable[..., bool]:
    def meaning(self: Reader, some: Things, those: Things) -> bool:
        if self._world.share is None or not some:
            raise Unclear("no threshold")
        return test(len(some & those) / len(some), self._world.share)

    return meaning


def _between(_: Reader, low: int, high: int, found: frozenset[int]) -> bool:
    unclear_if(low >= high, "no range")
    return low <= len(found) <= high


def _only(_: Reader, some: Things, those: Things) -> bool:
    unclear_if(not those, "nothing is")
    return those <= some


def only(some: Things) -> int:
    """The only object of a set."""
    unclear_if(len(some) != 1, "not one object")
    return min(some)


def _equal(name: str, self: Reader, one: int, other: int, result: bool = True) -> bool:
    return (self.value(name, one) == self.value(name, other)) == result


def _bigger(self: Reader, one: int, other: int) -> bool:
    first, second = (self._world.items[k]["scale"] for k in (one, other))
    unclear_if(max(first, second) < 1.0999 * min(first, second), "of one size")
    return bool(first > second)


def _choice(self: Reader, k: int, *colors: str) -> str:
    return next((one for one in colors if one == self.value("color", k)), "none of these")


# What a slot can say with words of its own. A: an attribute, N: a number, C: a comparison with one, D: a side.
_LITERALS: Mapping[str, Mapping[str, Any]] = {
    "A": {name: name for name in _NAMES},
    "N": {name: k for k, name in enumerate(_NUMBERS)},
    "C": {"exactly": eq, "at least": ge, "at most": le, "more than": gt, "fewer than": lt, "no more than": le},
    "D": dict(list(_SIDES.items())[:4]),
}
# Texts, with "|" between those of one meaning. S: a set; T: a kind; X: an object; P: a property; W: any words; and the
# slots above.
_MEANINGS: Mapping[str, Callable[..., Any]] = {
    "how many {S} are there|what is the number of {S}": lambda _, s: len(s),
    "how many {S} are {P}": lambda _, s, p: len(s & p),
    "would any {S} fall if {X} were taken away": lambda self, s, x: bool(s & self.falling(x)),
    "how many {S} would fall if {X} were taken away": lambda self, s, x: len(s & self.falling(x)),
    "how many {S} would not fall if {X} were taken away": lambda self, s, x: len(s - self.falling(x)),
    "what {A} is the {S} that would fall if {X} were taken away":
        lambda self, a, s, x: self.value(a, only(s & self.falling(x))),
    "not counting {X} , how many {S} are there": lambda _, x, s: len(s - {x}),
    "not counting {T} , how many {S} are there": lambda _, t, s: len(s - t),
    "how many other {S} differ in {A} from {X}": lambda self, s, a, x: len(s - self.alike(a, x)),
    "does any other {S} have the same {A} as {X}": lambda self, s, a, x: bool(s & self.alike(a, x) - {x}),
    "is it true that no other {S} has the same {A} as {X}": lambda self, s, a, x: not s & self.alike(a, x) - {x},
    "not counting {X} , what {A} is the {W} {S}": lambda self, x, a, w, s: self.value(a, self.utmost(w, s - {x})),
    "what {A} is {X}|what is the {A} of {X}": Reader.value,
    "there is {X} ; what {A} is it|there is {X} ; what is its {A}": lambda self, x, a: self.value(a, x),
    "how big is {X}": lambda self, x: self.value("size", x),
    "what is {X} made of|there is {X} ; what is it made of": lambda self, x: self.value("material", x),
    "what kind of object is {X}|there is {X} ; what kind of object is it": lambda self, x: self.value("kind", x),
    "do {X} and {X} have the same {A}": lambda self, x, y, a: _equal(a, self, x, y),
    "is {X} the same {A} as {X}|there is {X} ; does it have the same {A} as {X}":
        lambda self, x, a, y: _equal(a, self, x, y),
    **{f"is the {a} of {{X}} the same as the {a} of {{X}}": partial(_equal, a) for a in _NAMES},
    **{f"is the {a} of {{X}} different from the {a} of {{X}}": partial(_equal, a, result=False) for a in _NAMES},
    "are {X} and {X} made of the same material": partial(_equal, "material"),
    "are {X} and {X} the same kind of object|is {X} the same kind of object as {X}"
    "|there is {X} ; is it the same kind of object as {X}": partial(_equal, "kind"),
    "is {X} larger than {X}|there is {X} ; is it bigger than {X}": _bigger,
    "is {X} smaller than {X}|there is {X} ; is it smaller than {X}": lambda *values: not _bigger(*values),
    "from the point of view of {X} , is {X} {D} {X}": lambda self, p, x, d, y: self._world.sees(d, x, y, p),
    "judging by the way {X} faces , is {X} {D} {X}":
        lambda self, y, x, d, same: self._world.sees(d, x, only(frozenset({y, same})), y),
    "judging by the way {X} faces , are {X} and {X} on the same side (left or right) of {X}":
        lambda self, y, i, j, same: self._world.together(i, j, only(frozenset({y, same})))[0],
    "judging by the way {X} faces , are {X} and {X} on the same side (front or back) of {X}":
        lambda self, y, i, j, same: self._world.together(i, j, only(frozenset({y, same})))[1],
    "is {X} facing {X}": lambda self, y, x: self._world.faces(y, x),
    "are there any {S}|is there a {S}|is there an {S}|is there another {S}": lambda _, s: bool(s),
    "is it true that there are no {S}": lambda _, s: not s,
    "are any of the {S} {P}|of the {S} , are any of them {P}": _at_least(1, lambda yes, _: yes > 0),
    "is it true that none of the {S} are {P}": _at_least(2, lambda yes, _: yes == 0),
    "are all of the {S} {P}|of the {S} , are all of them {P}|is it true that each {S} is {P}":
        _at_least(2, lambda yes, total: yes == total),
    "is it true that not all of the {S} are {P}": _at_least(2, lambda yes, total: yes < total),
    "are most of the {S} {P}|of the {S} , are most of them {P}|are more than half of the {S} {P}":
        _at_least(3, lambda yes, total: yes > total - yes),
    "are exactly half of the {S} {P}|is it true that exactly half of the {S} are {P}":
        _at_least(2, lambda yes, total: yes == total - yes),
    "are fewer than half of the {S} {P}|is it true that fewer than half of the {S} are {P}":
        _at_least(3, lambda yes, total: yes < total - yes),
    "are at least half of the {S} {P}": _at_least(3, lambda yes, total: yes >= total - yes),
    "is it true that few of the {S} are {P}": _vague(le),
    "are many of the {S} {P}|is it true that many of the {S} are {P}": _vague(ge),
    "is it true that not many of the {S} are {P}": _vague(lt),
    "are there only {S} {P}": _only,
    "not counting {X} , are most of the {S} {P}": lambda _, x, s, p: len((s - {x}) & p) * 2 > len(s - {x}),
    "are there an equal number of {S} and {S}|are there exactly as many {S} as {S}"
    "|is the number of {S} equal to the number of {S}": lambda _, s, t: len(s) == len(t),
    "is the number of {S} different from the number of {S}": lambda _, s, t: len(s) != len(t),
    "are there exactly twice as many {S} as {S}": lambda _, s, t: len(s) == 2 * len(t),
    "are there fewer {S} than {S}|is the number of {S} less than the number of {S}": lambda _, s, t: len(s) < len(t),
    "are there more {S} than {S}|is the number of {S} greater than the number of {S}": lambda _, s, t: len(s) > len(t),
    "are there {C} {N} {S}": lambda _, test, n, s: test(len(s), n),
    "not counting {X} , are there {C} {N} {S}": lambda _, x, test, n, s: test(len(s - {x}), n),
    "are {C} {N} of the {S} {P}": lambda _, test, n, s, p: test(len(s & p), n),
    "are there between {N} and {N} {S} , inclusive": _between,
    "is {X} {W} , {W} , {W} , or none of these colors": _choice,
}  # fmt: skip
_QUESTIONS = [
    (parts[::2], parts[1::2], meaning)
    for texts, meaning in _MEANINGS.items()
    for parts in (re.split(r"\{(\w)\}", text) for text in texts.split("|"))
]


def answers(annotation: Mapping[str, Any], threshold: float, line: Mapping[str, Any]) -> set[Any]:
    """All answers to a question that the judge finds; one if the question is clear.

    Args:
        annotation: of the image, as `render-export` writes it.
        threshold: Blender units by which one object must be beside another.
        line: of `render-specs questions`.
    """
    return Reader(World(annotation, threshold, line.get("threshold"))).answers(line["question"])
