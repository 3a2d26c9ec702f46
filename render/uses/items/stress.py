"""What learners reach that never see an image, by task, and the items that give themselves away.

text        words of the message, each with the option that it may point to
options     an option alone: its text, length and rank among the others
layout      numbers about the Scene that need no image: how many objects, and where they are on average
position    the place of an option among the options

Each learner is a logistic regression over pairs of an item and an option, which scikit-learn fits to nine tenths of the
episodes and applies to the rest. A task has a shortcut if a learner is right more often than chance, after Holm's
correction (1979) for all learners and tasks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from statistics import NormalDist, fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diorama.render.uses.items.scores import LEAST, fold_of, interval
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.items import Item

# Chance that a set without shortcuts is said to have one.
ALPHA = 0.001


@dataclass(frozen=True)
class Case:
    """An item as learners see it.

    Attributes:
        episode: id of the episode, or what its items have in common with those of others (`Item.together`).
        text: text of the message.
        layout: names of features of the Scene.
    """

    id: str
    task: str
    episode: str
    text: str
    options: tuple[str, ...]
    answer: str
    pair: str
    layout: tuple[str, ...]

    @classmethod
    def of(cls, name: str, item: Item, record: EpisodeRecord) -> Case:
        """Return the case of an item of a store."""
        placed = [placed_object.location for frame in record.scene.frames for placed_object in frame.objects]
        layout = [f"objects={len(placed)}", *(f"{key}={value}" for key, value in sorted(item.groups.items()))]
        if placed:
            layout += [f"{axis}={fmean(location[k] for location in placed):.0f}" for k, axis in enumerate("xyz")]
        text = " ".join(part.text for part in item.parts)
        task = f"{item.benchmark}: {item.task}"
        own = (item.options, item.answer, item.pair)
        return cls(name, task, item.together or record.episode_id, text, *own, tuple(layout))


def _split_words(text: str) -> list[str]:
    return re.findall(r"[\w-]+", text.lower())


def _text_features(case: Case, k: int) -> Iterator[str]:
    words = _split_words(case.text)
    yield from (f"{word}>{case.options[k]}" for word in {*words, *map(" ".join, pairwise(words))})


def _option_features(case: Case, k: int) -> Iterator[str]:
    option, words = case.options[k], {*_split_words(case.options[k])}
    shared = [len(words & {*_split_words(other)}) for other in case.options]
    lengths = [len(text) for text in case.options]
    yield from (option, f"length {sorted(lengths).index(lengths[k])}", f"shared {sum(shared) - shared[k]}")
    yield from (f"word {word}" for word in words)


LEARNERS: Mapping[str, Callable[[Case, int], Iterable[str]]] = {
    "text": _text_features, "options": _option_features,
    "layout": lambda case, k: (f"{fact}>{case.options[k]}" for fact in case.layout),
    "position": lambda case, k: (f"{k} of {len(case.options)}",),
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """What a learner reaches in a task; shares from 0 to 1.

    Attributes:
        low: lower end of the 95 % interval.
        shortcut: whether it is more than chance.
        scores: id -> probability of the right answer minus chance, of each item that the learner gets right.
    """

    task: str
    learner: str
    items: int
    accuracy: float
    low: float
    high: float
    chance: float
    p: float
    scores: dict[str, float]
    shortcut: bool = False

    def data(self) -> dict[str, Any]:
        """Return the finding as JSON data, without the scores."""
        return {name: value for name, value in vars(self).items() if name != "scores"}


def stress(cases: Iterable[Case]) -> list[Finding]:
    """Return what each learner reaches in each task of at least LEAST items.

    Raises:
        UsageError: scikit-learn is not installed.
    """
    tasks: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        tasks[case.task].append(case)
    findings = [
        _finding_of(name, group, _probabilities(group, features))
        for _, group in sorted(tasks.items())
        if len(group) >= LEAST and len({fold_of(case.episode) for case in group}) > 1
        for name, features in LEARNERS.items()
    ]
    # Holm's correction.
    for rank, k in enumerate(sorted(range(len(findings)), key=lambda k: findings[k].p)):
        if findings[k].p > ALPHA / (len(findings) - rank):
            break
        findings[k] = replace(findings[k], shortcut=True)
    return findings


def _probabilities(group: Sequence[Case], features: Callable[[Case, int], Iterable[str]]) -> list[NDArray[np.float64]]:
    """For each item, the probabilities of its options, by a model of the items of other folds."""
    try:
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import PredefinedSplit, cross_val_predict
    except ImportError as error:
        raise UsageError(
            "scikit-learn is not installed: run `pip install '.[stress]'` in the clone of Diorama"
        ) from error
    counter = CountVectorizer(analyzer=list, dtype=np.float64)
    pairs = counter.fit_transform([*features(case, k)] for case in group for k in range(len(case.options)))
    right = np.array([option == case.answer for case in group for option in case.options])
    folds = np.array([fold_of(case.episode) for case in group for _ in case.options])
    # The seed has no effect on this solver's result beyond rounding; it is given so that none is drawn.
    model = LogisticRegression(C=0.3, solver="liblinear", random_state=0)
    scores = cross_val_predict(model, pairs, right, cv=PredefinedSplit(folds), method="predict_proba")[:, 1]
    ends = np.cumsum([len(case.options) for case in group])
    return [part / part.sum() for part in np.split(scores, ends[:-1])]


def _finding_of(learner: str, group: Sequence[Case], shares: Sequence[NDArray[np.float64]]) -> Finding:
    # Rounded, so that options that look alike to the learner tie; of tied options, one is drawn.
    best = [np.round(row, 9) == np.round(row, 9).max() for row in shares]
    places = [case.options.index(case.answer) for case in group]
    right = [float(some[k]) / some.sum() for some, k in zip(best, places, strict=True)]
    chances = [1 / len(case.options) for case in group]
    episodes = [case.episode for case in group]
    low, high = interval(right, episodes)
    sums: dict[str, float] = defaultdict(float)
    for value, chance, episode in zip(right, chances, episodes, strict=True):
        sums[episode] += value - chance
    spread = sqrt(sum(value * value for value in sums.values()))
    p = 1 - NormalDist().cdf(sum(sums.values()) / spread) if spread > 1e-9 else 1.0
    scores = {
        case.id: round(float(row[k]) - chance, 6)
        for case, row, k, chance, value in zip(group, shares, places, chances, right, strict=True)
        if value > chance
    }
    return Finding(group[0].task, learner, len(group), sum(right) / len(right), low, high, fmean(chances), p, scores)


def giveaways(findings: Iterable[Finding]) -> dict[str, float]:
    """Id -> score of the items that give themselves away: those that a learner with a shortcut gets right."""
    scores: dict[str, float] = {}
    for finding in findings:
        for name, score in finding.scores.items() if finding.shortcut else ():
            scores[name] = max(score, scores.get(name, 0.0))
    return scores


def ids_to_prune(findings: Iterable[Finding], cases: Iterable[Case]) -> list[str]:
    """Ids to leave out, sorted, so that no learner gets more than chance on the others; with those of their pairs."""
    left_out: set[str] = set()
    for finding in findings:
        if finding.shortcut:
            # Without d of its hits, (hits - d) / (items - d) is chance.
            count = (finding.accuracy - finding.chance) * finding.items / (1 - finding.chance)
            ranked = sorted(finding.scores, key=lambda name: (-finding.scores[name], name))
            left_out |= {*ranked[: int(count) + 1]}
    pairs = {case.pair for case in cases if case.pair and case.id in left_out}
    return sorted(left_out | {case.id for case in cases if case.pair in pairs})


def table(findings: Iterable[Finding]) -> str:
    """Return the findings as a Markdown table, shares in percent."""
    head = ("task", "learner", "items", "accuracy", "95 % interval", "chance", "shortcut")
    cells = [
        [
            finding.task, finding.learner, finding.items, f"{100 * finding.accuracy:.1f}",
            f"{100 * finding.low:.1f}-{100 * finding.high:.1f}", f"{100 * finding.chance:.1f}",
            "yes" if finding.shortcut else "no",
        ]
        for finding in findings
    ]  # fmt: skip
    return markdown_table(head, cells)
