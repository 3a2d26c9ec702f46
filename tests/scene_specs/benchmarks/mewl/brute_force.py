"""A second proof that a MEWL episode can be solved: write down every lexicon. It shares no code with the first one.

A learner sees the objects, relations, pointing and utterances of six context images, a query image and its options. It
may believe in any lexicon (word -> meaning) under which all utterances of the contexts are true and no two words mean
the same. The episode is good if there is such a lexicon, and under each of them the stored answer, and no other
option, is true of the query. Slow and plain on purpose. Where the rules leave something open, this is what is taken:

1. The lexicon covers the words of contexts and options. A word of an option that no context used means
   - in shape, color and material a value that no other word means, of the type that all words share, or nothing at all:
     two of the five options are dummies, and three shapes are not enough for five words;
   - in composite, relation, number and pragmatic something that no other word means: these tasks have no dummies, so
     mutual exclusivity may tell the last word (with `exclusion=False` it may mean nothing there too);
   - in object and bootstrap an object that no context showed: one of the query, or one that is not to be seen.
2. In composite the two types differ: one object can't have two values of one type, and no two words mean the same.
3. In bootstrap the third object of an image may be a named one. That no named object is ever a distractor is how the
   published episodes are made, and a learner who did not know it must still find the answer.
4. Counts are 1 to 6. The pointing hand is not an object: it takes no attribute from the pointed object.
5. That each relation is taught by exactly two contexts, and which counts a number episode shows, is not used either.
6. A lexicon under which no option is true, or two are (also two spellings of one), picks nothing: the episode is bad.
7. If two objects of an image fit a noun phrase or a word, an utterance is true if it is true of any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Any

VALUES = {
    "shape": ("cube", "sphere", "cylinder"),
    "color": ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"),
    "material": ("rubber", "metal", "glass"),
    "size": ("large", "small"),
}
RELATIONS = ("left", "right", "front", "behind")

# What a word may mean: ("color", "red"), ("number", "3"), ("left",), an object as its four values, ...
Meaning = tuple[str, ...]
Lexicon = Mapping[str, Meaning]


@dataclass(frozen=True)
class Image:
    """What is to be seen; relations: (i, "left", j) where object i is on the left of object j."""

    utterance: str
    objects: tuple[Mapping[str, str], ...]
    relations: frozenset[tuple[int, str, int]]
    pointed: int | None


@dataclass(frozen=True)
class Episode:
    """All that a learner sees; used: the words of the contexts, and of familiar words those too, in no order."""

    contexts: tuple[Image, ...]
    query: Image
    options: tuple[str, ...]

    @property
    def used(self) -> frozenset[str]:
        return frozenset(word for image in self.contexts for word in image.utterance.split())


@dataclass(frozen=True)
class Rules:
    """One belief about how words mean: the words of an utterance, what a word may mean, when an utterance is true."""

    belief: str
    words: Callable[[str], list[str]]
    meanings: Callable[[str], list[Meaning]]
    true: Callable[[Lexicon, str, Image], bool]


@dataclass(frozen=True)
class Verdict:
    """accepted, why or why not, and for each set of true options how many lexicons pick it."""

    accepted: bool
    reason: str
    picks: Mapping[tuple[str, ...], int]


# ---- what is seen


def _relations(frame: Mapping[str, Any]) -> frozenset[tuple[int, str, int]]:
    """All that follows from a frame's constraints: opposites, and chains of one direction."""
    index = {item["name"]: i for i, item in enumerate(frame["objects"])}
    found: set[tuple[int, str, int]] = set()
    for item in frame.get("constraints", ()):
        if "relation" in item:
            found.add((index[item["subject"]], item["relation"], index[item["of"]]))
    while True:
        opposite = {"left": "right", "right": "left", "front": "behind", "behind": "front"}
        more = {(j, opposite[relation], i) for i, relation, j in found}
        more |= {(i, r, k) for i, r, j in found for j2, r2, k in found if (r, j) == (r2, j2)}
        if more <= found:
            return frozenset(found)
        found |= more


def _image(frame: Mapping[str, Any], related: bool) -> Image:
    objects = tuple({kind: item[kind] for kind in VALUES} for item in frame["objects"])
    names = [item["name"] for item in frame["objects"]]
    pointed = names.index(frame["pointer"]["target"]) if "pointer" in frame else None
    relations = _relations(frame)
    for i, j in permutations(range(len(objects)), 2) if related else ():
        for one, other in (("left", "right"), ("front", "behind")):
            if ((i, one, j) in relations) == ((i, other, j) in relations):
                raise ValueError(f"{frame.get('name')}: nothing or too much says how {names[i]} and {names[j]} stand")
    return Image(frame.get("utterance") or "", objects, relations, pointed)


