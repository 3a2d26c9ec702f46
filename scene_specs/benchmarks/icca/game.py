"""Games and variants: four images, 24 trials, six repetitions; prompts of speakers and views of listeners.

Each image is the target once per repetition. Orders and targets depend on (seed, game id) only, not on how a file
system lists its files. The published variants and the texts of prompts are data (variants.json); a user's own variant
is a row of that table in a file: `read_listener`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from diorama.scene_specs.benchmarks.icca import Variants
from diorama.scene_specs.benchmarks.icca.layout import SceneGraph
from diorama.scene_specs.errors import SpecError, UsageError, spec_error
from diorama.scene_specs.files.foreign import parse_json
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.tasks.benchmark import Result

TRIALS = 24
REPETITIONS = 6
PER_REPETITION = 4
# <context>_<game>, as in the names of published folders.
GAME_ID = re.compile(r"[0-9]{1,6}_[A-Za-z0-9_-]{1,60}")
Order = tuple[int, ...]
_Target = TypeVar("_Target", int, str)


@dataclass(frozen=True)
class SpeakerVariant:
    """A variant of the published speakers.

    Attributes:
        says: the text of the instruction, which asks the same as the published one.
    """

    name: str
    instruction: str
    says: str


@dataclass(frozen=True)
class ListenerVariant:
    """A variant of the published listeners.

    Attributes:
        history: the prompt contains earlier trials.
        images_once: images are shown in trial 0 only.
        shuffle: the order of the images, and of their labels, is drawn anew for each trial.
        mask: black images are shown.
        misleading_trials: in these trials, images are shown in an order in which none has its own label.
        intro: the prompt begins with the rules of the game.
    """

    name: str
    history: bool
    images_once: bool
    shuffle: bool
    mask: bool
    misleading_trials: tuple[int, ...]
    intro: bool = True

    def __post_init__(self) -> None:
        trials = [*self.misleading_trials]
        if sorted({*trials}) != trials or not all(0 <= trial < TRIALS for trial in trials):
            raise spec_error(f"misleading_trials: found {trials}; expected numbers from 0 to {TRIALS - 1}, ascending")
        if self.shuffle and self.images_once:
            raise spec_error("shuffle with images_once: the listener can't know the new order; expected one of them")
        if self.images_once and not self.history:
            raise spec_error("images_once without history: no prompt after trial 0 would show the images")

    def data(self) -> dict[str, Any]:
        """Return the settings of the variant as JSON data, as in the table of variants."""
        row = {key: value for key, value in asdict(self).items() if key != "name" and (key, value) != ("intro", True)}
        return {**row, "misleading_trials": [*self.misleading_trials]}

    def shows(self, trial: int) -> bool:
        """Whether this trial (from 0) shows the images."""
        return not self.images_once or trial == 0 or trial in self.misleading_trials

    def images(self, trial: int, form: str = "separate") -> int:
        """Return the number of images in the prompt of a trial: four per showing, or one collage."""
        showings = sum(self.shows(number) for number in range(0 if self.history else trial, trial + 1))
        return showings * (1 if form == "collage" else PER_REPETITION)

    def most_images(self, form: str = "separate") -> int:
        """Return the largest number of images in any prompt of a game."""
        return max(self.images(trial, form) for trial in range(TRIALS))


def check_images(variant: ListenerVariant, form: str, most: int | None) -> None:
    """Raise UsageError if a variant's prompts contain more images than a model takes."""
    needed = variant.most_images(form)
    if most is not None and needed > most:
        problem = f"listener variant {variant.name}: its prompts hold up to {needed} images; allowed: {most}"
        raise UsageError(f"{problem}; use a variant with fewer images, or collages")


# Keys of the published file, with their defaults, and two that the published code reads and does not use.
_PUBLISHED = {
    "no_history": "history", "img_once": "images_once", "do_shuffle": "shuffle", "img_mask": "mask",
    "misleading_trials": "misleading_trials", "has_intro": "intro",
}  # fmt: skip
_DEFAULTS = {key: key == "has_intro" for key in _PUBLISHED}
_UNUSED = ("max_hist_len", "first_round_eg")


