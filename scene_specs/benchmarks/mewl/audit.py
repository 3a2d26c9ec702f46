"""Shortcuts and balance of MEWL episodes: what a guesser without images gets right, and whether draws are uniform.

A guesser sees the contexts' utterances and the options. It chooses among the options that score highest by its rule,
uniformly; the audit reports the expected share of correct answers, one row per task.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from diorama.scene_specs.benchmarks.mewl.draft import CONTEXTS, TYPES, VALUES
from diorama.scene_specs.benchmarks.mewl.tasks import ATTRIBUTES, COMPOSITE_TYPES
from diorama.scene_specs.benchmarks.mewl.truth import Truth
from diorama.scene_specs.errors import INCOMPLETE, incomplete, spec_error
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.language.vocabulary import RELATIONS
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.chi_square import equal_frequencies

# (utterances of the contexts, options) -> score of each option.
Scores = Callable[[list[str], list[str]], list[float]]


def _split_words(text: str) -> list[str]:
    return [word for word in text.split(" ") if word != "and"]


def _score_by_frequency(utterances: list[str], options: list[str], sign: int) -> list[float]:
    known = Counter(word for text in utterances for word in _split_words(text))
    return [sign * sum(known[word] for word in _split_words(option)) / len(_split_words(option)) for option in options]


def _score_by_overlap(_utterances: list[str], options: list[str], sign: int) -> list[float]:
    known = Counter(word for option in options for word in _split_words(option))
    return [sign * sum(known[word] - 1 for word in _split_words(option)) for option in options]


def _score_by_hearing(utterances: list[str], options: list[str]) -> list[float]:
    known = {word for text in utterances for word in _split_words(text)}
    return [sum(word in known for word in _split_words(option)) / len(_split_words(option)) for option in options]


# Column -> rules; the report shows the best rule.
GUESSERS: Mapping[str, tuple[Scores, ...]] = {
    "words heard": (_score_by_hearing,),
    "not said before": (lambda utterances, options: [float(option not in utterances) for option in options],),
    "word frequency": (lambda u, o: _score_by_frequency(u, o, 1), lambda u, o: _score_by_frequency(u, o, -1)),
    "option overlap": (lambda u, o: _score_by_overlap(u, o, 1), lambda u, o: _score_by_overlap(u, o, -1)),
}
_HINTS = {
    "words heard": "some options hold words that no context used",
    "not said before": "some options were shown as they are",
}


@dataclass
class TaskAudit:
    """Counts of one task.

    Attributes:
        chance: sum over episodes of 1 / options.
        expected_hits: guesser -> expected correct answers of each rule.
        right: guesser -> number of times that the answer was among its highest options.
        classes: what is tested for balance -> class -> count, with one independent draw per episode.
    """

    task: str
    episodes: int = 0
    chance: float = 0.0
    expected_hits: dict[str, list[float]] = field(default_factory=dict)
    right: Counter[str] = field(default_factory=Counter)
    classes: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, spec: EpisodeData, truth: Truth) -> None:
        """Count one episode, as JSON data."""
        options, answer = list(truth.options), truth.answer
        utterances = [frame.get("utterance", "") for frame in spec["frames"][:CONTEXTS]]
        self.episodes += 1
        self.chance += 1 / len(options)
        for name, rules in GUESSERS.items():
            sums = self.expected_hits.setdefault(name, [0.0] * len(rules))
            for k, rule in enumerate(rules):
                scores = rule(utterances, options)
                best = [o for o, score in zip(options, scores, strict=True) if score == max(scores)]
                sums[k] += (answer in best) / len(best)
                self.right[name] += answer in best
        self._count_class("position", str(options.index(answer)), tuple(str(k) for k in range(len(options))))
        first = spec["frames"][CONTEXTS]["objects"][0]
        for kind in TYPES:
            self._count_class(kind, truth.as_clevr.get(str(first.get(kind)), str(first.get(kind))), VALUES[kind])
        if (concept := _answer_concept(truth)) is not None:
            self._count_class("concept", *concept)

    def _count_class(self, name: str, value: str, classes: tuple[str, ...]) -> None:
        self.classes.setdefault(name, Counter(dict.fromkeys(classes, 0)))[value] += 1

    def row(self) -> dict[str, Any]:
        """Return shares from 0 to 1: chance, error (standard error of a guesser) and guessers; p: test -> probability.

        hints: which options are recognizably wrong without images in every episode.
        """
        number = self.episodes
        chance = self.chance / number
        shares = {"position": max(self.classes["position"].values()) / number}
        shares |= {name: max(sums) / number for name, sums in self.expected_hits.items()}
        error = math.sqrt(chance * (1 - chance) / number)
        # A hint never excludes the answer; a rule that is only lucky sometimes does.
        hints = [text for name, text in _HINTS.items() if shares[name] > 1.2 * chance and self.right[name] == number]
        p = {name: equal_frequencies(list(counts.values())) for name, counts in self.classes.items()}
        return {
            "task": self.task, "episodes": number, "chance": chance, "error": error,
            "guessers": shares, "p": p, "hints": hints,
        }  # fmt: skip


# Task -> concepts, one of which its answer's word stands for.
_CONCEPTS: Mapping[str, tuple[str, ...]] = {
    **{name: VALUES[name] for name in ("shape", "color", "material")},
    "number": tuple(str(k + 1) for k in range(CONTEXTS)),
    "pragmatic": tuple(value for _, value in ATTRIBUTES),
    "relation": RELATIONS,
}


def _answer_concept(truth: Truth) -> tuple[str, tuple[str, ...]] | None:
    """Return the concept of the answer and all concepts that the task draws from, None if it names none."""
    name, answer = truth.name, truth.answer
    if name == "bootstrap":
        return answer.split(" ")[1], RELATIONS
    if name == "composite":
        # Imported tasks have no types.
        pairs = tuple(f"{a} {b}" for a, b in permutations(COMPOSITE_TYPES, 2))
        return (" ".join(truth.types), pairs) if truth.types else None
    if name not in _CONCEPTS:
        return None
    concept = truth.meanings.get(answer.split(" ")[2] if name == "relation" else answer)
    return None if concept is None else (truth.as_clevr.get(str(concept), str(concept)), _CONCEPTS[name])


def audit(specs: Iterable[EpisodeData]) -> list[dict[str, Any]]:
    """Return a row (see TaskAudit.row) for each task among MEWL specs, given as JSON data. Raises SpecError."""
    tasks: dict[str, TaskAudit] = {}
    for spec in specs:
        truth = Truth.of_spec(spec)
        try:
            tasks.setdefault(truth.name, TaskAudit(truth.name)).add(spec, truth)
        except INCOMPLETE as error:
            raise spec_error(incomplete("mewl", error), episode=str(spec.get("id", "")), path="task") from error
    return [task.row() for task in tasks.values()]


def tables(rows: list[dict[str, Any]]) -> str:
    """Return the rows as two Markdown tables: guessers in percent, and chi-square probabilities."""
    names, tested = ["position", *GUESSERS], ["position", *TYPES, "concept"]
    shares = [
        [
            row["task"], row["episodes"], f"{100 * row['chance']:.1f} ± {100 * row['error']:.1f}",
            *(f"{100 * row['guessers'][name]:.1f}" for name in names), "; ".join(row["hints"]),
        ]
        for row in rows
    ]  # fmt: skip
    p = [[row["task"], *(f"{row['p'][name]:.3f}" if name in row["p"] else "" for name in tested)] for row in rows]
    head = ["task", "episodes", "chance", *names, "remark"]
    return f"{markdown_table(head, shares)}\n{markdown_table(['task', *tested], p)}"