def seen(spec: Mapping[str, Any]) -> Episode:
    """What a learner sees of an episode's JSON data. Raises ValueError where an image leaves a relation open."""
    related = spec["task"]["name"] in ("relation", "bootstrap")
    contexts = tuple(_image(frame, related) for frame in spec["frames"] if frame.get("utterance"))
    queries = [_image(frame, related) for frame in spec["frames"] if not frame.get("utterance")]
    if len(queries) != 1:
        raise ValueError(f"found {len(queries)} images without an utterance, expected one, the query")
    return Episode(contexts, queries[0], tuple(spec["task"]["options"]))


def _whole(item: Mapping[str, str]) -> Meaning:
    return tuple(item[kind] for kind in VALUES)


# ---- the rules of the tasks


def _nothing(episode: Episode, word: str) -> list[Meaning]:
    """No object has this, and no other word means it."""
    return [] if word in episode.used else [("nothing", word)]


def _attribute_rules(episode: Episode) -> Iterator[Rules]:
    """shape, color, material: "w" of one object."""
    for kind, values in VALUES.items():

        def meanings(word: str, kind: str = kind, values: Sequence[str] = values) -> list[Meaning]:
            return [(kind, value) for value in values] + _nothing(episode, word)

        def true(lexicon: Lexicon, utterance: str, image: Image, kind: str = kind) -> bool:
            return any(lexicon[utterance] == (kind, item[kind]) for item in image.objects)

        yield Rules(f"words name a {kind}", str.split, meanings, true)


def _composite_rules(episode: Episode) -> Iterator[Rules]:
    """ "w1 w2" of one object."""
    for types in permutations(("shape", "color", "material"), 2):

        def meanings(word: str, types: tuple[str, ...] = types) -> list[Meaning]:
            texts = [image.utterance for image in episode.contexts] + list(episode.options)
            places = {place for text in texts for place, other in enumerate(text.split()) if other == word}
            return [(types[place], value) for place in sorted(places) for value in VALUES[types[place]]]

        def true(lexicon: Lexicon, utterance: str, image: Image, types: tuple[str, ...] = types) -> bool:
            pairs = list(zip(utterance.split(), types, strict=True))
            return any(all(lexicon[word] == (kind, item[kind]) for word, kind in pairs) for item in image.objects)

        yield Rules(f"words name {types[0]} and {types[1]}", str.split, meanings, true)


def _objects(episode: Episode, word: str) -> list[Meaning]:
    """What a word may mean that names an object. All objects that neither a context nor the query shows are alike."""
    shown = sorted({_whole(item) for image in episode.contexts for item in image.objects})
    if word in episode.used:
        return shown
    return [_whole(item) for item in episode.query.objects if _whole(item) not in shown] + [("not to be seen", word)]


def _object_rules(episode: Episode) -> Iterator[Rules]:
    """ "w1 and w2 and w3" of three objects."""

    def words(utterance: str) -> list[str]:
        return utterance.split(" and ")

    def true(lexicon: Lexicon, utterance: str, image: Image) -> bool:
        return sorted(lexicon[word] for word in words(utterance)) == sorted(map(_whole, image.objects))

    yield Rules("words name objects", words, lambda word: _objects(episode, word), true)


def _bootstrap_rules(episode: Episode) -> Iterator[Rules]:
    """ "w1 left w2": the relations are familiar."""

    def words(utterance: str) -> list[str]:
        return [utterance.split()[0], utterance.split()[2]]

    def true(lexicon: Lexicon, utterance: str, image: Image) -> bool:
        first, relation, second = utterance.split()
        wholes = [_whole(item) for item in image.objects]
        return any(
            (wholes[i], r, wholes[j]) == (lexicon[first], relation, lexicon[second]) for i, r, j in image.relations
        )

    yield Rules("words name objects", words, lambda word: _objects(episode, word), true)


def _relation_rules(episode: Episode) -> Iterator[Rules]:
    """ "cyan cube WORD red sphere": colors and shapes are familiar."""

    def words(utterance: str) -> list[str]:
        return [utterance.split()[2]]

    def true(lexicon: Lexicon, utterance: str, image: Image) -> bool:
        color, shape, word, color2, shape2 = utterance.split()
        phrases = [(item["color"], item["shape"]) for item in image.objects]
        return any(
            (phrases[i], (r,), phrases[j]) == ((color, shape), lexicon[word], (color2, shape2))
            for i, r, j in image.relations
        )

    yield Rules("words name relations", words, lambda word: [(relation,) for relation in RELATIONS], true)


