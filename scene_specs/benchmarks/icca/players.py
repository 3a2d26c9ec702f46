"""Players: two functions, `speak` and `choose`. Built-in ones need no network; a user's come by entry points.

An entry point of group `diorama.icca.speakers` or `diorama.icca.listeners` names a factory: called with the game and
its Setup once a game, it gives an object with `speak(view) -> str`, or `choose(view) -> str`. A player that is a model
should look at `view.prompt` only: game and setup hold the truth, for players that are meant to know it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from types import MappingProxyType
from typing import Any, Protocol

from scene_specs.benchmarks.icca.game import Game
from scene_specs.benchmarks.icca.input_errors import refused
from scene_specs.benchmarks.icca.prompts import Part, Past, Setting
from scene_specs.benchmarks.icca.variants import ListenerVariant, SpeakerVariant

GROUPS: Mapping[str, str] = MappingProxyType({"speaker": "diorama.icca.speakers", "listener": "diorama.icca.listeners"})


@dataclass(frozen=True)
class Setup:
    """What a game is played with. seed: of players that draw."""

    setting: Setting
    speaker: SpeakerVariant
    listener: ListenerVariant
    seed: int = 0


@dataclass(frozen=True)
class SpeakerView:
    """A trial as the speaker has it. label: of the target, in the speaker's order."""

    trial: int
    label: str
    labels: tuple[str, ...]
    prompt: tuple[Part, ...]
    past: tuple[Past, ...]


@dataclass(frozen=True)
class ListenerView:
    """A trial as the listener has it. labels: the valid answers."""

    trial: int
    message: str
    labels: tuple[str, ...]
    prompt: tuple[Part, ...]
    past: tuple[Past, ...]


class Speaker(Protocol):
    """Gives a message for a target."""

    def speak(self, view: SpeakerView) -> str:
        """The message of a trial, one line."""
        ...


class Listener(Protocol):
    """Picks a picture for a message."""

    def choose(self, view: ListenerView) -> str:
        """One of view.labels; whatever else is a wrong answer."""
        ...


SpeakerFactory = Callable[[Game, Setup], Speaker]
ListenerFactory = Callable[[Game, Setup], Listener]


def _built_in() -> dict[str, dict[str, Any]]:
    from scene_specs.benchmarks.icca import listeners, speakers

    return {
        "speaker": {
            "scripted": speakers.Scripted,
            "steady": speakers.Steady,
            "restless": speakers.Restless,
            "recorded": speakers.RecordedSpeaker,
        },
        "listener": {
            "oracle": listeners.Oracle,
            "random": listeners.Guesser,
            "literal": listeners.Literal,
            "learner": listeners.Learner,
        },
    }


def names(role: str) -> tuple[str, ...]:
    """All players of a role, `speaker` or `listener`: built in, then installed."""
    built_in = _built_in()[role]
    return (*built_in, *sorted(point.name for point in metadata.entry_points(group=GROUPS[role])))


def factory(role: str, name: str) -> Callable[[Game, Setup], Any]:
    """A player's factory by name. Raises SpecError for one that is not there or can't be loaded."""
    built_in = _built_in()[role]
    if name in built_in:
        return built_in[name]  # type: ignore[no-any-return]
    for point in metadata.entry_points(group=GROUPS[role]):
        if point.name == name:
            try:
                found = point.load()
            except Exception as error:
                raise refused(f"{role} {name!r} ({point.value}) can't be loaded: {error}") from error
            if not callable(found):
                raise refused(f"{role} {name!r} ({point.value}): found {type(found).__name__}; expected a factory")
            return found  # type: ignore[no-any-return]
    hint = f"a package adds one by an entry point of group {GROUPS[role]}"
    raise refused(f"found {role} {name!r}; allowed: {', '.join(names(role))}, replay:FILE", hint)


def last_shown(prompt: Sequence[Part], labels: Sequence[str]) -> dict[str, str]:
    """Label -> file, by the images that were shown last; {} where none were."""
    for end in range(len(prompt), 0, -1):
        part = prompt[end - 1]
        if part.kind == "collage":
            return dict(zip(labels, part.files, strict=True))
        if part.kind != "text":
            four = prompt[max(0, end - len(labels)) : end]
            return {one.label: one.files[0] for one in four}
    return {}
