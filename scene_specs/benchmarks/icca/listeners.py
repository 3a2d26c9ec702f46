"""Built-in listeners."""

from __future__ import annotations

from scene_specs.benchmarks.icca.game import Game
from scene_specs.benchmarks.icca.picture import Picture, agreement
from scene_specs.benchmarks.icca.players import ListenerView, Setup, last_shown
from scene_specs.benchmarks.icca.speakers import need_truth
from scene_specs.benchmarks.icca.wording import Lexicon
from scene_specs.language.rng import generator, pick


class Oracle:
    """Knows the answer."""

    def __init__(self, game: Game, setup: Setup) -> None:
        self._game, self._setup = game, setup

    def choose(self, view: ListenerView) -> str:
        """The target's label."""
        order = self._game.listener_order(self._setup.listener, view.trial, self._setup.setting.seed)
        return view.labels[order.index(self._game.targets[view.trial])]


class Guesser:
    """Guesses, each label as likely."""

    def __init__(self, game: Game, setup: Setup) -> None:
        self._name, self._seed = game.name, setup.seed

    def choose(self, view: ListenerView) -> str:
        """Any label."""
        return pick(generator(self._seed, f"icca/{self._name}", f"guess {view.trial}"), view.labels)


class Literal:
    """Trusts the pictures that it was shown last: picks the one that most of what is said is true of; guesses between
    several. Remembers nothing.
    """

    def __init__(self, game: Game, setup: Setup) -> None:
        self._pictures = dict(zip(game.images, need_truth(game, "the literal listener"), strict=True))
        self._lexicon = Lexicon(tuple(self._pictures.values()))
        self._guesser = Guesser(game, setup)
        self._name, self._seed = game.name, setup.seed

    def heard(self, message: str) -> Picture:
        """What a message says."""
        return self._lexicon.parse(message)

    def best(self, view: ListenerView) -> list[str]:
        """The labels of the pictures that fit best; all labels where nothing is seen or understood."""
        said = self.heard(view.message)
        shown = last_shown(view.prompt, view.labels)
        seen = {label: self._pictures[file] for label, file in shown.items() if file in self._pictures}
        if not seen or not said.atoms():
            return list(view.labels)
        scores = {label: agreement(said, picture) for label, picture in seen.items()}
        most = max(scores.values())
        return [label for label in view.labels if scores.get(label) == most]

    def choose(self, view: ListenerView) -> str:
        """The best label; drawn where several are."""
        return pick(generator(self._seed, f"icca/{self._name}", f"literal {view.trial}"), self.best(view))


class Learner(Literal):
    """Believes what it was told before what it sees: if all that is said was said before of a label, that label (of
    several the one whose last message said least besides); else it is a literal listener.
    """

    def __init__(self, game: Game, setup: Setup) -> None:
        super().__init__(game, setup)
        self._shuffled = setup.listener.shuffle
        self._history = setup.listener.history
        self._images = game.images

    def choose(self, view: ListenerView) -> str:
        """The label."""
        said = self.heard(view.message)
        known: dict[str, int] = {}
        for one in view.past if self._history else ():
            # An answer that was invalid is told to be so, and not what would have been right.
            if not one.choice:
                continue
            label = self._now(one.listener_label, one.shown, view)
            before = self.heard(one.message)
            if said.atoms() and agreement(said, before) == len(said.atoms()):
                known[label] = len(before.atoms())
        if not known:
            return super().choose(view)
        least = min(known.values())
        return pick(
            generator(self._seed, f"icca/{self._name}", f"learner {view.trial}"),
            [label for label in view.labels if known.get(label) == least],
        )

    def _now(self, label: str, shown: tuple[int, ...], view: ListenerView) -> str:
        """The label that what had `label` then has now: where labels are shuffled, the image tells."""
        if not self._shuffled:
            return label
        file = self._images[shown[view.labels.index(label)]]
        return next(name for name, one in last_shown(view.prompt, view.labels).items() if one == file)