def _number_rules(episode: Episode) -> Iterator[Rules]:
    def true(lexicon: Lexicon, utterance: str, image: Image) -> bool:
        return lexicon[utterance] == ("number", str(len(image.objects)))

    counts: list[Meaning] = [("number", str(count)) for count in range(1, 7)]
    yield Rules("words name counts", str.split, lambda word: counts, true)


def _pragmatic_rules(episode: Episode) -> Iterator[Rules]:
    """ "w" of the pointed object: its attribute that no other object has."""

    def true(lexicon: Lexicon, utterance: str, image: Image) -> bool:
        kind, value = lexicon[utterance]
        return [i for i, item in enumerate(image.objects) if item.get(kind) == value] == [image.pointed]

    attributes = [(kind, value) for kind, values in VALUES.items() for value in values]
    yield Rules("words name attributes", str.split, lambda word: list(attributes), true)


RULES: Mapping[str, Callable[[Episode], Iterator[Rules]]] = {
    "shape": _attribute_rules,
    "color": _attribute_rules,
    "material": _attribute_rules,
    "object": _object_rules,
    "composite": _composite_rules,
    "relation": _relation_rules,
    "bootstrap": _bootstrap_rules,
    "number": _number_rules,
    "pragmatic": _pragmatic_rules,
}


# ---- all lexicons


def _possible(rules: Rules, word: str, meaning: Meaning, image: Image) -> bool:
    """Whether the image's utterance can be true at all if the word means this, whatever the other words mean."""
    others = [other for other in rules.words(image.utterance) if other != word]
    for choice in product(*(rules.meanings(other) for other in others)):
        if rules.true({word: meaning, **dict(zip(others, choice, strict=True))}, image.utterance, image):
            return True
    return False


def lexicons(rules: Rules, episode: Episode) -> Iterator[Lexicon]:
    """Every lexicon that makes the contexts true and gives no two words one meaning."""
    texts = [image.utterance for image in episode.contexts] + list(episode.options)
    words = sorted({word for text in texts for word in rules.words(text)})
    candidates: list[list[Meaning]] = []
    for word in words:
        using = [image for image in episode.contexts if word in rules.words(image.utterance)]
        # Without this pragmatic alone has 16^6 lexicons; a meaning that falsifies a context is in no lexicon anyway.
        candidates.append(
            [meaning for meaning in rules.meanings(word) if all(_possible(rules, word, meaning, i) for i in using)]
        )
    for choice in product(*candidates):
        lexicon = dict(zip(words, choice, strict=True))
        distinct = len(set(choice)) == len(choice)
        if distinct and all(rules.true(lexicon, image.utterance, image) for image in episode.contexts):
            yield lexicon


def _with_dummies(rules: Rules, episode: Episode) -> Rules:
    return replace(rules, meanings=lambda word: rules.meanings(word) + _nothing(episode, word))


def brute_force(spec: Mapping[str, Any], exclusion: bool = True) -> Verdict:
    """Whether every lexicon that fits an episode (its JSON data) picks the stored answer, and it alone.

    exclusion: see 1. Raises ValueError or KeyError for data that is no MEWL episode.
    """
    episode = seen(spec)
    picks: dict[tuple[str, ...], int] = {}
    examples: dict[tuple[str, ...], str] = {}
    for rules in RULES[spec["task"]["name"]](episode):
        if not exclusion and spec["task"]["name"] in ("composite", "relation", "number", "pragmatic"):
            rules = _with_dummies(rules, episode)
        for lexicon in lexicons(rules, episode):
            picked = tuple(option for option in episode.options if rules.true(lexicon, option, episode.query))
            picks[picked] = picks.get(picked, 0) + 1
            examples.setdefault(picked, f"{rules.belief}: {lexicon}")
    if not picks:
        return Verdict(False, "no lexicon fits the contexts", picks)
    answer = (spec["task"]["answer"],)
    if list(picks) == [answer]:
        return Verdict(True, f"all {picks[answer]} lexicons pick {answer[0]!r}", picks)
    wrong = [f"{list(picked)} if {examples[picked]}" for picked in picks if picked != answer]
    return Verdict(False, f"the stored answer is {answer[0]!r}, but the query is " + "; or ".join(wrong), picks)
