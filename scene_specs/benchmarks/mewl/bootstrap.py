"""Task bootstrap: two of six named objects and a stranger a picture, and how one of the two stands."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from scene_specs.benchmarks.mewl.draft import CONTEXTS, Draft, Image, orders_with
from scene_specs.benchmarks.mewl.things import THINGS, Thing, index, sample, shuffled
from scene_specs.language.vocabulary import RELATIONS

_PAIRS = tuple(combinations(range(6), 2))


def build(rng: np.random.Generator, words: list[str]) -> Draft | None:
    """One try. None where the contexts leave out a word."""
    drawn = sample(rng, THINGS, len(THINGS))
    things, strangers = drawn[:6], drawn[6:]
    pairs = shuffled(rng, _PAIRS)
    if len({k for pair in pairs[:CONTEXTS] for k in pair}) < 6:
        return None
    ordered = [shuffled(rng, pair) for pair in pairs[: CONTEXTS + 5]]
    claims = [(a, b, RELATIONS[index(rng, 4)]) for a, b in ordered]
    texts = [f"{words[a]} {relation} {words[b]}" for a, b, relation in claims]
    # The offer is drawn before the answer: nothing in it can tell which one it is.
    asked = CONTEXTS + index(rng, 5)
    images = []
    for number, k in enumerate([*range(CONTEXTS), asked]):
        stranger = strangers[index(rng, len(strangers))]
        images.append(_image(rng, claims[k], things, words, stranger, texts[k] if number < CONTEXTS else None))
    known = {word: list(thing) for word, thing in zip(words, things, strict=True)}
    return Draft(images, known, shuffled(rng, texts[CONTEXTS:]), texts[asked])


def _image(
    rng: np.random.Generator,
    claim: tuple[int, int, str],
    things: list[Thing],
    words: list[str],
    stranger: Thing,
    said: str | None,
) -> Image:
    a, b, relation = claim
    members = shuffled(rng, [(things[a], words[a]), (things[b], words[b]), (stranger, None)])
    names = [name for _, name in members]
    orders = orders_with(rng, (relation, names.index(words[a]), names.index(words[b])))
    return Image([thing for thing, _ in members], names, said, None, orders)
