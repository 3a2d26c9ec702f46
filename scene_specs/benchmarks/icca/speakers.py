"""Built-in speakers, which know what the pictures show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from scene_specs.benchmarks.icca.describe import SameError, incremental, shortened
from scene_specs.benchmarks.icca.game import Game
from scene_specs.benchmarks.icca.input_errors import refused
from scene_specs.benchmarks.icca.picture import Picture
from scene_specs.benchmarks.icca.players import Setup, SpeakerView
from scene_specs.benchmarks.icca.variants import PER_REPETITION
from scene_specs.benchmarks.icca.wording import text_of

_SMALL = frozenset({"a", "an", "the", "and", "of", "in"})


def need_truth(game: Game, who: str) -> tuple[Picture, ...]:
    """What the game's images show. Raises SpecError where that is not known."""
    if not game.pictures:
        hint = "games that Diorama made have it in game.json"
        raise refused(f"game {game.name!r}: {who} needs the truth of the images, and there is none", hint)
    return game.pictures


def _told_apart(game: Game, who: str) -> tuple[Picture, ...]:
    """What the game's images show. Raises SpecError also where one of them shows all that another shows."""
    pictures = need_truth(game, who)
    for k, picture in enumerate(pictures):
        try:
            incremental(picture, _others(pictures, k))
        except SameError as error:
            problem = f"game {game.name!r}: {who} can't name {game.images[k]}: {error}"
            raise refused(problem) from None
    return pictures


def _others(pictures: Sequence[Picture], k: int) -> list[Picture]:
    return [one for j, one in enumerate(pictures) if j != k]


class Scripted:
    """Shortens what it says of a picture, repetition by repetition; content words are only ever left out (of relations,
    clauses may come in another order, too).

    0: every thing with all its values (and the relations that the next uses). 1: the incremental algorithm's
    description. 2: that, less all that it can do without. 3: that, without articles, `and` and `of`. 4: at most two of
    these words. 5: one word, another for each picture where their words allow.
    """

    def __init__(self, game: Game, setup: Setup) -> None:
        pictures = _told_apart(game, "the scripted speaker")
        order = game.speaker_order
        said = [self._stages(picture, _others(pictures, k)) for k, picture in enumerate(pictures)]
        for stages, word in zip(said, _own_words([stages[3].split() for stages in said]), strict=True):
            words = stages[3].split()
            at = words.index(word)
            # The word before it is mostly its adjective.
            pair = words[max(0, at - 1) : at + 1] if at else words[:2]
            stages += [" ".join(pair), word]
        self._said = {name: said[k] for name, k in zip(setup.setting.names, order, strict=True)}

    def _stages(self, picture: Picture, others: Sequence[Picture]) -> list[str]:
        step = incremental(picture, others)
        least = shortened(picture, others, types=True)
        first = Picture(picture.things, ()) if not step.relations else picture
        short = text_of(least)
        return [text_of(first), text_of(step), short, " ".join(w for w in _words(short) if w not in _SMALL)]

    def speak(self, view: SpeakerView) -> str:
        """The message of this repetition."""
        return self._said[view.label][view.trial // PER_REPETITION]


def _words(text: str) -> list[str]:
    return text.replace(",", "").split()


def _own_words(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """A word of each row, all different if there are such; of those, words that the fewest rows have."""
    common = {word: sum(word in row for row in rows) for row in rows for word in row}
    # Of four rows with at most a dozen words, the rarest five of each are 625 choices at most.
    rare = [sorted(dict.fromkeys(row), key=lambda word: common[word])[:5] for row in rows]
    return min(product(*rare), key=lambda chosen: (-len({*chosen}), sum(common[word] for word in chosen)))


class Steady:
    """Says the incremental algorithm's description, the same in all repetitions."""

    def __init__(self, game: Game, setup: Setup) -> None:
        pictures = _told_apart(game, "the steady speaker")
        self._said = {
            name: text_of(incremental(pictures[k], _others(pictures, k)))
            for name, k in zip(setup.setting.names, game.speaker_order, strict=True)
        }

    def speak(self, view: SpeakerView) -> str:
        """The message."""
        return self._said[view.label]


class Restless:
    """Says everything, and begins with another thing in each repetition: nothing becomes a convention."""

    def __init__(self, game: Game, setup: Setup) -> None:
        pictures = need_truth(game, "the restless speaker")
        self._pictures = {name: pictures[k] for name, k in zip(setup.setting.names, game.speaker_order, strict=True)}

    def speak(self, view: SpeakerView) -> str:
        """The message."""
        picture = self._pictures[view.label]
        count = len(picture.things)
        turn = view.trial // PER_REPETITION % count
        moved = [(k + turn) % count for k in range(count)]
        relations = tuple((name, moved.index(a), moved.index(b)) for name, a, b in picture.relations)
        return text_of(Picture(tuple(picture.things[k] for k in moved), relations))


class RecordedSpeaker:
    """Says what the game's own table of trials has: people's messages, where the game is people's."""

    def __init__(self, game: Game, setup: Setup) -> None:
        if not game.recorded:
            raise refused(f"game {game.name!r}: nothing is recorded in it")
        self._said = [one.message for one in game.recorded]

    def speak(self, view: SpeakerView) -> str:
        """The recorded message of this trial."""
        return self._said[view.trial]
