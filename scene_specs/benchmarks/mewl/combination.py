"""Task object: three of six objects a picture, and their three words in an order that says nothing."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from scene_specs.benchmarks.mewl.draft import CONTEXTS, Draft, Image
from scene_specs.benchmarks.mewl.things import THINGS, index, sample, shuffled

_TRIPLES = tuple(combinations(range(6), 3))


def build(rng: np.random.Generator, words: list[str]) -> Draft | None:
    """One try. None where the contexts leave out a word."""
    things = sample(rng, THINGS, 6)
    triples = shuffled(rng, _TRIPLES)
    if len({k for triple in triples[:CONTEXTS] for k in triple}) < 6:
        return None
    offered = triples[CONTEXTS : CONTEXTS + 5]
    texts = [" and ".join(words[k] for k in shuffled(rng, triple)) for triple in offered]
    # The offer is drawn before the answer: nothing in it can tell which one it is.
    asked = index(rng, len(offered))
    images = []
    for number, triple in enumerate([*triples[:CONTEXTS], offered[asked]]):
        members = shuffled(rng, triple)
        said = " and ".join(words[k] for k in shuffled(rng, triple)) if number < CONTEXTS else None
        images.append(Image([things[k] for k in members], [words[k] for k in members], said))
    return Draft(images, {w: list(t) for w, t in zip(words, things, strict=True)}, shuffled(rng, texts), texts[asked])
