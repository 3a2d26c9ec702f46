"""A game: four images, 24 trials, each image the target once in each of six repetitions; who sees them in which order.

Orders and targets are functions of (seed, game id): nothing depends on how a file system lists its files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from scene_specs.benchmarks.icca.input_errors import refused
from scene_specs.benchmarks.icca.picture import Picture
from scene_specs.benchmarks.icca.variants import PER_REPETITION, REPETITIONS, TRIALS, ListenerVariant
from scene_specs.language.rng import generator

# <context>_<game>, as published folders are called.
GAME_ID = re.compile(r"[0-9]{1,6}_[A-Za-z0-9_-]{1,60}")
Order = tuple[int, ...]
_Target = TypeVar("_Target", int, str)


@dataclass(frozen=True)
class Recorded:
    """What somebody said and picked in a trial. clicked: target, distr0, distr1, distr2, or "" where nobody did."""

    message: str
    clicked: str = ""
    correct: bool | None = None
    time: str = ""


@dataclass(frozen=True)
class Game:
    """images: names of four files, sorted. targets: of each trial, an index of them. pictures: what they show, in the
    same order, where that is known. recorded: of each trial, or () where the game was not played. folder: where the
    files are, if they are.
    """

    name: str
    images: tuple[str, ...]
    targets: Order
    pictures: tuple[Picture, ...] = ()
    recorded: tuple[Recorded, ...] = ()
    folder: Path | None = None
    iteration: str = ""

    def __post_init__(self) -> None:
        problem = ""
        if not GAME_ID.fullmatch(self.name):
            problem = "expected <number of the context>_<letters, digits, _ ->"
        elif len({*self.images}) != PER_REPETITION or list(self.images) != sorted(self.images):
            problem = f"found images {', '.join(self.images)}; expected four different ones, sorted"
        elif len(self.targets) != TRIALS:
            problem = f"found {len(self.targets)} trials; expected {TRIALS}"
        elif self.pictures and len(self.pictures) != PER_REPETITION:
            problem = f"found truth of {len(self.pictures)} images; expected {PER_REPETITION}"
        else:
            problem = unequal_repetition(self.targets, range(PER_REPETITION))
        if problem:
            raise refused(f"game {self.name!r}: {problem}")

    @property
    def context(self) -> int:
        """Number of its context."""
        return int(self.name.partition("_")[0])

    @cached_property
    def speaker_order(self) -> Order:
        """Index of the image that has each of the speaker's labels, in all trials."""
        return _order(0, self.name, "speaker")

    def listener_order(self, variant: ListenerVariant, trial: int, seed: int = 0) -> Order:
        """Index of the image that each of the listener's labels means in a trial; drawn apart from the speaker's."""
        return _order(seed, self.name, f"listener {trial}" if variant.shuffle else "listener")

    def shown_order(self, variant: ListenerVariant, trial: int, seed: int = 0) -> Order:
        """Index of the image that is shown under each label: another one everywhere in misleading trials.

        The wrong order is drawn from the nine that leave none in its place, for this game and this trial.
        """
        order = self.listener_order(variant, trial, seed)
        if trial not in variant.misleading_trials:
            return order
        wrong = derangement(seed, self.name, trial)
        return tuple(order[k] for k in wrong)


def unequal_repetition(targets: Sequence[_Target], images: Sequence[_Target]) -> str:
    """What is wrong with the first repetition in which not each of the images is the target once; "" if none is."""
    for k in range(REPETITIONS):
        if sorted(targets[k * PER_REPETITION : (k + 1) * PER_REPETITION]) != sorted(images):
            return f"repetition {k}: each image has to be the target once"
    return ""


def _order(seed: int, name: str, purpose: str) -> Order:
    return tuple(generator(seed, f"icca/{name}", purpose).permutation(PER_REPETITION).tolist())


def derangement(seed: int, name: str, trial: int) -> Order:
    """A permutation of four without a fixed point, each of the nine as likely."""
    rng = generator(seed, f"icca/{name}", f"misleading {trial}")
    # Nine of 24 will do: a hundred draws without one come about once in 10^20.
    for _ in range(100):
        found = tuple(rng.permutation(PER_REPETITION).tolist())
        if all(k != value for k, value in enumerate(found)):
            return found
    raise RuntimeError("no derangement drawn")


def new_game(context: int, number: int, images: Sequence[str], pictures: Sequence[Picture], seed: int = 0) -> Game:
    """Game `number` of a context with drawn targets; no image is the target in two trials that follow each other.

    images: in the order of `pictures`, which may be none. Id: `<context, 3 digits>_<12 hexadecimal
    digits>`, drawn from all of these.
    """
    mark = int(generator(seed, f"icca/{context}/{number}", " ".join(sorted(images))).integers(16**12))
    name = f"{context:03d}_{mark:012x}"
    order = sorted(range(len(images)), key=lambda k: images[k])
    targets: list[int] = []
    rng = generator(seed, f"icca/{name}", "targets")
    for _ in range(REPETITIONS):
        block = rng.permutation(PER_REPETITION).tolist()
        if targets and block[0] == targets[-1]:
            # Rotating keeps the other three in their drawn order.
            block = block[1:] + block[:1]
        targets += block
    return Game(
        name, tuple(images[k] for k in order), tuple(targets), tuple(pictures[k] for k in order) if pictures else ()
    )
