"""The nine tasks of MEWL: how each draws its objects, words, options and answer.

A builder makes one attempt at an episode from (rng, words, balanced) and returns None if the attempt does not give a
valid one. balanced: leave out options that are wrong whatever the images show; only `shape`, `color`, `material` and
`composite` have such options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import combinations, permutations, product
from typing import NamedTuple

import numpy as np

from diorama.scene_specs.benchmarks.mewl.draft import (
    CONTEXTS,
    OBJECT_NUMBER,
    OBJECTS,
    ORDERS,
    TYPES,
    VALUES,
    Draft,
    Image,
    Object,
    Order,
    holds,
    index,
    object_with,
    orders_with,
)
from diorama.scene_specs.language.rng import pick, sample, shuffled
from diorama.scene_specs.language.vocabulary import RELATIONS

Build = Callable[[np.random.Generator, list[str], bool], Draft | None]

# Attribute tasks teach three words; two more stand among the options.
TAUGHT = 3
COMPOSITE_TYPES = ("shape", "color", "material")
ATTRIBUTES: tuple[tuple[str, str], ...] = tuple((kind, value) for kind in TYPES for value in VALUES[kind])

_CELLS = tuple(product(range(3), range(3)))
_TRIPLES = tuple(combinations(range(6), 3))
_PAIRS_OF_SIX = tuple(combinations(range(6), 2))


def _draft_attribute(rng: np.random.Generator, words: list[str], balanced: bool, kind: str) -> Draft | None:
    """Tasks shape, color, material: one object per image, and the word for one of its attributes.

    None if two images would show the same object.
    """
    values = sample(rng, VALUES[kind], TAUGHT)
    which = shuffled(rng, [*range(TAUGHT), *(index(rng, TAUGHT) for _ in range(CONTEXTS - TAUGHT))])
    which.append(index(rng, TAUGHT))
    objects = [object_with(rng, **{kind: values[k]}) for k in which]
    if len({*objects}) < len(objects):
        return None
    images = [
        Image([item], [f"{words[k]} #{OBJECT_NUMBER[item]}"], words[k]) for k, item in zip(which, objects, strict=True)
    ]
    options = shuffled(rng, words[:TAUGHT] if balanced else words)
    return Draft(images, dict(zip(words[:TAUGHT], values, strict=True)), options, words[which[-1]], {"types": [kind]})


def _draft_object(rng: np.random.Generator, words: list[str], _balanced: bool) -> Draft | None:
    """Task object: three of six objects per image, and their three words in random order.

    None if the contexts leave out a word.
    """
    objects = sample(rng, OBJECTS, 6)
    triples = shuffled(rng, _TRIPLES)
    if len({k for triple in triples[:CONTEXTS] for k in triple}) < 6:
        return None
    offered = triples[CONTEXTS : CONTEXTS + 5]
    texts = [" and ".join(words[k] for k in shuffled(rng, triple)) for triple in offered]
    # Options are drawn before the answer, so that they carry no information about it.
    answer = index(rng, len(offered))
    images: list[Image] = []
    for triple in [*triples[:CONTEXTS], offered[answer]]:
        members = shuffled(rng, triple)
        # No order is drawn for the query.
        utterance = " and ".join(words[k] for k in shuffled(rng, triple)) if len(images) < CONTEXTS else ""
        images.append(Image([objects[k] for k in members], [words[k] for k in members], utterance))
    known = {word: list(item) for word, item in zip(words, objects, strict=True)}
    return Draft(images, known, shuffled(rng, texts), texts[answer])


def _draft_composite(rng: np.random.Generator, words: list[str], balanced: bool) -> Draft | None:
    """Task composite: one object per image, and two words for two of its attributes, in an order that never changes.

    None if the contexts leave out a word.
    """
    kinds = sample(rng, COMPOSITE_TYPES, 2)
    values = [sample(rng, VALUES[kind], 3) for kind in kinds]
    pairs = shuffled(rng, _CELLS)
    shown, unseen = pairs[:CONTEXTS], pairs[CONTEXTS:]
    if any(len({pair[side] for pair in shown}) < 3 for side in (0, 1)):
        return None
    answer = pick(rng, unseen)
    texts = {(a, b): f"{words[a]} {words[3 + b]}" for a, b in _CELLS}
    images = []
    for a, b in [*shown, answer]:
        item = object_with(rng, **{kinds[0]: values[0][a], kinds[1]: values[1][b]})
        images.append(Image([item], [texts[a, b]], texts[a, b]))
    listed = unseen if balanced else [*unseen, *sample(rng, shown, 5 - len(unseen))]
    options = [texts[pair] for pair in shuffled(rng, listed)]
    known = dict(zip(words, [*values[0], *values[1]], strict=True))
    return Draft(images, known, options, texts[answer], {"types": kinds})


def _draft_bootstrap(rng: np.random.Generator, words: list[str], _balanced: bool) -> Draft | None:
    """Task bootstrap: two of six named objects and an unnamed one per image, and a known relation between the two.

    None if the contexts leave out a word.
    """
    drawn = sample(rng, OBJECTS, len(OBJECTS))
    objects, strangers = drawn[:6], drawn[6:]
    pairs = shuffled(rng, _PAIRS_OF_SIX)
    if len({k for pair in pairs[:CONTEXTS] for k in pair}) < 6:
        return None
    ordered = [shuffled(rng, pair) for pair in pairs[: CONTEXTS + 5]]
    claims = [(a, b, pick(rng, RELATIONS)) for a, b in ordered]
    texts = [f"{words[a]} {relation} {words[b]}" for a, b, relation in claims]
    # Options are drawn before the answer, so that they carry no information about it.
    answer = CONTEXTS + index(rng, 5)
    images = []
    for k in [*range(CONTEXTS), answer]:
        a, b, relation = claims[k]
        members = shuffled(rng, [(objects[a], words[a]), (objects[b], words[b]), (pick(rng, strangers), None)])
        names = [name for _, name in members]
        orders = orders_with(rng, (relation, names.index(words[a]), names.index(words[b])))
        images.append(Image([item for item, _ in members], names, texts[k], None, orders))
    known = {word: list(item) for word, item in zip(words, objects, strict=True)}
    return Draft(images, known, shuffled(rng, texts[CONTEXTS:]), texts[answer])


def _draft_number(rng: np.random.Generator, words: list[str], _balanced: bool) -> Draft | None:
    """Task number: one to six objects per image, and the word for their number.

    None if the query would show the objects of a context.
    """
    counts = [k + 1 for k in shuffled(rng, range(CONTEXTS))]
    answer = index(rng, CONTEXTS)
    groups = [sample(rng, OBJECTS, count) for count in [*counts, answer + 1]]
    if any({*group} == {*groups[-1]} for group in groups[:-1]):
        return None
    images = [Image(group, [None] * len(group), words[len(group) - 1]) for group in groups]
    return Draft(images, {w: k + 1 for k, w in enumerate(words)}, _draw_options(rng, words, answer), words[answer])


def _draw_options(rng: np.random.Generator, words: list[str], answer: int) -> list[str]:
    """Return the answer and four other words, shuffled."""
    return shuffled(rng, [words[answer], *sample(rng, [word for word in words if word != words[answer]], 4)])


def _draft_pragmatic(rng: np.random.Generator, words: list[str], _balanced: bool) -> Draft | None:
    """Task pragmatic: a hand points at one of three objects, and the word names the attribute that only it has.

    None if the query would show the objects of a context.
    """
    named = sample(rng, ATTRIBUTES, CONTEXTS)
    answer = index(rng, CONTEXTS)
    images = []
    for k in [*shuffled(rng, range(CONTEXTS)), answer]:
        trio = shuffled(rng, _draw_trio(rng, *named[k]))
        pointed = next(place for place, (_, special) in enumerate(trio) if special)
        names = [words[k] if special else None for _, special in trio]
        images.append(Image([item for item, _ in trio], names, words[k], pointed))
    if any({*image.objects} == {*images[-1].objects} for image in images[:-1]):
        return None
    known = {word: value for word, (_, value) in zip(words, named, strict=True)}
    return Draft(images, known, _draw_options(rng, words, answer), words[answer])


def _draw_trio(rng: np.random.Generator, kind: str, value: str) -> list[tuple[Object, bool]]:
    """Return three objects, of which one (True) alone has the value, and no other attribute value alone.

    It shares all other attributes with the first of the others, which differs from the second in one of them.
    """
    at = TYPES.index(kind)
    base = pick(rng, [item for item in OBJECTS if item[at] != value])
    special = (*base[:at], value, *base[at + 1 :])
    other = pick(rng, [k for k in range(len(TYPES)) if k != at])
    change = pick(rng, [v for v in VALUES[TYPES[other]] if v != base[other]])
    changed = (*base[:other], change, *base[other + 1 :])
    return [(base, False), (special, True), (changed, False)]  # type: ignore[list-item]


# Task relation.
_LOOKS = tuple(product(VALUES["color"], VALUES["shape"]))
_PAIRS = tuple(permutations(range(3), 2))
_LAYOUTS = tuple(product(ORDERS, ORDERS))
_TRIES = 60
# What an option states before words have a meaning: (subject, other object), number of the word.
_CLAIMS = tuple(product(_PAIRS, range(3)))
# The relations that the three words mean, the layout, and the claims that are then true, as a bit mask.
_World = tuple[tuple[str, ...], tuple[Order, Order], int]


def _draft_relation(rng: np.random.Generator, words: list[str], _balanced: bool) -> Draft | None:
    """Task relation: three objects per image, and a word for the relation of two, named by color and shape.

    None if two contexts would have the same utterance, or no options were found.
    """
    offer = _draw_claims(rng, tuple(sorted(sample(rng, RELATIONS, 3))))
    if offer is None:
        return None
    claims, worlds = offer
    answer = index(rng, len(claims))
    meanings, orders, _ = pick(rng, worlds[answer])
    word_of = dict(zip(meanings, words, strict=True))
    images = [_context(rng, relation, confound, word_of) for relation in meanings for confound in _confounds(relation)]
    images = shuffled(rng, images)
    if len({image.utterance for image in images}) < CONTEXTS:
        return None
    objects, looks = _draw_trio_looks(rng)
    images.append(Image(objects, looks, orders=orders))
    texts = [f"{looks[a]} {words[w]} {looks[b]}" for (a, b), w in (_CLAIMS[k] for k in claims)]
    return Draft(images, dict(zip(words, meanings, strict=True)), shuffled(rng, texts), texts[answer])


def _confounds(relation: str) -> tuple[str, str]:
    """Return the relations that can hold together with `relation`; one context for each tells them apart from it."""
    return ("front", "behind") if relation in ("left", "right") else ("left", "right")


def _draw_trio_looks(rng: np.random.Generator) -> tuple[list[Object], list[str]]:
    looks = sample(rng, _LOOKS, 3)
    objects = [object_with(rng, color=color, shape=shape) for color, shape in looks]
    return objects, [f"{color} {shape}" for color, shape in looks]


def _context(rng: np.random.Generator, relation: str, confound: str, word_of: dict[str, str]) -> Image:
    objects, looks = _draw_trio_looks(rng)
    subject, of = pick(rng, _PAIRS)
    orders = orders_with(rng, (relation, subject, of), (confound, subject, of))
    return Image(objects, looks, f"{looks[subject]} {word_of[relation]} {looks[of]}", None, orders)


@cache
def _possible_worlds(taught: tuple[str, ...]) -> tuple[_World, ...]:
    return tuple(
        (meanings, layout, sum(1 << k for k, ((a, b), w) in enumerate(_CLAIMS) if holds(layout, meanings[w], a, b)))
        for meanings in permutations(taught)
        for layout in _LAYOUTS
    )


def _draw_claims(rng: np.random.Generator, taught: tuple[str, ...]) -> tuple[list[int], list[list[_World]]] | None:
    """Draw five claims, and for each list the worlds in which it alone is true; None after 60 attempts.

    Without the images, neither the layout nor the words are known. Each of the five is the only true one in some world,
    and the answer is drawn before its world, so the options do not tell which one is the answer. `A word B` and
    `B word A` are never both offered, because one of them would have to be it.
    """
    for _ in range(_TRIES):
        claims = sample(rng, range(len(_CLAIMS)), 5)
        drawn = [_CLAIMS[k] for k in claims]
        if any(((b, a), w) in drawn for (a, b), w in drawn):
            continue
        offered = sum(1 << k for k in claims)
        alone: dict[int, list[_World]] = {1 << k: [] for k in claims}
        for world in _possible_worlds(taught):
            if (true := world[2] & offered) in alone:
                alone[true].append(world)
        if all(alone.values()):
            return claims, list(alone.values())
    return None


class Task(NamedTuple):
    """A task of the benchmark.

    Attributes:
        words: number of words with a meaning, number without one, and syllables of each.
    """

    words: tuple[int, int, int]
    build: Build


TASKS: Mapping[str, Task] = {
    **{kind: Task((3, 2, 2), partial(_draft_attribute, kind=kind)) for kind in ("shape", "color", "material")},
    "object": Task((6, 0, 3), _draft_object),
    "composite": Task((6, 0, 3), _draft_composite),
    "relation": Task((3, 0, 3), _draft_relation),
    "bootstrap": Task((6, 0, 3), _draft_bootstrap),
    "number": Task((6, 0, 2), _draft_number),
    "pragmatic": Task((6, 0, 2), _draft_pragmatic),
}
