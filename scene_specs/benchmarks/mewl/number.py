"""Task number: one to six objects a picture, and the word for how many."""

from __future__ import annotations

import numpy as np

from scene_specs.benchmarks.mewl.draft import CONTEXTS, Draft, Image
from scene_specs.benchmarks.mewl.things import THINGS, index, sample, shuffled


def build(rng: np.random.Generator, words: list[str]) -> Draft | None:
    """One try. None where the query would show what a context shows."""
    counts = [k + 1 for k in shuffled(rng, range(CONTEXTS))]
    asked = index(rng, CONTEXTS)
    groups = [sample(rng, THINGS, count) for count in [*counts, asked + 1]]
    if any({*group} == {*groups[-1]} for group in groups[:-1]):
        return None
    images = [
        Image(group, [None] * len(group), words[len(group) - 1] if number < CONTEXTS else None)
        for number, group in enumerate(groups)
    ]
    others = [word for word in words if word != words[asked]]
    options = shuffled(rng, [words[asked], *sample(rng, others, 4)])
    return Draft(images, {word: k + 1 for k, word in enumerate(words)}, options, words[asked])
