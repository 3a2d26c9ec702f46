"""Reference games: ten tangrams with the same number of parts and different names, of which one is described.

The published procedure, with these corrections: the target's tangram is never a distractor, a tangram is left out only
if none of its descriptions fits, `distinct` compares the wholes, and all draws depend on the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.annotations import Annotation, Annotations
from diorama.scene_specs.benchmarks.kilogram.examples import AUG, Example, same_text, whole_example, with_subset
from diorama.scene_specs.language.rng import generator, pick, sample, shuffled

# Number of tangrams in a published game.
SIZE = 10


class Game(NamedTuple):
    """A game. examples[0] is the target.

    Attributes:
        number: of the target's context.
        order: example shown at each position.
    """

    number: int
    examples: tuple[Example, ...]
    order: tuple[int, ...]


def games(
    annotations: Annotations, options: Options, skipped: dict[str, list[str]], augmented: bool = False
) -> Iterator[Game]:
    """Yield the games of a split.

    Args:
        skipped: receives the keys of targets without a game, by reason.
        augmented: games per number of shown parts, from 0 to all, with random subsets, or per subset of the target's.
    """
    everything = [item for items in annotations.values() for item in items]
    targets = everything
    if options.targets == "one":
        keyed = ((generator(options.seed, f"kilogram/{name}", "target"), items) for name, items in annotations.items())
        targets = [pick(rng, items) for rng, items in keyed]
    # Number of parts, or 0 for any number -> tangram -> descriptions.
    pool: dict[int, dict[str, list[Annotation]]] = {}
    for item in everything:
        pool.setdefault(0 if options.unconstrained else item.parts, {}).setdefault(item.tangram, []).append(item)
    for target in targets:
        kind = "" if options.unconstrained else f" of {target.parts} parts"
        tangrams = pool[0 if options.unconstrained else target.parts]
        if len(tangrams) < options.context_size:
            reason = f"fewer than {options.context_size} tangrams have a description{kind}"
            skipped.setdefault(reason, []).append(target.key)
            continue
        # Shown parts: their number, and which of the target's if that is not drawn.
        levels: Sequence[tuple[int | None, int | None]] = [(None, None)]
        if augmented and options.targets == "subsets":
            levels = [(mask.bit_count(), mask) for mask in range(1 << target.parts)]
        elif augmented:
            levels = [(level, None) for level in range(target.parts + 1)]
        for level, mask in levels:
            for number in range(options.contexts):
                game = _game(target, tangrams, number, options, level, mask)
                if game is None:
                    reason = f"no {options.context_size - 1} distractors called otherwise among descriptions{kind}"
                    skipped.setdefault(reason, []).append(target.key)
                    break
                yield game


def _game(
    target: Annotation,
    tangrams: dict[str, list[Annotation]],
    number: int,
    options: Options,
    level: int | None,
    subset: int | None,
) -> Game | None:
    episode = f"kilogram/{options.split}/{target.key}{'' if subset is None else f'_{subset}'}/{number}"
    rng = generator(options.seed, episode, "context")
    chosen = [target]
    same = str.__eq__ if options.distinct == "raw" else same_text
    others = [name for name in tangrams if name != target.tangram]
    for name in shuffled(rng, others):
        for item in shuffled(rng, tangrams[name]):
            if options.unconstrained or not any(same(item.whole, one.whole) for one in chosen):
                chosen.append(item)
                break
        if len(chosen) == options.context_size:
            break
    if len(chosen) < options.context_size:
        return None
    examples = [whole_example(item, options.seed) for item in chosen]
    if level is not None:
        draw = generator(options.seed, episode, f"{AUG}-{level}")
        masks = [sum(1 << k for k in sample(draw, range(len(one.parts)), level)) for one in examples]
        masks[0] = masks[0] if subset is None else subset
        examples = [with_subset(one, mask, options.seed) for one, mask in zip(examples, masks, strict=True)]
    order = shuffled(generator(options.seed, episode, "order"), range(len(chosen)))
    return Game(number, tuple(examples), tuple(order))