def listener_of(name: str, row: Mapping[str, Any]) -> ListenerVariant:
    """Return a variant from its settings as JSON data.

    Raises:
        KeyError: a setting is missing.
        TypeError: a setting is unknown or of another type.
        SpecError: a setting has a value that is not allowed.
    """
    return ListenerVariant(name, **{**row, "misleading_trials": tuple(row["misleading_trials"])})


_TABLE = json.loads((resources.files("diorama.scene_specs.benchmarks.icca") / "variants.json").read_text("utf-8"))
# The texts of prompts.
TEXTS: Mapping[str, str] = _TABLE["texts"]
# S1 to S4, and L1 to L7.
SPEAKER_VARIANTS = {name: SpeakerVariant(name, **row) for name, row in _TABLE["speaker"].items()}
LISTENER_VARIANTS = {name: listener_of(name, row) for name, row in _TABLE["listener"].items()}


def read_listener(text: str, name: str, file: str = "") -> ListenerVariant:
    """Return a user's listener variant as JSON: a row of the table, or the published `interaction_args_lsnr.json`.

    Raises SpecError.
    """
    row = parsed if isinstance(parsed := parse_json(text, file), dict) else {}
    types = {"history": bool, "images_once": bool, "shuffle": bool, "mask": bool, "misleading_trials": list}
    if {*row} & {"no_history", "img_once", "do_shuffle", "img_mask", "has_intro"}:
        if unknown := sorted({*row} - {*_PUBLISHED, *_UNUSED}):
            raise spec_error(f"unknown keys {', '.join(unknown)}; allowed: {', '.join(_PUBLISHED)}", file=file)
        row = {_PUBLISHED[key]: value for key, value in {**_DEFAULTS, **row}.items() if key in _PUBLISHED}
        row["history"] = row["history"] is False if type(row["history"]) is bool else None
        row["misleading_trials"] = row["misleading_trials"] or []
        types["intro"] = bool
    if {*row} != {*types} or not all(type(row[key]) is types[key] for key in types):
        expected = ", ".join(f"{key} ({kind.__name__})" for key, kind in types.items())
        raise spec_error(f"expected an object with {expected}", file=file)
    if not all(type(trial) is int for trial in row["misleading_trials"]):
        raise spec_error("expected numbers of trials", path="misleading_trials", file=file)
    return listener_of(name, row)


class Recorded(NamedTuple):
    """A recorded trial.

    Attributes:
        clicked: target, distr0, distr1, distr2, or "" without an answer.
    """

    message: str
    clicked: str = ""
    correct: bool | None = None
    time: str = "0"


@dataclass(frozen=True)
class Game:
    """A game over four images.

    Attributes:
        images: names of four files, sorted.
        targets: for each trial, an index of them.
        pictures: scene graphs of the images, in the same order, or () where unknown.
        recorded: recorded trials, or () for a game that was not played.
        folder: where the files are, or None.
    """

    name: str
    images: tuple[str, ...]
    targets: Order
    pictures: tuple[SceneGraph, ...] = ()
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
            raise self.error(problem)

    def error(self, problem: str) -> SpecError:
        """Return the error of a problem with this game; names its folder."""
        return spec_error(f"game {self.name!r}: {problem}", file=str(self.folder or ""))

    @property
    def context(self) -> int:
        """Number of its context."""
        return int(self.name.partition("_")[0])

    @property
    def target_images(self) -> tuple[str, ...]:
        """File of each trial's target."""
        return tuple(self.images[k] for k in self.targets)

    @cached_property
    def speaker_order(self) -> Order:
        """Index of the image that has each of the speaker's labels, in all trials."""
        return _draw_order(0, self.name, "speaker")

    def listener_order(self, variant: ListenerVariant, trial: int, seed: int = 0) -> Order:
        """Index of the image that has each of the listener's labels in a trial; independent of the speaker's order."""
        return _draw_order(seed, self.name, f"listener {trial}" if variant.shuffle else "listener")

    def shown_order(self, variant: ListenerVariant, trial: int, seed: int = 0) -> Order:
        """Index of the image that is shown under each label; wrong for every label in misleading trials.

        The wrong order is one of the nine derangements, drawn for this game and this trial.
        """
        order = self.listener_order(variant, trial, seed)
        if trial not in variant.misleading_trials:
            return order
        return tuple(order[k] for k in misleading_order(seed, self.name, trial))


