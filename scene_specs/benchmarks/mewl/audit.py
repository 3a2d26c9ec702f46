"""What a guesser gets that never sees a picture, and whether what is drawn is balanced; a task a row.

A guesser sees what the contexts say and the options. Each takes the options that score highest by its rule, and among
equals any one: what is reported is the share of answers it is expected to find.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from scene_specs.benchmarks.mewl.chi_square import equal_frequencies
from scene_specs.benchmarks.mewl.draft import CONTEXTS
from scene_specs.benchmarks.mewl.pragmatic import ATTRIBUTES
from scene_specs.benchmarks.mewl.things import TYPES, VALUES
from scene_specs.language.vocabulary import RELATIONS

Scores = Callable[[list[str], list[str]], list[float]]


def _words(text: str) -> list[str]:
    return [word for word in text.split(" ") if word != "and"]


def _frequency(said: list[str], options: list[str], sign: int) -> list[float]:
    known = Counter(word for text in said for word in _words(text))
    return [sign * sum(known[word] for word in _words(option)) / len(_words(option)) for option in options]


def _overlap(_said: list[str], options: list[str], sign: int) -> list[float]:
    known = Counter(word for option in options for word in _words(option))
    return [sign * sum(known[word] - 1 for word in _words(option)) for option in options]


def _heard(said: list[str], options: list[str]) -> list[float]:
    known = {word for text in said for word in _words(text)}
    return [sum(word in known for word in _words(option)) / len(_words(option)) for option in options]


# By column: the better of the rules is reported.
GUESSERS: Mapping[str, tuple[Scores, ...]] = MappingProxyType(
    {
        "words heard": (_heard,),
        "not said before": (lambda said, options: [float(option not in said) for option in options],),
        "word frequency": (lambda s, o: _frequency(s, o, 1), lambda s, o: _frequency(s, o, -1)),
        "option overlap": (lambda s, o: _overlap(s, o, 1), lambda s, o: _overlap(s, o, -1)),
    }
)
_HINTS = {
    "words heard": "some options hold words that no context used",
    "not said before": "some options were shown as they are",
}


@dataclass
class TaskAudit:
    """Counts of one task.

    chance: sum over episodes of 1 / options. found: guesser -> expected answers, a rule each. kept: guesser -> how
    often the answer was among the options that it chose from. classes: what is tested for balance -> class -> count;
    one independent draw an episode.
    """

    task: str
    episodes: int = 0
    chance: float = 0.0
    found: dict[str, list[float]] = field(default_factory=dict)
    kept: Counter[str] = field(default_factory=Counter)
    classes: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, spec: Mapping[str, Any]) -> None:
        """Count one episode, as JSON data."""
        task = spec["task"]
        options, answer = task["options"], task["answer"]
        said = [frame.get("utterance", "") for frame in spec["frames"][:CONTEXTS]]
        self.episodes += 1
        self.chance += 1 / len(options)
        for name, rules in GUESSERS.items():
            sums = self.found.setdefault(name, [0.0] * len(rules))
            for k, rule in enumerate(rules):
                scores = rule(said, options)
                best = [o for o, score in zip(options, scores, strict=True) if score == max(scores)]
                sums[k] += (answer in best) / len(best)
                self.kept[name] += answer in best
        self._count("position", str(options.index(answer)), tuple(str(k) for k in range(len(options))))
        first = spec["frames"][CONTEXTS]["objects"][0]
        for kind in TYPES:
            self._count(kind, str(first.get(kind)), VALUES[kind])
        concept = _concept(spec)
        if concept is not None:
            self._count("concept", *concept)

    def _count(self, name: str, value: str, classes: tuple[str, ...]) -> None:
        self.classes.setdefault(name, Counter(dict.fromkeys(classes, 0)))[value] += 1

    def row(self) -> dict[str, Any]:
        """Shares of 1: chance, each guesser, error (standard error of a guesser); p: what is tested -> probability.

        hints: which options can be told to be wrong without a picture in every episode.
        """
        number = self.episodes
        chance = self.chance / number
        shares = {"position": max(self.classes["position"].values()) / number}
        shares |= {name: max(sums) / number for name, sums in self.found.items()}
        error = math.sqrt(chance * (1 - chance) / number)
        # A hint never misleads; a rule that is merely lucky sometimes does.
        hints = [text for name, text in _HINTS.items() if shares[name] > 1.2 * chance and self.kept[name] == number]
        p = {name: equal_frequencies(list(counts.values())) for name, counts in self.classes.items()}
        return {
            "task": self.task, "episodes": number, "chance": chance, "error": error,
            "guessers": shares, "p": p, "hints": hints,
        }  # fmt: skip


def _concept(spec: Mapping[str, Any]) -> tuple[str, tuple[str, ...]] | None:
    """What the answer is about, and what it could be about: one of the classes that the task draws from."""
    task = spec["task"]
    words, answer = task.get("words") or {}, task["answer"]
    name = task["name"]
    if name in ("shape", "color", "material"):
        return str(words.get(answer)), VALUES[name]
    if name == "number":
        return str(words.get(answer)), tuple(str(k + 1) for k in range(CONTEXTS))
    if name == "pragmatic":
        return str(words.get(answer)), tuple(value for _, value in ATTRIBUTES)
    if name == "relation":
        return str(words.get(answer.split(" ")[2])), RELATIONS
    if name == "bootstrap":
        return answer.split(" ")[1], RELATIONS
    if name == "composite":
        kinds = ("shape", "color", "material")
        return " ".join(task.get("types", ())), tuple(f"{a} {b}" for a in kinds for b in kinds if a != b)
    return None


def audit(specs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row (see TaskAudit.row) for each task among MEWL specs, given as JSON data."""
    tasks: dict[str, TaskAudit] = {}
    for spec in specs:
        name = spec["task"]["name"]
        tasks.setdefault(name, TaskAudit(name)).add(spec)
    return [one.row() for one in tasks.values()]


def tables(rows: list[dict[str, Any]]) -> str:
    """The rows as two Markdown tables: guessers in percent, and chi-square probabilities."""
    names = ["position", *GUESSERS]
    lines = [f"| task | episodes | chance | {' | '.join(names)} | remark |", f"|{'---|' * (len(names) + 4)}"]
    for row in rows:
        cells = [f"{100 * row['guessers'][name]:.1f}" for name in names]
        chance = f"{100 * row['chance']:.1f} ± {100 * row['error']:.1f}"
        remark = "; ".join(row["hints"])
        lines.append(f"| {row['task']} | {row['episodes']} | {chance} | {' | '.join(cells)} | {remark} |")
    tested = ["position", *TYPES, "concept"]
    lines += ["", f"| task | {' | '.join(tested)} |", f"|{'---|' * (len(tested) + 1)}"]
    for row in rows:
        cells = [f"{row['p'][name]:.3f}" if name in row["p"] else "" for name in tested]
        lines.append(f"| {row['task']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
