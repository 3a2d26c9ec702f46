"""Tasks shape, color, material: one object a picture, and the word for one of its attributes."""

from __future__ import annotations

import numpy as np

from scene_specs.benchmarks.mewl.draft import CONTEXTS, Draft, Image
from scene_specs.benchmarks.mewl.things import THING_NUMBER, VALUES, index, sample, shuffled, thing_with

# Three words are taught; two more stand among the options.
TAUGHT = 3


def build(rng: np.random.Generator, words: list[str], kind: str, balanced: bool) -> Draft | None:
    """One try. None where two pictures would show the same object."""
    values = sample(rng, VALUES[kind], TAUGHT)
    which = shuffled(rng, [*range(TAUGHT), *(index(rng, TAUGHT) for _ in range(CONTEXTS - TAUGHT))])
    which.append(index(rng, TAUGHT))
    things = [thing_with(rng, **{kind: values[k]}) for k in which]
    if len({*things}) < len(things):
        return None
    images = [
        Image([thing], [f"{words[k]} #{THING_NUMBER[thing]}"], words[k] if number < CONTEXTS else None)
        for number, (k, thing) in enumerate(zip(which, things, strict=True))
    ]
    options = shuffled(rng, words[:TAUGHT] if balanced else words)
    return Draft(images, dict(zip(words[:TAUGHT], values, strict=True)), options, words[which[-1]], {"types": [kind]})
