"""Task relation: three objects a picture, and a word for how one of two, named by color and shape, stands."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import numpy as np

from scene_specs.benchmarks.mewl.draft import CONTEXTS, Draft, Image, holds, orders_with
from scene_specs.benchmarks.mewl.things import ORDERS, VALUES, Order, Thing, index, sample, shuffled, thing_with
from scene_specs.language.vocabulary import RELATIONS

_LOOKS = tuple(product(VALUES["color"], VALUES["shape"]))
_PAIRS = tuple(permutations(range(3), 2))
_LAYOUTS = tuple(product(ORDERS, ORDERS))
_TRIES = 60

# What an option says, before words have a meaning: subject, number of the word, of.
_CLAIMS = tuple(product(_PAIRS, range(3)))
# Which relations the three words mean, how the objects stand, and the claims that are then true, a bit each.
_World = tuple[tuple[str, ...], tuple[Order, Order], int]


@cache
def _worlds(taught: tuple[str, ...]) -> tuple[_World, ...]:
    return tuple(
        (meant, layout, sum(1 << k for k, ((a, b), w) in enumerate(_CLAIMS) if holds(layout, meant[w], a, b)))
        for meant in permutations(taught)
        for layout in _LAYOUTS
    )


def build(rng: np.random.Generator, words: list[str]) -> Draft | None:
    """One try. None where two contexts would say the same, or no offer was found."""
    offer = _offer(rng, tuple(sorted(sample(rng, RELATIONS, 3))))
    if offer is None:
        return None
    claims, worlds = offer
    asked = index(rng, len(claims))
    meant, orders, _ = worlds[asked][index(rng, len(worlds[asked]))]
    word_of = dict(zip(meant, words, strict=True))
    images = [_context(rng, relation, confound, word_of) for relation in meant for confound in _confounds(relation)]
    images = shuffled(rng, images)
    if len({image.utterance for image in images}) < CONTEXTS:
        return None
    things, looks = _three(rng)
    images.append(Image(things, looks, None, None, orders))
    texts = [f"{looks[a]} {words[w]} {looks[b]}" for (a, b), w in (_CLAIMS[k] for k in claims)]
    return Draft(images, dict(zip(words, meant, strict=True)), shuffled(rng, texts), texts[asked])


def _confounds(relation: str) -> tuple[str, str]:
    """What else can be true of a pair that stands so: one picture for each tells them from the relation."""
    return ("front", "behind") if relation in ("left", "right") else ("left", "right")


def _three(rng: np.random.Generator) -> tuple[list[Thing], list[str]]:
    looks = sample(rng, _LOOKS, 3)
    things = [thing_with(rng, color=color, shape=shape) for color, shape in looks]
    return things, [f"{color} {shape}" for color, shape in looks]


def _context(rng: np.random.Generator, relation: str, confound: str, word_of: dict[str, str]) -> Image:
    things, looks = _three(rng)
    subject, of = _PAIRS[index(rng, len(_PAIRS))]
    orders = orders_with(rng, (relation, subject, of), (confound, subject, of))
    return Image(things, looks, f"{looks[subject]} {word_of[relation]} {looks[of]}", None, orders)


def _offer(rng: np.random.Generator, taught: tuple[str, ...]) -> tuple[list[int], list[list[_World]]] | None:
    """Five claims, and for each the worlds in which it alone is true. None if no try finds any.

    Who sees no picture knows neither the layout nor the words: as each of the five is alone true in some world, and the
    answer is drawn first and then its world, nothing in the offer tells which one it is. `A word B` and `B word A` are
    never both offered, because one of them would have to be it.
    """
    for _ in range(_TRIES):
        claims = sample(rng, range(len(_CLAIMS)), 5)
        drawn = [_CLAIMS[k] for k in claims]
        if any(((b, a), w) in drawn for (a, b), w in drawn):
            continue
        offered = sum(1 << k for k in claims)
        alone: dict[int, list[_World]] = {1 << k: [] for k in claims}
        for world in _worlds(taught):
            true = world[2] & offered
            if true in alone:
                alone[true].append(world)
        if all(alone.values()):
            return claims, list(alone.values())
    return None
