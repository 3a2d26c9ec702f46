"""Playing a game: the views that players get, the protocols that they follow, and the loop over trials.

A player is an object with one method, `speak` or `choose`. Its factory gets the game and its Setup once per game. A
player that runs a model must use `view.prompt` only: game and setup hold the answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from diorama.scene_specs.benchmarks.icca import Presented
from diorama.scene_specs.benchmarks.icca.game import TRIALS, Game, ListenerVariant, Order, SpeakerVariant
from diorama.scene_specs.benchmarks.icca.prompts import (
    Part,
    PastTrial,
    image_count,
    listener_prompt,
    speaker_label_of,
    speaker_prompt,
)
from diorama.scene_specs.errors import DioramaError, UsageError

METHODS = {"speaker": "speak", "listener": "choose"}
MAX_MESSAGE = 4000
MAX_ANSWER = 20_000
_MAX_USAGE = 1 << 20
# Half of a surrogate pair, as some tokenizers leave it: no text file can hold it.
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKUP = re.compile(r"[*_`#\"]")
# A capital letter by itself, except the article in `A red cube`; a small one only alone, at the end, or before
# punctuation after a word such as `image`.
_LETTER = re.compile(
    r"(?<!\w)(?<!\w')(?:(A(?!\s[a-z]|'\w)|A(?=\s(?:is|or|and|but|because|since|seems|matches|fits|shows|best)\b)"
    r"|(?i:(?<=image )|(?<=picture )|(?<=option ))A|[B-D](?!'\w))(?!\w)"
    r"|(?:(?:^|(?<=[(\[]))|\b(?i:image|picture|photo|option|label|answer|choice|is)\s*:?\s?)[(\[]?([a-d])(?=\s*(?:$|[^\w\s'])))"
)


class PlayerError(DioramaError):
    """A player that failed, with its game and trial."""


@dataclass(frozen=True)
class Setup:
    """The settings of a game.

    Attributes:
        models: of players that are models: role -> settings.
    """

    presentation: Presented
    speaker: SpeakerVariant
    listener: ListenerVariant
    models: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SpeakerView:
    """What the speaker knows of a trial.

    Attributes:
        label: of the target, in the speaker's order.
    """

    trial: int
    label: str
    labels: tuple[str, ...]
    prompt: tuple[Part, ...]
    past: tuple[PastTrial, ...]


@dataclass(frozen=True)
class ListenerView:
    """What the listener knows of a trial.

    Attributes:
        labels: the valid answers.
    """

    trial: int
    message: str
    labels: tuple[str, ...]
    prompt: tuple[Part, ...]
    past: tuple[PastTrial, ...]


class Speaker(Protocol):
    """Describes targets."""

    def speak(self, view: SpeakerView) -> str:
        """Return the message of a trial, one line."""
        ...


class Listener(Protocol):
    """Picks an image for a message."""

    def choose(self, view: ListenerView) -> str:
        """One of view.labels; any other text is a wrong answer."""
        ...


@dataclass(frozen=True)
class Trial(PastTrial):
    """One trial.

    Attributes:
        target: file.
        order: index of the image that each listener's label means, which differs from `shown` in misleading trials
            only.
        speaker_images: number of images in the prompts.
        listener_images: number of images in the prompts.
        prompts: of speaker and listener; () if read from a file.
        usage: tokens and costs of players that are models, by role.
    """

    target: str
    order: Order
    speaker_images: int
    listener_images: int
    prompts: tuple[tuple[Part, ...], ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)

    def names_a_label(self, labels: Sequence[str]) -> bool:
        """Whether the message is, or seems to be, a label instead of a description."""
        listed = "|".join(map(re.escape, labels))
        only_label = rf"\s*({listed})[.\s]*"
        # `picture a` may continue as `picture a child drew`; capital letters do not.
        mentions_label = rf"\b(?i:image|picture|photo|option|label)\s+({listed})\b"
        return re.fullmatch(only_label, self.message, re.I) is not None or bool(re.search(mentions_label, self.message))


def label_of(answer: str, labels: Sequence[str]) -> str:
    """Return the label that an answer names, as a person reads it: `B`, `(b)`, `**B**`, `image b`, `The answer is B.`

    "" for an answer that names none or several.
    """
    plain = " ".join(_MARKUP.sub(" ", answer).split())
    if len(labels[0]) == 1:
        named = {(first or second).upper() for first, second in _LETTER.findall(plain)}
    else:
        text = plain.casefold().replace("-", " ").replace("upper", "top").replace("lower", "bottom")
        named = {label for label in labels if re.search(rf"\b{re.escape(label.casefold())}\b", text)}
    matches = [label for label in labels if label in named]
    return matches[0] if len(matches) == 1 else ""


def play(game: Game, speaker: Speaker, listener: Listener, setup: Setup, count: int = TRIALS) -> list[Trial]:
    """Play the first `count` trials of a game.

    Raises:
        SpecError: for an invalid message or answer.
        PlayerError: for a player that fails.
    """
    trials: list[Trial] = []
    past: list[PastTrial] = []
    for _ in range(count):
        trial = _play_trial(game, speaker, listener, setup, tuple(past))
        trials.append(trial)
        # Not the trial itself: its target and order are what players must not know.
        past.append(PastTrial(**{each.name: getattr(trial, each.name) for each in fields(PastTrial)}))
    return trials


def _play_trial(game: Game, speaker: Speaker, listener: Listener, setup: Setup, past: tuple[PastTrial, ...]) -> Trial:
    number, presentation = len(past), setup.presentation
    target = game.targets[number]
    labels = presentation.names
    speaker_label = speaker_label_of(game, presentation, target)
    to_speaker = tuple(speaker_prompt(game, setup.speaker, presentation, number, past, speaker_label))
    speaker_view = SpeakerView(number, speaker_label, labels, to_speaker, past)
    message = _ask(game, number, "speaker", lambda: speaker.speak(speaker_view), 1, MAX_MESSAGE)
    order = game.listener_order(setup.listener, number, presentation.seed)
    shown = game.shown_order(setup.listener, number, presentation.seed)
    # Without a history the listener's view must not contain one either.
    known = past if setup.listener.history else ()
    to_listener = tuple(listener_prompt(game, setup.listener, presentation, number, known, message))
    listener_view = ListenerView(number, message, labels, to_listener, known)
    answer = _ask(game, number, "listener", lambda: listener.choose(listener_view), 0, MAX_ANSWER)
    choice = label_of(answer, labels)
    gold = labels[order.index(target)]
    picked = speaker_label_of(game, presentation, order[labels.index(choice)]) if choice else ""
    players = {"speaker": speaker, "listener": listener}
    usage = {
        role: _usage_data(game, number, role, player) for role, player in players.items() if hasattr(player, "usage")
    }
    return Trial(
        number, message, speaker_label, gold, choice, picked, shown, answer, game.images[target], order,
        image_count(to_speaker), image_count(to_listener), (to_speaker, to_listener), usage,
    )  # fmt: skip


def _usage_data(game: Game, number: int, role: str, player: Any) -> Any:
    """Return a player's usage as JSON data, which the player can't change later. Raises PlayerError."""
    text = _ask(game, number, role, lambda: json.dumps(player.usage, default=str, ensure_ascii=False), 0, _MAX_USAGE)
    return json.loads(text)


def player(role: str, factory: Callable[[Game, Setup], Any], game: Game, setup: Setup) -> Any:
    """Create a player for a game.

    Args:
        role: `speaker` or `listener`.

    Raises:
        PlayerError: where the factory fails.
        SpecError: for a game that the player can't play.
        UsageError: for an object without `speak` or `choose`.
    """
    try:
        created = factory(game, setup)
    except DioramaError:
        raise
    except (Exception, SystemExit) as error:
        raise PlayerError(f"game {game.name!r}: the {role} can't be made: {error!r}") from error
    method = METHODS[role]
    if not callable(getattr(created, method, None)):
        raise UsageError(f"the {role}'s factory gave {type(created).__name__}; expected an object with {method}(view)")
    return created


def _ask(game: Game, number: int, role: str, ask: Callable[[], object], least: int, most: int) -> str:
    """Return the text that a player returns; what may not be empty is one line.

    Raises PlayerError; SpecError for anything else, or for another length.
    """
    try:
        text = ask()
    # SystemExit: a model's library that exits would otherwise end the command as if it had succeeded.
    except (Exception, SystemExit) as error:
        cause = error if isinstance(error, DioramaError) else repr(error)
        raise PlayerError(f"game {game.name!r}, trial {number}: the {role} failed: {cause}") from error
    said = text if isinstance(text, str) else ""
    if least:
        said = " ".join(said.split())
    if not isinstance(text, str) or not least <= len(said) <= most:
        reply = f"a text of {len(said)} characters" if said else repr(text)[:60]
        raise game.error(f"trial {number}: the {role} gave {reply}; expected a text of {least} to {most} characters")
    return _SURROGATE.sub("\ufffd", said)
