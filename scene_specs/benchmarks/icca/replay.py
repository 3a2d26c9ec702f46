"""Players that say and pick again what a transcript has."""

from __future__ import annotations

from pathlib import Path

from scene_specs.benchmarks.icca.game import Game
from scene_specs.benchmarks.icca.input_errors import refused
from scene_specs.benchmarks.icca.players import ListenerView, Setup, SpeakerView
from scene_specs.benchmarks.icca.transcripts import Transcript, read_transcripts


class Replayed:
    """Says and picks again what a transcript has: the same messages, the same images."""

    def __init__(self, path: Path) -> None:
        self._games: dict[str, Transcript] = {}
        self._path = path
        for one in read_transcripts(path):
            if self._games.setdefault(one.game, one) is not one:
                hint = "a replay takes one way in which each was played"
                raise refused(f"game {one.game!r} is there twice", hint, file=str(path))

    def _of(self, game: Game) -> Transcript:
        found = self._games.get(game.name)
        if found is None:
            raise refused(f"game {game.name!r} is not in it", file=str(self._path))
        if found.images != game.images or tuple(one.target for one in found.trials) != tuple(
            game.images[k] for k in game.targets
        ):
            raise refused(f"game {game.name!r} has other images or targets there", file=str(self._path))
        return found

    def speaker(self, game: Game, setup: Setup) -> ReplayedSpeaker:
        """A factory of speakers."""
        return ReplayedSpeaker(self._of(game))

    def listener(self, game: Game, setup: Setup) -> ReplayedListener:
        """A factory of listeners."""
        return ReplayedListener(self._of(game), game, setup)


class ReplayedSpeaker:
    """Recorded messages."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript

    def speak(self, view: SpeakerView) -> str:
        """The message of this trial."""
        return self._transcript.trials[view.trial].message


class ReplayedListener:
    """Recorded choices: the image that was picked, whatever label it has now; an invalid answer stays as it was."""

    def __init__(self, transcript: Transcript, game: Game, setup: Setup) -> None:
        self._transcript, self._game, self._setup = transcript, game, setup

    def choose(self, view: ListenerView) -> str:
        """The label."""
        trial = self._transcript.trials[view.trial]
        if not trial.choice:
            return trial.answer
        image = trial.order[self._transcript.labels.index(trial.choice)]
        order = self._game.listener_order(self._setup.listener, view.trial, self._setup.setting.seed)
        return view.labels[order.index(image)]
