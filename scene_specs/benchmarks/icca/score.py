"""Scores: accuracy, message length, WND and WNR per repetition, with bootstrap intervals over games.

Word novelty distance (WND): the lowest cost of turning the earlier message into the later one, where adding or
replacing a word costs 1 and removing a word is free. Word novelty rate (WNR): WND over the earlier message's length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.benchmarks.icca import LABELS
from diorama.scene_specs.benchmarks.icca.game import PER_REPETITION, REPETITIONS, TRIALS, Game
from diorama.scene_specs.benchmarks.icca.prompts import COLLAGE
from diorama.scene_specs.benchmarks.icca.transcripts import Transcript
from diorama.scene_specs.benchmarks.kilogram.measures import stem
from diorama.scene_specs.errors import UsageError, spec_error
from diorama.scene_specs.files.foreign import read_text
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.language.rng import generator

# Version of `content_words`: of its word list and its stemmer.
CONTENT_WORDS = "diorama-2"
# Determiners, conjunctions, auxiliaries, particles, interjections. Pronouns, numbers and prepositions count, as in the
# published metric.
_WORDS = resources.files("diorama.scene_specs.benchmarks.icca") / "function_words.txt"
_FUNCTION = frozenset(_WORDS.read_text("utf-8").split())
# Removing "n't" from these does not leave a word.
_IRREGULAR = (("can't", "can not"), ("cannot", "can not"), ("won't", "will not"), ("shan't", "shall not"))
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*|'(?:s|re|ve|ll|d|m)\b", re.UNICODE)

MEASURES: tuple[str, ...] = ("accuracy", "words", "tokens", "wnd", "wnr")
# Splits a message into tokens.
Tokenize = Callable[[str], Sequence[str]]
RESAMPLES = 2000
LEVEL = 0.95


def plain_words(message: str) -> list[str]:
    """All words, lower case, without punctuation."""
    text = message.strip().removesuffix(".").lower().replace("\u2019", "'")
    for short, long in _IRREGULAR:
        text = re.sub(rf"\b{short}\b", long, text)
    return _WORD.findall(text.replace("n't", " not"))


def content_words(message: str) -> list[str]:
    """Return the content words as stems: `plain_words` without a fixed list of function words, by Porter's stemmer.

    CONTENT_WORDS identifies the list and the stemmer; nothing is downloaded. The published metric tags and lemmatizes
    with a spaCy model.
    """
    return [stem(word) for word in plain_words(message) if word not in _FUNCTION]


def novelty(earlier: Sequence[str], later: Sequence[str], published: bool = False) -> int:
    """WND by its definition.

    Args:
        published: as the published code computes it, where removing words at the beginning costs 1 each and equal words
            are always matched.
    """
    # row[j]: cost of turning the words of `earlier` read so far into later[:j].
    row = list(range(len(later) + 1))
    for i, old in enumerate(earlier, start=1):
        before, row = row, [i if published else 0]
        for j, new in enumerate(later):
            cost = min(before[j + 1], row[j] + 1, before[j] + (old != new))
            row.append(before[j] if published and old == new else cost)
    return row[-1]


def rate(distance: int, earlier: Sequence[str], later: Sequence[str], published: bool = False) -> float:
    """WNR. After an empty message: 1 if words were added, else 0; always 1 in the published computation."""
    if earlier:
        return distance / len(earlier)
    return 1.0 if published or later else 0.0


class Played(NamedTuple):
    """The scored data of a game.

    Attributes:
        group: games of a group are averaged, and equal in `conditions`.
        correct: None without an answer.
        file: where it was read.
    """

    group: str
    game: str
    targets: tuple[str, ...]
    messages: tuple[str, ...]
    correct: tuple[bool | None, ...]
    file: str = ""
    conditions: Mapping[str, Any] = {}


def played_transcript(transcript: Transcript, file: str = "") -> Played:
    """Return a transcript's group: its players and their variants, its form and labels if they are not the usual."""
    about = transcript.about
    group = " - ".join(f"{about.get(role)} {about.get(role + '_variant')}" for role in ("speaker", "listener"))
    unusual = [COLLAGE] * (about.get("form") == COLLAGE) + ["positions"] * (transcript.labels == LABELS["positions"])
    targets, messages, correct = zip(*((t.target, t.message, t.correct) for t in transcript.trials), strict=True)
    conditions = {key: about.get(key) for key in ("variant", "prompts_as", "models")} | {"labels": transcript.labels}
    return Played(", ".join([group, *unusual]), transcript.game, targets, messages, correct, file, conditions)


def played_recording(game: Game) -> Played:
    """Return the recorded trials of a game's folder. Raises SpecError where there are none."""
    if not game.recorded:
        raise game.error("was not played yet; there is nothing to score")
    messages, correct = zip(*((trial.message, trial.correct) for trial in game.recorded), strict=True)
    return Played("recorded", game.name, game.target_images, messages, correct)


@dataclass(frozen=True)
class Row:
    """A measure of a group.

    Attributes:
        at: repetition from 1 to 6; for WND and WNR the later of the two repetitions.
    """

    group: str
    measure: str
    at: int
    games: int
    mean: float
    low: float
    high: float


