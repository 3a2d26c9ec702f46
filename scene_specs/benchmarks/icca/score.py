"""Accuracy, message length, WND and WNR per repetition, with bootstrap intervals over games."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scene_specs.benchmarks.icca.distance import content_words, novelty, plain_words, published_novelty, rate
from scene_specs.benchmarks.icca.game import Game
from scene_specs.benchmarks.icca.input_errors import refused
from scene_specs.benchmarks.icca.transcripts import Transcript
from scene_specs.benchmarks.icca.variants import PER_REPETITION, REPETITIONS, TRIALS
from scene_specs.language.rng import generator

COMPUTATIONS: tuple[str, ...] = ("definition", "published")
WORDS: tuple[str, ...] = ("content", "all")
MEASURES: tuple[str, ...] = ("accuracy", "words", "wnd", "wnr")
RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Played:
    """What is scored of a game. group: what it is compared under. correct: None where nobody answered."""

    group: str
    game: str
    targets: tuple[str, ...]
    messages: tuple[str, ...]
    correct: tuple[bool | None, ...]


def of_transcript(one: Transcript) -> Played:
    """A transcript, grouped by who played in which variant."""
    about = one.about
    speaker, listener = (f"{about.get(role)} {about.get(role + '_variant')}" for role in ("speaker", "listener"))
    group = f"{speaker} - {listener}"
    return Played(
        group, one.game, tuple(t.target for t in one.trials), tuple(t.message for t in one.trials),
        tuple(t.correct for t in one.trials),
    )  # fmt: skip


def of_game(game: Game) -> Played:
    """What is recorded in a game's folder. Raises SpecError where nothing is."""
    if not game.recorded:
        raise refused(f"game {game.name!r}: nobody played it yet; there is nothing to score")
    return Played(
        "recorded", game.name, tuple(game.images[k] for k in game.targets),
        tuple(one.message for one in game.recorded), tuple(one.correct for one in game.recorded),
    )  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One measure of a group. at: repetition, or of WND and WNR the later of the two, from 1 to 6."""

    group: str
    measure: str
    at: int
    games: int
    mean: float
    low: float
    high: float


def scores(
    played: Iterable[Played], computation: str = "definition", words: str = "content", seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[Row]:  # fmt: skip
    """All measures of all groups. Games weigh the same; intervals are of percentiles, 95 %, games drawn with
    replacement, the same ones for all groups of as many.

    words: what WND and WNR count, `content` or `all`; message length counts all. Raises SpecError for a game twice in
    a group.
    """
    if computation not in COMPUTATIONS or words not in WORDS:
        raise refused(f"found {computation!r}, {words!r}; allowed: {', '.join((*COMPUTATIONS, *WORDS))}")
    groups: dict[str, list[Played]] = {}
    for one in played:
        games = groups.setdefault(one.group, [])
        if any(other.game == one.game for other in games):
            raise refused(f"game {one.game!r} is there twice for {one.group!r}")
        games.append(one)
    rows = []
    for group in sorted(groups):
        games = sorted(groups[group], key=lambda one: one.game)
        for measure in MEASURES:
            values = np.array([_values(one, measure, computation, words) for one in games], dtype=np.float64)
            # Games that nobody answered have no accuracy, and are left out of it.
            values = values[~np.isnan(values).any(axis=1)]
            if not len(values):
                continue
            low, high = _interval(values, generator(seed, "icca", "bootstrap"), resamples)
            first = 1 + REPETITIONS - values.shape[1]
            rows += [
                Row(group, measure, first + k, len(values), float(values[:, k].mean()), float(low[k]), float(high[k]))
                for k in range(values.shape[1])
            ]
    return rows


def _values(one: Played, measure: str, computation: str, words: str) -> list[float]:
    """A measure of one game at each repetition, or pair of them."""
    if measure == "accuracy":
        right = [float("nan") if answer is None else float(answer) for answer in one.correct]
        return _blocks(right)
    if measure == "words":
        return _blocks([len(message.split()) for message in one.messages])
    return _changes(one, measure, computation, words)


def _blocks(values: Sequence[float]) -> list[float]:
    return [sum(values[k : k + PER_REPETITION]) / PER_REPETITION for k in range(0, TRIALS, PER_REPETITION)]


def _changes(one: Played, measure: str, computation: str, words: str) -> list[float]:
    split = content_words if words == "content" else plain_words
    distance: Callable[[Sequence[str], Sequence[str]], int]
    distance = novelty if computation == "definition" else published_novelty
    said: dict[str, list[list[str]]] = {}
    for target, message in zip(one.targets, one.messages, strict=True):
        said.setdefault(target, []).append(split(message))
    found = []
    for k in range(REPETITIONS - 1):
        values: list[float] = []
        for messages in said.values():
            earlier, later = messages[k], messages[k + 1]
            cost = distance(earlier, later)
            values.append(cost if measure == "wnd" else rate(cost, earlier, later, computation == "published"))
        found.append(sum(values) / len(values))
    return found


def _interval(
    values: NDArray[np.float64], rng: np.random.Generator, resamples: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile interval of the mean over games, of each column. values: (games, columns)."""
    chosen = rng.integers(len(values), size=(resamples, len(values)))
    means = values[chosen].mean(axis=1)
    edge = (1 - LEVEL) / 2
    return np.quantile(means, edge, axis=0), np.quantile(means, 1 - edge, axis=0)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table: a line a group and measure, a column a repetition, means with intervals."""
    head = "| players | measure | games | " + " | ".join(f"{k}" for k in range(1, REPETITIONS + 1)) + " |"
    lines = [head, "|---" * (3 + REPETITIONS) + "|"]
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row.group, row.measure), []).append(row)
    for (group, measure), found in grouped.items():
        cells = {row.at: _cell(row) for row in found}
        values = " | ".join(cells.get(k, "") for k in range(1, REPETITIONS + 1))
        lines.append(f"| {group} | {measure} | {found[0].games} | {values} |")
    return "\n".join([*lines, ""])


def _cell(row: Row) -> str:
    if row.measure == "accuracy":
        return f"{100 * row.mean:.1f} ({100 * row.low:.0f}-{100 * row.high:.0f}) %"
    return f"{row.mean:.2f} ({row.low:.2f}-{row.high:.2f})"


def as_data(rows: Sequence[Row], computation: str, words: str) -> dict[str, Any]:
    """The rows as JSON data, with how they were made."""
    from scene_specs.benchmarks.icca.distance import CONTENT_WORDS

    return {
        "computation": computation,
        "words": words,
        "content_words": CONTENT_WORDS,
        "level": LEVEL,
        "rows": [vars(row) for row in rows],
    }
