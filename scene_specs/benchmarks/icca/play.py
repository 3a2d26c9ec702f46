"""A game played: trial by trial, messages and choices, and what each side was given."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from scene_specs.benchmarks.icca.game import Game, Order
from scene_specs.benchmarks.icca.input_errors import refused
from scene_specs.benchmarks.icca.players import Listener, ListenerView, Setup, Speaker, SpeakerView
from scene_specs.benchmarks.icca.prompts import (
    Part,
    Past,
    image_count,
    listener_prompt,
    speaker_prompt,
    speaker_trial_label,
)
from scene_specs.benchmarks.icca.variants import PER_REPETITION, TRIALS
from scene_specs.language.errors import DioramaError

LONGEST_MESSAGE = 4000
LONGEST_ANSWER = 20_000
# Half of a pair, as some tokenisers leave it: no text file can hold it.
_BROKEN = re.compile("[\ud800-\udfff]")
_Answer = TypeVar("_Answer")


class PlayerError(DioramaError):
    """A player that failed; says in which game and trial."""


@dataclass(frozen=True)
class Trial:
    """One trial. target: file. order: index of the image that each listener's label means; shown: that it shows (the
    same, but for misleading trials). answer: as given; choice: the label it is, or "". images: in the two prompts.
    """

    number: int
    target: str
    speaker_label: str
    listener_label: str
    message: str
    answer: str
    choice: str
    order: Order
    shown: Order
    images: tuple[int, int]
    prompts: tuple[tuple[Part, ...], tuple[Part, ...]] | None = None

    @property
    def repetition(self) -> int:
        """From 0 to 5."""
        return self.number // PER_REPETITION

    @property
    def correct(self) -> bool:
        """Whether the choice is the target's label."""
        return self.choice == self.listener_label

    def names_a_label(self, labels: Sequence[str]) -> bool:
        """Whether the message is, or seems to be, a label instead of a description."""
        listed = "|".join(map(re.escape, labels))
        whole = rf"\s*({listed})[.\s]*"
        # `picture a` may go on with `child drew`; capitals don't.
        said = rf"\b(?i:image|picture|photo|option|label)\s+({listed})\b"
        return re.fullmatch(whole, self.message, re.I) is not None or re.search(said, self.message) is not None


def label_of(answer: str, labels: Sequence[str]) -> str:
    """The label that an answer is, letter case, spaces and a last full stop set aside; "" if it is none."""
    plain = " ".join(answer.split()).removesuffix(".").casefold()
    return next((label for label in labels if label.casefold() == plain), "")


def play(game: Game, speaker: Speaker, listener: Listener, setup: Setup, keep_prompts: bool = False) -> list[Trial]:
    """All trials of a game. Raises SpecError for a message or an answer that is none, PlayerError for a player that
    fails.
    """
    trials: list[Trial] = []
    past: list[Past] = []
    for number in range(TRIALS):
        trial, seen = _trial(game, speaker, listener, setup, number, tuple(past), keep_prompts)
        trials.append(trial)
        past.append(seen)
    return trials


def _trial(
    game: Game, speaker: Speaker, listener: Listener, setup: Setup, number: int, past: tuple[Past, ...], keep: bool
) -> tuple[Trial, Past]:
    setting, target = setup.setting, game.targets[number]
    labels = setting.names
    own = speaker_trial_label(game, setting, target)
    asked = tuple(speaker_prompt(game, setup.speaker, setting, number, past, own))
    said = _asked(game, number, "speaker", lambda: speaker.speak(SpeakerView(number, own, labels, asked, past)))
    message = _message(said, game, number)
    order = game.listener_order(setup.listener, number, setting.seed)
    shown = game.shown_order(setup.listener, number, setting.seed)
    # Without a history the listener is given none, however it asks.
    known = past if setup.listener.history else ()
    told = tuple(listener_prompt(game, setup.listener, setting, number, known, message))
    view = ListenerView(number, message, labels, told, known)
    answer = _asked(game, number, "listener", lambda: listener.choose(view))
    if not isinstance(answer, str) or len(answer) > LONGEST_ANSWER:
        found = f"an answer of {len(answer)} characters" if isinstance(answer, str) else repr(answer)[:60]
        expected = f"a text of at most {LONGEST_ANSWER}"
        raise refused(f"game {game.name!r}, trial {number}: the listener gave {found}; expected {expected}")
    answer = _BROKEN.sub("\ufffd", answer)
    choice = label_of(answer, labels)
    gold = labels[order.index(target)]
    picked = speaker_trial_label(game, setting, order[labels.index(choice)]) if choice else ""
    trial = Trial(
        number, game.images[target], own, gold, message, answer, choice, order, shown,
        (image_count(asked), image_count(told)), (asked, told) if keep else None,
    )  # fmt: skip
    return trial, Past(number, message, own, gold, choice, picked, shown)


def player(role: str, factory: Callable[[Game, Setup], Any], game: Game, setup: Setup) -> Any:
    """What a factory makes for a game. role: `speaker` or `listener`. Raises PlayerError where it fails, SpecError for
    a game that it can't play, or for what has no `speak` or `choose`.
    """
    try:
        made = factory(game, setup)
    except DioramaError:
        raise
    except (Exception, SystemExit) as error:
        raise PlayerError(f"game {game.name!r}: the {role} can't be made: {error!r}") from error
    asked = {"speaker": "speak", "listener": "choose"}[role]
    if not callable(getattr(made, asked, None)):
        raise refused(f"the {role}'s factory gave {type(made).__name__}; expected an object with {asked}(view)")
    return made


def _asked(game: Game, number: int, role: str, ask: Callable[[], _Answer]) -> _Answer:
    try:
        return ask()
    # A model's library that ends the program would end it as if all were well.
    except (Exception, SystemExit) as error:
        raise PlayerError(f"game {game.name!r}, trial {number}: the {role} failed: {error!r}") from error


def _message(said: object, game: Game, number: int) -> str:
    text = _BROKEN.sub("\ufffd", " ".join(said.split())) if isinstance(said, str) else ""
    if not text or len(text) > LONGEST_MESSAGE:
        found = f"a message of {len(text)} characters" if text else repr(said)[:60]
        raise refused(
            f"game {game.name!r}, trial {number}: the speaker gave {found}; expected a text of 1 to {LONGEST_MESSAGE}"
        )
    return text
