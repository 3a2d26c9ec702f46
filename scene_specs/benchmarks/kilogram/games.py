"""Reference games: ten tangrams with the same number of parts and different names, of which one is described.

The published procedure, with these corrections: the target's tangram is never a distractor, a tangram is left out only
if none of its descriptions fits, `distinct` compares the wholes, and all draws depend on the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from scene_specs.benchmarks.kilogram.annotations import Annotation, Annotations
from scene_specs.benchmarks.kilogram.examples import AUG, Example, whole_example, with_subset
from scene_specs.benchmarks.kilogram.wording import normalized, same_text
from scene_specs.language.rng import generator, pick, shuffled

SIZE = 10
CONTEXTS = 10


class Game(NamedTuple):
    """A game. examples[0] is the target. number: of the target's context. order: example shown at each position."""

    split: str
    number: int
    examples: tuple[Example, ...]
    order: tuple[int, ...]


class Rules(NamedTuple):
    """Rules of games. contexts: games per target. targets: "one" random annotation of each tangram, or "all".

    distinct: wholes must differ as written ("raw"), or also without case, articles and typos ("normalized").
    """

    seed: int = 0
    contexts: int = CONTEXTS
    targets: str = "one"
    distinct: str = "raw"


def _by_parts(annotations: Annotations) -> dict[int, dict[str, list[Annotation]]]:
    """Return the annotations by number of parts and tangram."""
    found: dict[int, dict[str, list[Annotation]]] = {}
    for tangram, items in annotations.items():
        for item in items:
            found.setdefault(item.parts, {}).setdefault(tangram, []).append(item)
    return found


def targets_of(annotations: Annotations, rules: Rules) -> list[Annotation]:
    """Return the descriptions that get games, by tangram."""
    if rules.targets == "all":
        return [item for items in annotations.values() for item in items]
    return [pick(generator(rules.seed, f"kilogram/{name}", "target"), items) for name, items in annotations.items()]


def games(
    annotations: Annotations, split: str, rules: Rules, skipped: dict[str, list[str]], augmented: bool = False
) -> Iterator[Game]:
    """Yield the games of a split.

    skipped: receives the keys of targets without a game, by reason. augmented: a game per number of shown parts, from 0
    to all, with random subsets.
    """
    pool = _by_parts(annotations)
    for target in targets_of(annotations, rules):
        tangrams = pool[target.parts]
        if len(tangrams) < SIZE:
            reason = f"fewer than {SIZE} tangrams have a description of {target.parts} parts"
            skipped.setdefault(reason, []).append(target.key)
            continue
        levels = range(target.parts + 1) if augmented else (target.parts,)
        for level in levels:
            for number in range(rules.contexts):
                game = _game(target, tangrams, split, number, rules, level if augmented else None)
                if game is None:
                    reason = f"no {SIZE - 1} distractors called otherwise among descriptions of {target.parts} parts"
                    skipped.setdefault(reason, []).append(target.key)
                    break
                yield game


def _game(
    target: Annotation, tangrams: dict[str, list[Annotation]], split: str, number: int, rules: Rules, level: int | None
) -> Game | None:
    episode = f"kilogram/{split}/{target.key}/{number}"
    rng = generator(rules.seed, episode, "context")
    chosen = [target]
    differs = _differs(rules.distinct)
    others = [name for name in tangrams if name != target.tangram]
    for name in shuffled(rng, others):
        for item in shuffled(rng, tangrams[name]):
            if all(differs(item.whole, one.whole) for one in chosen):
                chosen.append(item)
                break
        if len(chosen) == SIZE:
            break
    if len(chosen) < SIZE:
        return None
    examples = [whole_example(item, rules.seed) for item in chosen]
    if level is not None:
        draw = generator(rules.seed, episode, f"{AUG}-{level}")
        examples = [with_subset(one, _bits(draw, len(one.parts), level), rules.seed) for one in examples]
    order = shuffled(generator(rules.seed, episode, "order"), range(SIZE))
    return Game(split, number, tuple(examples), tuple(order))


def _bits(rng: np.random.Generator, parts: int, shown: int) -> int:
    return sum(1 << int(k) for k in rng.permutation(parts)[:shown])


def _differs(distinct: str) -> Callable[[str, str], bool]:
    if distinct == "raw":
        return lambda one, other: one != other
    return lambda one, other: normalized(one) != normalized(other) and not same_text(one, other)
