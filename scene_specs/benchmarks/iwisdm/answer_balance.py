"""Balance of answers: how often each is due, the score of a text-only guesser, and how often conditions decide.

Uses instructions, answers and visible objects only, never the task graphs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scene_specs.benchmarks.iwisdm.reader import UnreadableError
from scene_specs.benchmarks.iwisdm.stimuli import LOCATIONS
from scene_specs.benchmarks.iwisdm.verify import frames_of, read_task, stored_answers
from scene_specs.language.chi_square import equal_frequencies
from scene_specs.language.errors import SpecError, UsageError
from scene_specs.language.tables import markdown_table

KINDS = {"true": "true or false", "false": "true or false", **dict.fromkeys(LOCATIONS, "location")}
OTHER = "category or other"
# The words that join the questions of a text: an unbalanced conjunction, for example, is mostly false.
FORM = re.compile(r"\b(?:if|and|or)\b")


@dataclass
class _Counts:
    """Counts of one task name. answers: kind -> answer -> count. forms: kind -> form of the text -> answer -> count."""

    trials: int = 0
    switches: int = 0
    deciding: int = 0
    answers: dict[str, Counter[str]] = field(default_factory=dict)
    forms: dict[str, dict[str, Counter[str]]] = field(default_factory=dict)

    def add(self, spec: Mapping[str, Any]) -> None:
        task = spec["task"]
        reading = read_task(task, frames_of(spec))
        self.trials += 1
        form = " ".join(sorted(FORM.findall(task["instruction"])))
        for due in stored_answers(task):
            for answer in due.split("; ") if due != "null" else ():
                kind = KINDS.get(answer, OTHER)
                self.answers.setdefault(kind, Counter())[answer] += 1
                self.forms.setdefault(kind, {}).setdefault(form, Counter())[answer] += 1
        self.switches += len(reading.branches)
        self.deciding += sum(then != other for then, other in reading.branches)

    def rows(self, name: str) -> list[dict[str, Any]]:
        deciding = self.deciding / self.switches if self.switches else None
        rows = []
        for kind, answers in sorted(self.answers.items()):
            # Score of a guesser who always gives the most frequent answer to each form of text.
            by_text = sum(max(counts.values()) for counts in self.forms[kind].values()) / answers.total()
            rows.append(
                {
                    "name": name, "trials": self.trials, "kind": kind, "answers": dict(sorted(answers.items())),
                    "p": equal_frequencies(list(answers.values())), "text": by_text, "conditions": deciding,
                }
            )  # fmt: skip
        return rows


def audit(specs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each task name and kind of answer among iWISDM specs, as JSON data.

    answers: answer -> count. p: chi-square probability of equal frequencies. text: score of a guesser that sees
    nothing, but knows the most frequent answer in these trials for each combination of "and", "or" and "if".
    conditions: share of the Switches whose branches differ, None without any. Raises UsageError for an unreadable
    instruction, SpecError for a task without instruction or answers.
    """
    names: dict[str, _Counts] = {}
    for spec in specs:
        name = f"{spec['task'].get('name')}"
        try:
            names.setdefault(name, _Counts()).add(spec)
        except UnreadableError as error:
            raise UsageError(f"episode {spec.get('id')}: {error}") from None
        except SpecError as error:
            episode = f"{spec.get('id')}"
            raise SpecError([replace(diagnostic, episode=episode) for diagnostic in error.diagnostics]) from None
    return [row for name, counts in names.items() for row in counts.rows(name)]


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a Markdown table; shares in percent."""
    lines = []
    for row in rows:
        counts = ", ".join(f"{answer} {count}" for answer, count in row["answers"].items())
        deciding = "" if row["conditions"] is None else f"{100 * row['conditions']:.1f}"
        lines.append(
            (row["name"], row["trials"], row["kind"], counts, f"{row['p']:.3f}", f"{100 * row['text']:.1f}", deciding)
        )
    head = ("task", "trials", "answers", "how often each", "p", "by text alone", "conditions that decide")
    return markdown_table(head, lines)
