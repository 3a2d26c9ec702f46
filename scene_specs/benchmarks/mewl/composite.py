"""Task composite: one object a picture, two words for two of its attributes, in an order that never changes."""

from __future__ import annotations

from itertools import product

import numpy as np

from scene_specs.benchmarks.mewl.draft import CONTEXTS, Draft, Image
from scene_specs.benchmarks.mewl.things import VALUES, index, sample, shuffled, thing_with

KINDS = ("shape", "color", "material")
_PAIRS = tuple(product(range(3), range(3)))


def build(rng: np.random.Generator, words: list[str], balanced: bool) -> Draft | None:
    """One try. None where the contexts leave out a word."""
    kinds = sample(rng, KINDS, 2)
    values = [sample(rng, VALUES[kind], 3) for kind in kinds]
    pairs = shuffled(rng, _PAIRS)
    shown, unseen = pairs[:CONTEXTS], pairs[CONTEXTS:]
    if any(len({pair[side] for pair in shown}) < 3 for side in (0, 1)):
        return None
    asked = unseen[index(rng, len(unseen))]
    texts = {(a, b): f"{words[a]} {words[3 + b]}" for a, b in _PAIRS}
    images = []
    for number, (a, b) in enumerate([*shown, asked]):
        thing = thing_with(rng, **{kinds[0]: values[0][a], kinds[1]: values[1][b]})
        images.append(Image([thing], [texts[a, b]], texts[a, b] if number < CONTEXTS else None))
    listed = unseen if balanced else [*unseen, *sample(rng, shown, 5 - len(unseen))]
    options = [texts[pair] for pair in shuffled(rng, listed)]
    return Draft(
        images, dict(zip(words, [*values[0], *values[1]], strict=True)), options, texts[asked], {"types": kinds}
    )
