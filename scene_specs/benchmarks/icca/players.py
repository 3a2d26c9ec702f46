"""Built-in players, which need no network, players that replay a transcript, and players by name.

An entry point of group `diorama.icca.speakers` or `diorama.icca.listeners` names a factory; see
`diorama.scene_specs.benchmarks.icca.play`. Those of the built-in players are in pyproject.toml.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from diorama.scene_specs.benchmarks.icca.game import PER_REPETITION, REPETITIONS, Game
from diorama.scene_specs.benchmarks.icca.layout import SceneGraph, agreement, others_of, subgraph
from diorama.scene_specs.benchmarks.icca.play import MAX_ANSWER, MAX_MESSAGE, ListenerView, Setup, SpeakerView, label_of
from diorama.scene_specs.benchmarks.icca.prompts import Part, PastTrial, last_shown, messages_of
from diorama.scene_specs.benchmarks.icca.referring_expressions import (
    NO_NOUN,
    IndistinguishableError,
    Lexicon,
    incremental,
    pruned_incremental,
    text_of,
)
from diorama.scene_specs.benchmarks.icca.transcripts import Transcript, read_transcripts
from diorama.scene_specs.errors import UsageError, spec_error
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.language.rng import generator, pick
from diorama.scene_specs.tasks.chat import OpenedModel, Picture

_Key = TypeVar("_Key", int, str)


def _known_graphs(game: Game, player: str) -> tuple[SceneGraph, ...]:
    """Return the scene graphs of a game's images. Raises SpecError where they are unknown."""
    if not game.pictures:
        raise game.error(f"{player} needs the truth of the images, which games made by Diorama have in game.json")
    return game.pictures


def _to_identify(game: Game, player: str) -> list[tuple[SceneGraph, list[SceneGraph]]]:
    """Return the scene graph of each image, with those of the other images.

    Raises SpecError where the graphs are unknown, or an image can't be identified.
    """
    graphs = _known_graphs(game, player)
    pairs = [(graph, others_of(graphs, k)) for k, graph in enumerate(graphs)]
    for image, (graph, others) in zip(game.images, pairs, strict=True):
        try:
            incremental(graph, others)
        except IndistinguishableError as error:
            raise game.error(f"{player} can't name {image}: {error}") from None
    return pairs


class PlannedSpeaker:
    """A speaker whose messages are known in advance, one per trial."""

    _messages: list[str]

    def speak(self, view: SpeakerView) -> str:
        """Return the message of this trial."""
        return self._messages[view.trial]


class ScriptedSpeaker(PlannedSpeaker):
    """Shortens its messages as far as a listener who remembers the game still understands them.

    Repetition 0: every object with all its values (and the relations that the next message uses). 1: the incremental
    algorithm's description. 2: that without its redundant parts. 3: that without `a` and `an`. 4 and 5: the last
    message for the image, without the words that `remembered` does not need; at least two values in 4, one in 5.
    """

    def __init__(self, game: Game, setup: Setup) -> None:
        stages = [self._stages(*pair) for pair in _to_identify(game, "the scripted speaker")]
        self._lexicon = Lexicon(game.pictures)
        # Image and meaning of each message so far.
        self._said: list[tuple[int, SceneGraph]] = []
        self._messages = []
        last = [shorter for _, _, shorter in stages]
        for number, image in enumerate(game.targets):
            repetition = number // PER_REPETITION
            if repetition > 3:
                last[image] = self._drop_needless(image, last[image], REPETITIONS - repetition)
            message = text_of(stages[image][repetition]) if repetition < 3 else _without_articles(last[image])
            self._said.append((image, self._lexicon.parse(message)))
            self._messages.append(message)

    def _stages(self, graph: SceneGraph, others: Sequence[SceneGraph]) -> tuple[SceneGraph, SceneGraph, SceneGraph]:
        described = incremental(graph, others)
        complete = graph if described.relations else SceneGraph(graph.objects, ())
        return complete, described, pruned_incremental(graph, others, types=True)

    def _drop_needless(self, image: int, description: SceneGraph, least: int) -> SceneGraph:
        """Return a description without what can go; one value after the other, from the end."""
        for k in reversed(range(len(description.atoms()))):
            count = len(description.atoms())
            rest = subgraph(description, (1 << count) - 1 - (1 << k)) if count > least else description
            # An object without any value would need a new word.
            if all(rest.objects) and remembered(self._lexicon.parse(_without_articles(rest)), self._said) == [image]:
                description = rest
        return description


