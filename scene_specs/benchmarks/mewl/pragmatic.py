"""Task pragmatic: a hand points at one of three objects, and the word names what only that one has."""

from __future__ import annotations

import numpy as np

from scene_specs.benchmarks.mewl.draft import CONTEXTS, Draft, Image
from scene_specs.benchmarks.mewl.things import THINGS, TYPES, VALUES, Thing, index, sample, shuffled

ATTRIBUTES: tuple[tuple[str, str], ...] = tuple((kind, value) for kind in TYPES for value in VALUES[kind])


def build(rng: np.random.Generator, words: list[str]) -> Draft | None:
    """One try. None where the query would show what a context shows."""
    named = sample(rng, ATTRIBUTES, CONTEXTS)
    asked = index(rng, CONTEXTS)
    images = []
    for number, k in enumerate([*shuffled(rng, range(CONTEXTS)), asked]):
        trio = shuffled(rng, _trio(rng, *named[k]))
        pointed = next(place for place, (_, special) in enumerate(trio) if special)
        names = [words[k] if special else None for _, special in trio]
        said = words[k] if number < CONTEXTS else None
        images.append(Image([thing for thing, _ in trio], names, said, pointed))
    if any({*image.things} == {*images[-1].things} for image in images[:-1]):
        return None
    others = [word for word in words if word != words[asked]]
    options = shuffled(rng, [words[asked], *sample(rng, others, 4)])
    return Draft(images, {w: value for w, (_, value) in zip(words, named, strict=True)}, options, words[asked])


def _trio(rng: np.random.Generator, kind: str, value: str) -> list[tuple[Thing, bool]]:
    """Three objects, of which one (True) has the value for itself, and nothing else for itself.

    It shares all other attributes with the first of the others, which differs from the second in one of them.
    """
    at = TYPES.index(kind)
    shared = [thing for thing in THINGS if thing[at] != value]
    base = shared[index(rng, len(shared))]
    special = (*base[:at], value, *base[at + 1 :])
    other_kinds = [k for k in range(len(TYPES)) if k != at]
    other = other_kinds[index(rng, len(other_kinds))]
    changes = [v for v in VALUES[TYPES[other]] if v != base[other]]
    changed = (*base[:other], changes[index(rng, len(changes))], *base[other + 1 :])
    return [(base, False), (special, True), (changed, False)]  # type: ignore[list-item]