def scores(
    played: Iterable[Played], computation: str = "definition", words: str = "content", seed: int = 0,
    tokenize: Tokenize | None = None,
) -> list[Row]:  # fmt: skip
    """All measures of all groups. Games have equal weights.

    Intervals are 95 % percentile intervals over games drawn with replacement; groups of equal size use the same draws.

    Args:
        words: the words that WND and WNR count, `content` or `all`; message length counts all.
        tokenize: for the messages' length in tokens; None leaves it out.

    Raises:
        SpecError: where a group contains a game twice, or games that were played under different conditions.
    """
    groups: dict[str, dict[str, Played]] = {}
    for record in played:
        games = groups.setdefault(record.group, {})
        first = next(iter(games.values()), record)
        other = [key for key, value in record.conditions.items() if value != first.conditions.get(key)]
        if other or record.game in games:
            problem = f"has another {', '.join(other)} than those of {first.file}" if other else "is there twice"
            problem = f"game {record.game!r} of {record.group!r} {problem}"
            raise spec_error(problem, "score them in separate commands", file=record.file)
        games[record.game] = record
    rows = []
    for group in sorted(groups):
        ordered = [groups[group][game] for game in sorted(groups[group])]
        for measure in MEASURES:
            if measure == "tokens" and tokenize is None:
                continue
            rows_of = (_measure_game(record, measure, computation, words, tokenize or str.split) for record in ordered)
            values = np.array([*rows_of], dtype=np.float64)
            # Games without answers have no accuracy and are excluded from it.
            values = values[~np.isnan(values).any(axis=1)]
            if not len(values):
                continue
            low, high = _interval_of(values, generator(seed, "icca", "bootstrap"))
            first = 1 + REPETITIONS - values.shape[1]
            rows += [
                Row(group, measure, first + k, len(values), float(values[:, k].mean()), float(low[k]), float(high[k]))
                for k in range(values.shape[1])
            ]
    return rows


def read_tokenizer(file: Path) -> Tokenize:
    """Return the tokenizer of a tokenizer.json, without special tokens. Raises UsageError."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        problem = "--tokenizer needs tokenizers; install it: pip install '.[transformers]' in the clone of Diorama"
        raise UsageError(problem) from error
    try:
        tokenizer = Tokenizer.from_str(read_text(file))
    # Of no narrower kind.
    except Exception as error:
        raise UsageError(f"--tokenizer {file}: expected a tokenizer.json of Hugging Face: {error}") from error
    return lambda text: tokenizer.encode(text, add_special_tokens=False).tokens


def _measure_game(game: Played, measure: str, computation: str, words: str, tokenize: Tokenize) -> list[float]:
    """Return a measure of one game in each repetition, or between consecutive repetitions."""
    if measure == "accuracy":
        return _block_means([float("nan") if answer is None else float(answer) for answer in game.correct])
    if measure in ("words", "tokens"):
        split_words = str.split if measure == "words" else tokenize
        return _block_means([len(split_words(message)) for message in game.messages])
    published = computation == "published"
    split = content_words if words == "content" else plain_words
    by_target: dict[str, list[list[str]]] = {}
    for target, message in zip(game.targets, game.messages, strict=True):
        by_target.setdefault(target, []).append(split(message))
    measured = []
    for k in range(REPETITIONS - 1):
        pairs = [(messages[k], messages[k + 1]) for messages in by_target.values()]
        values: list[float] = [novelty(earlier, later, published) for earlier, later in pairs]
        if measure == "wnr":
            values = [rate(int(wnd), *pair, published) for wnd, pair in zip(values, pairs, strict=True)]
        measured.append(sum(values) / len(values))
    return measured


def _block_means(values: Sequence[float]) -> list[float]:
    return [sum(values[k : k + PER_REPETITION]) / PER_REPETITION for k in range(0, TRIALS, PER_REPETITION)]


def _interval_of(values: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Percentile interval of the mean over games, (2, columns). values: (games, columns)."""
    chosen = rng.integers(len(values), size=(RESAMPLES, len(values)))
    edge = (1 - LEVEL) / 2
    # One by one: `values[chosen]` of 10,000 games is 1 GB.
    means = np.array([values[games].mean(axis=0) for games in chosen])
    interval: NDArray[np.float64] = np.quantile(means, (edge, 1 - edge), axis=0)
    return interval


def table(rows: Sequence[Row]) -> str:
    """Return a Markdown table: a line per group and measure, a column per repetition, means with intervals."""
    repetitions = range(1, REPETITIONS + 1)
    grouped: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        grouped.setdefault((row.group, row.measure), {})[row.at] = row
    lines = [
        (*key, next(iter(means.values())).games, *(_cell(means[k]) if k in means else "" for k in repetitions))
        for key, means in grouped.items()
    ]
    return markdown_table(("players", "measure", "games", *repetitions), lines)


def _cell(row: Row) -> str:
    if row.measure == "accuracy":
        return f"{100 * row.mean:.1f} ({100 * row.low:.0f}-{100 * row.high:.0f}) %"
    return f"{row.mean:.2f} ({row.low:.2f}-{row.high:.2f})"


def as_data(rows: Sequence[Row], computation: str, words: str) -> dict[str, Any]:
    """Return the rows as JSON data, with the settings of the computation."""
    return {
        "computation": computation,
        "words": words,
        "content_words": CONTENT_WORDS,
        "level": LEVEL,
        "rows": [vars(row) for row in rows],
    }