def _without_articles(description: SceneGraph) -> str:
    """Return a description without articles or `thing` after a value; `the` and `another` refer to other objects."""
    values = "|".join(re.escape(value) for item in description.objects for _, value in item)
    words = [word for word in text_of(description).replace(" and ", ", ").split() if word not in ("a", "an")]
    return re.sub(rf"\b({values}) {NO_NOUN}\b", r"\1", " ".join(words))


def remembered(heard: SceneGraph, said: Iterable[tuple[_Key, SceneGraph]]) -> list[_Key]:
    """Return the labels (or images) for which a message contained all that is heard.

    Of several, those whose last such message had the fewest values.

    Args:
        said: label and meaning of each earlier message.
    """
    known = {
        label: len(before.atoms())
        for label, before in said
        if heard.atoms() and agreement(heard, before) == len(heard.atoms())
    }
    return [label for label, count in known.items() if count == min(known.values())]


class SteadySpeaker(PlannedSpeaker):
    """Gives the incremental algorithm's description, the same in all repetitions."""

    def __init__(self, game: Game, setup: Setup) -> None:
        said = [text_of(incremental(*pair)) for pair in _to_identify(game, "the steady speaker")]
        self._messages = [said[image] for image in game.targets]


class RestlessSpeaker(PlannedSpeaker):
    """Describes everything, and starts with another object in each repetition, so that no convention forms."""

    def __init__(self, game: Game, setup: Setup) -> None:
        graphs = _known_graphs(game, "the restless speaker")
        self._messages = [
            text_of(_rotate(graphs[image], number // PER_REPETITION)) for number, image in enumerate(game.targets)
        ]


def _rotate(graph: SceneGraph, turn: int) -> SceneGraph:
    """Return the same graph with its objects rotated by `turn`."""
    count = len(graph.objects)
    moved = [(k + turn) % count for k in range(count)]
    relations = tuple((name, moved.index(a), moved.index(b)) for name, a, b in graph.relations)
    return SceneGraph(tuple(graph.objects[k] for k in moved), relations)


class RecordedSpeaker(PlannedSpeaker):
    """Repeats the messages of the game's own table of trials."""

    def __init__(self, game: Game, setup: Setup) -> None:
        if not game.recorded:
            raise game.error("no messages are recorded in it")
        self._messages = [trial.message for trial in game.recorded]


class OracleListener:
    """Knows the answer."""

    def __init__(self, game: Game, setup: Setup) -> None:
        self._game, self._setup = game, setup

    def choose(self, view: ListenerView) -> str:
        """Return the target's label."""
        order = self._game.listener_order(self._setup.listener, view.trial, self._setup.presentation.seed)
        return view.labels[order.index(self._game.targets[view.trial])]


class RandomListener:
    """Guesses; all labels are equally likely."""

    def __init__(self, game: Game, setup: Setup) -> None:
        self._name, self._seed = game.name, setup.presentation.seed

    def choose(self, view: ListenerView) -> str:
        """Any label."""
        return self._pick_label("guess", view, view.labels)

    def _pick_label(self, purpose: str, view: ListenerView, labels: Sequence[str]) -> str:
        return pick(generator(self._seed, f"icca/{self._name}", f"{purpose} {view.trial}"), labels)


class LiteralListener(RandomListener):
    """Picks, of the images shown last, the one that most of the message is true of; draws between equals.

    Remembers nothing.
    """

    def __init__(self, game: Game, setup: Setup) -> None:
        super().__init__(game, setup)
        self._graphs = dict(zip(game.images, _known_graphs(game, "the literal listener"), strict=True))
        self._lexicon = Lexicon(tuple(self._graphs.values()))

    def best(self, view: ListenerView) -> list[str]:
        """Return the labels of the images that fit best; all labels where no image is shown or no word is known."""
        description = self._lexicon.parse(view.message)
        shown = last_shown(view.prompt, view.labels)
        seen = {label: self._graphs[file] for label, file in shown.items() if file in self._graphs}
        if not seen or not description.atoms():
            return list(view.labels)
        scores = {label: agreement(description, graph) for label, graph in seen.items()}
        most = max(scores.values())
        return [label for label in view.labels if scores.get(label) == most]

    def choose(self, view: ListenerView) -> str:
        """One of the best labels."""
        return self._pick_label("literal", view, self.best(view))


class LearnerListener(LiteralListener):
    """Trusts earlier feedback more than the images: picks a label whose earlier message contained all of this one (of
    several, the one whose last message had the fewest other values); otherwise behaves as the literal listener.
    """

    def __init__(self, game: Game, setup: Setup) -> None:
        super().__init__(game, setup)
        self._shuffled, self._images = setup.listener.shuffle, game.images

    def choose(self, view: ListenerView) -> str:
        """Return the label."""
        said = ((self._current_label(earlier, view), self._lexicon.parse(earlier.message)) for earlier in view.past)
        known = remembered(self._lexicon.parse(view.message), (pair for pair in said if pair[0]))
        if not known:
            return super().choose(view)
        return self._pick_label("learner", view, [label for label in view.labels if label in known])

    def _current_label(self, earlier: PastTrial, view: ListenerView) -> str:
        """Return an earlier target's current label, "" if unknown. With shuffled labels, the image identifies it."""
        # The feedback to an invalid answer does not reveal the right label.
        if not earlier.choice or not self._shuffled:
            return earlier.listener_label if earlier.choice else ""
        file = self._images[earlier.shown[view.labels.index(earlier.listener_label)]]
        return next((name for name, shown in last_shown(view.prompt, view.labels).items() if file == shown), "")


class Replay:
    """A factory of players that repeat a transcript: the same messages, the same images. Raises SpecError."""

    def __init__(self, path: Path) -> None:
        self._games: dict[str, Transcript] = {}
        self._path = path
        for transcript in read_transcripts(path):
            if self._games.setdefault(transcript.game, transcript) is not transcript:
                hint = "a replay needs one transcript per game"
                raise spec_error(f"game {transcript.game!r} is there twice", hint, file=str(path))

    def __call__(self, game: Game, setup: Setup) -> ReplayedPlayer:
        """Return a game's player, as speaker or listener. Raises SpecError where the transcript is of another game."""
        transcript = self._games.get(game.name)
        if transcript is None:
            raise spec_error(f"game {game.name!r} is not in it", file=str(self._path))
        if transcript.images != game.images or tuple(trial.target for trial in transcript.trials) != game.target_images:
            raise spec_error(f"game {game.name!r} has other images or targets there", file=str(self._path))
        return ReplayedPlayer(transcript, game, setup)


class ReplayedPlayer:
    """Repeats a transcript's messages and choices."""

    def __init__(self, transcript: Transcript, game: Game, setup: Setup) -> None:
        self._transcript, self._game, self._setup = transcript, game, setup

    def speak(self, view: SpeakerView) -> str:
        """Return the message of this trial."""
        return self._transcript.trials[view.trial].message

    def choose(self, view: ListenerView) -> str:
        """Return the present label of the image that was picked; an invalid answer is repeated."""
        trial = self._transcript.trials[view.trial]
        if not trial.choice:
            # With other labels, the same words could name one.
            return "" if label_of(trial.answer, view.labels) else trial.answer
        image = trial.order[self._transcript.labels.index(trial.choice)]
        order = self._game.listener_order(self._setup.listener, view.trial, self._setup.presentation.seed)
        return view.labels[order.index(image)]


def factory(role: str, name: str) -> Callable[[Game, Setup], Any]:
    """Return the factory of a player that is given by its name.

    Raises:
        UsageError: for an unknown player.
        PluginError: for one that can't be loaded.
    """
    available = plugins(f"icca.{role}s")
    if name not in available:
        hint = f"a package adds one by an entry point of group diorama.icca.{role}s"
        raise UsageError(f"found {role} {name!r}; allowed: {', '.join(available)}, replay:FILE ({hint})")
    make = available[name].load()
    if not callable(make):
        raise UsageError(f"{role} {name!r} of {available[name].owner}: found {type(make).__name__}; expected a factory")
    return make  # type: ignore[no-any-return]


# Of a speaker as published; an answer may be a sentence.
_TOKENS = {"speaker": 30, "listener": 16}


class ModelPlayer:
    """A model as speaker or listener.

    Attributes:
        usage: requests, tokens and cost of its last reply.
    """

    def __init__(self, model: OpenedModel, game: Game, setup: Setup) -> None:
        self._model, self._game = model, game
        self._pictures: dict[Part, Picture] = {}
        self.usage: dict[str, Any] = {}

    def speak(self, view: SpeakerView) -> str:
        """Return the model's message; "(no message)" if it is empty."""
        return self._ask_model("speaker", view)[:MAX_MESSAGE].strip() or "(no message)"

    def choose(self, view: ListenerView) -> str:
        """Return the model's answer."""
        return self._ask_model("listener", view)[:MAX_ANSWER]

    def _ask_model(self, role: str, view: SpeakerView | ListenerView) -> str:
        messages = messages_of(self._game, view.prompt, self._pictures)
        reply = self._model.reply(messages, max_tokens=_TOKENS[role], key=f"{self._game.name} {view.trial} {role}")
        self.usage = {key: value for key, value in vars(reply).items() if key != "text"}
        return reply.text
