"""Model inputs: a description with its parts in order, some of them named and colored; captions; reference games.

A game has ten tangrams with the same number of parts and different names, of which one is described. The published
procedure, with these corrections: the target's tangram is never a distractor, a tangram is left out only if none of its
descriptions fits, `distinct` compares the wholes, and all draws depend on the seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import inflect

from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.annotations import Annotation, Annotations
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES
from diorama.scene_specs.language.rng import generator, pick, sample, shuffled

Color = Literal["black", "coral", "gold", "lightskyblue", "lightpink", "mediumseagreen", "darkgrey", "lightgrey"]
# Part i of a sentence has color i: the published list of CSS names. The stage's palette has their RGB values.
COLORS: tuple[str, ...] = get_args(Color)[1:]
RGB: Mapping[str, tuple[int, int, int]] = {
    "black": (0, 0, 0), "coral": (255, 127, 80), "gold": (255, 215, 0), "lightskyblue": (135, 206, 250),
    "lightpink": (255, 182, 193), "mediumseagreen": (60, 179, 113), "darkgrey": (169, 169, 169),
    "lightgrey": (211, 211, 211),
}  # fmt: skip
# Published name -> whether parts are named, whether parts are colored. `aug` shows subsets of parts.
CONDITIONS: Mapping[str, tuple[bool, bool]] = {
    "whole+black": (False, False), "part+black": (True, False),
    "whole+color": (False, True), "part+color": (True, True),
}  # fmt: skip
AUG = "aug"


@dataclass(frozen=True)
class Example:
    """An annotation with its parts in sentence order.

    Attributes:
        shown: indices of the shown parts, in sentence order.
    """

    annotation: Annotation
    parts: tuple[tuple[str, tuple[int, ...]], ...]
    shown: tuple[int, ...]

    @property
    def tangram(self) -> str:
        """Return the id of the tangram."""
        return self.annotation.tangram

    @property
    def names(self) -> list[str]:
        """Return the names of the shown parts, in sentence order."""
        return [self.parts[k][0] for k in self.shown]

    @property
    def shown_mask(self) -> int:
        """Return the shown parts as a bit mask; part 0 of the sentence is the lowest bit."""
        return sum(1 << k for k in self.shown)

    def text(self, condition: str) -> str:
        """Return the utterance: the whole alone, or a caption with parts."""
        if not (condition == AUG or CONDITIONS[condition][0]):
            return self.annotation.whole
        return caption(self.annotation.whole, self.names)

    def hashed(self, condition: str) -> str:
        """Return the published text, `whole#part#part`."""
        with_parts = condition == AUG or CONDITIONS[condition][0]
        return "#".join([self.annotation.whole, *(self.names if with_parts else ())])

    def colors(self, condition: str) -> tuple[str, ...]:
        """Return the color of each of the seven pieces: that of its part, black if the part is not shown."""
        by_piece = dict.fromkeys(PIECES, "black")
        if condition == AUG or CONDITIONS[condition][1]:
            for color, k in zip(COLORS, self.shown, strict=False):
                by_piece |= dict.fromkeys(self.parts[k][1], color)
        return tuple(by_piece[piece] for piece in PIECES)

    def image(self, condition: str) -> str:
        """Return the published file name of the image without its suffix: by tangram, annotation or subset."""
        if condition == AUG:
            return f"{self.annotation.key}_{self.shown_mask}"
        return self.annotation.key if CONDITIONS[condition][1] else self.tangram


@lru_cache(maxsize=50_000)
def whole_example(annotation: Annotation, seed: int) -> Example:
    """Return the example with all parts, in an order drawn for this annotation."""
    parts = tuple(shuffled(generator(seed, f"kilogram/{annotation.key}", "parts"), list(annotation.groups().items())))
    return Example(annotation, parts, tuple(range(len(parts))))


def with_subset(example: Example, subset: int, seed: int) -> Example:
    """Return the example with only the parts of a bit mask, in an order drawn for this subset."""
    chosen = [k for k in range(len(example.parts)) if subset >> k & 1]
    rng = generator(seed, f"kilogram/{example.annotation.key}", f"subset-{subset}")
    return Example(example.annotation, example.parts, tuple(shuffled(rng, chosen)))


def subsets(example: Example, seed: int) -> Iterator[Example]:
    """Yield all 2^p subsets of the parts, from none to all."""
    for subset in range(1 << len(example.parts)):
        yield with_subset(example, subset, seed)


_ENGLISH = inflect.engine()


@lru_cache(maxsize=50_000)
def with_article(phrase: str) -> str:
    """Return the phrase after `a` or `an`, or unchanged if its last word is a plural, as the published code does.

    An `a` or `an` that is there is replaced; other determiners get one, too.
    """
    last = phrase.split(" ")[-1].strip()
    if not phrase.strip() or (last and _ENGLISH.singular_noun(last)):
        return phrase
    # It returns nothing for several lines.
    return _ENGLISH.a(phrase) or phrase


def caption(whole: str, parts: Sequence[str]) -> str:
    """Return `a <whole> with a <part>, a <part>, and a <part>`. Two parts keep the comma; without parts, the whole."""
    head = with_article(whole)
    named = [with_article(part) for part in parts]
    if not named:
        return head
    if len(named) == 1:
        return f"{head} with {named[0]}"
    return f"{head} with {', '.join(named[:-1])}, and {named[-1]}"


@lru_cache(maxsize=50_000)
def normalized(text: str) -> tuple[str, ...]:
    """Return the words in lower case without punctuation and articles."""
    words = re.findall(r"[^\W_]+", text.lower())
    return tuple(word for word in words if word not in ("a", "an", "the")) or tuple(words)


def same_text(text: str, other: str) -> bool:
    """Return whether two descriptions differ at most in case, articles, punctuation, and one typo per word.

    A typo: a letter added, removed or replaced, or two letters swapped, in words of at least five letters.
    """
    first, second = normalized(text), normalized(other)
    if len(first) != len(second):
        # Only the spaces may differ: "bow tie", "bowtie".
        return "".join(first) == "".join(second)
    return all(a == b or (min(len(a), len(b)) >= 5 and _one_typo(a, b)) for a, b in zip(first, second, strict=True))


def _one_typo(a: str, b: str) -> bool:
    if abs(len(a) - len(b)) > 1:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    rest, other = a[start:], b[start:]
    return (
        rest[1:] == other[1:] or rest[1:] == other or rest == other[1:]
        or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    )  # fmt: skip


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
                game = _draw_game(target, tangrams, number, options, level, mask)
                if game is None:
                    reason = f"no {options.context_size - 1} distractors called otherwise among descriptions{kind}"
                    skipped.setdefault(reason, []).append(target.key)
                    break
                yield game


def _draw_game(
    target: Annotation,
    tangrams: dict[str, list[Annotation]],
    number: int,
    options: Options,
    level: int | None,
    subset: int | None,
) -> Game | None:
    episode = f"kilogram/{options.split}/{target.key}{'' if subset is None else f'_{subset}'}/{number}"
    # Games of a target that differ in how many parts they show have other distractors and positions.
    drawn = "" if level is None or subset is not None else f"-{level}"
    rng = generator(options.seed, episode, f"context{drawn}")
    chosen = [target]
    same = str.__eq__ if options.distinct == "raw" else same_text
    others = [name for name in tangrams if name != target.tangram]
    for name in shuffled(rng, others):
        for item in shuffled(rng, tangrams[name]):
            if options.unconstrained or not any(same(item.whole, earlier.whole) for earlier in chosen):
                chosen.append(item)
                break
        if len(chosen) == options.context_size:
            break
    if len(chosen) < options.context_size:
        return None
    examples = [whole_example(item, options.seed) for item in chosen]
    if level is not None:
        draw = generator(options.seed, episode, f"{AUG}-{level}")
        masks = [sum(1 << k for k in sample(draw, range(len(example.parts)), level)) for example in examples]
        masks[0] = masks[0] if subset is None else subset
        examples = [with_subset(example, mask, options.seed) for example, mask in zip(examples, masks, strict=True)]
    order = shuffled(generator(options.seed, episode, f"order{drawn}"), range(len(chosen)))
    return Game(number, tuple(examples), tuple(order))