def unequal_repetition(targets: Sequence[_Target], images: Sequence[_Target]) -> str:
    """Describe the first repetition in which not every image is the target once; "" if there is none."""
    for k in range(REPETITIONS):
        if sorted(targets[k * PER_REPETITION : (k + 1) * PER_REPETITION]) != sorted(images):
            return f"repetition {k}: each image has to be the target once"
    return ""


def _draw_order(seed: int, name: str, purpose: str) -> Order:
    return tuple(generator(seed, f"icca/{name}", purpose).permutation(PER_REPETITION).tolist())


def misleading_order(seed: int, name: str, trial: int) -> Order:
    """Return a permutation of four without a fixed point; the nine are equally likely."""
    rng = generator(seed, f"icca/{name}", f"misleading {trial}")
    # Nine of 24 permutations qualify: a hundred draws without one happen about once in 10^20.
    for _ in range(100):
        order = tuple(rng.permutation(PER_REPETITION).tolist())
        if all(k != value for k, value in enumerate(order)):
            return order
    raise RuntimeError("no derangement drawn")


def new_game(context: int, number: int, images: Sequence[str], pictures: Sequence[SceneGraph], seed: int = 0) -> Game:
    """Game `number` of a context with drawn targets; no image is the target of two consecutive trials.

    Args:
        images: file names, in the order of `pictures`, which may be empty. Id: `<context, 3 digits>_<12 hexadecimal
            digits>`, drawn from all arguments but `pictures`.
    """
    digits = int(generator(seed, f"icca/{context}/{number}", " ".join(sorted(images))).integers(16**12))
    name = f"{context:03d}_{digits:012x}"
    order = sorted(range(len(images)), key=lambda k: images[k])
    targets: list[int] = []
    rng = generator(seed, f"icca/{name}", "targets")
    for _ in range(REPETITIONS):
        block = rng.permutation(PER_REPETITION).tolist()
        if targets and block[0] == targets[-1]:
            # Rotating keeps the other three in their drawn order.
            block = block[1:] + block[:1]
        targets += block
    graphs = tuple(pictures[k] for k in order) if pictures else ()
    return Game(name, tuple(images[k] for k in order), tuple(targets), graphs)


def variants_command(options: Variants) -> Result:
    """Return the result of `render-specs icca variants`."""
    listeners = [
        {"name": setup.name, **setup.data(), "images": [setup.images(trial, options.form) for trial in range(TRIALS)]}
        for setup in LISTENER_VARIANTS.values()
    ]
    speakers = [asdict(setup) for setup in SPEAKER_VARIANTS.values()]
    lines = [f"{speaker['name']}  {speaker['instruction']}: {speaker['says']}" for speaker in speakers]
    for listener in listeners:
        settings = ", ".join(f"{key} {listener[key]}" for key in ("history", "images_once", "shuffle", "mask"))
        counts = listener["images"]
        lines.append(f"{listener['name']}  {settings}, misleading_trials {list(listener['misleading_trials'])}")
        lines.append(f"    images per prompt: {counts[0]} in trial 0, {counts[19]} in 19, {counts[23]} in 23")
    return Result({"speaker": speakers, "listener": listeners}, "\n".join(lines) + "\n")
