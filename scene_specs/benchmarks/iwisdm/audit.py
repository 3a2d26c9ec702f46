"""How often each answer is due, what a guesser gets that only reads, and how often a condition decides anything.

All of it from instructions, answers and what the frames show; nothing from the graphs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scene_specs.benchmarks.chi_square import equal_frequencies
from scene_specs.benchmarks.iwisdm.reader import UnreadableError
from scene_specs.benchmarks.iwisdm.stimuli import LOCATIONS
from scene_specs.benchmarks.iwisdm.verify import frames_of, read_task, stored_answers
from scene_specs.language.errors import SpecError

_KINDS = {"true": "true or false", "false": "true or false", **dict.fromkeys(LOCATIONS, "location")}
# What joins the questions of a text: a conjunction is false more often than not, unless one sees to it.
_FORM = re.compile(r"\b(?:if|and|or)\b")


def kind_of(answer: str) -> str:
    """Of a stored answer: `true or false`, `location`, or `category or other`."""
    return _KINDS.get(answer, "category or other")


@dataclass
class _Row:
    """Counts of one name and kind of answer. forms: form of the text -> answer -> count."""

    answers: Counter[str] = field(default_factory=Counter)
    forms: dict[str, Counter[str]] = field(default_factory=dict)


@dataclass
class _Name:
    trials: int = 0
    switches: int = 0
    deciding: int = 0
    rows: dict[str, _Row] = field(default_factory=dict)

    def add(self, spec: Mapping[str, Any]) -> None:
        task = spec["task"]
        reading = read_task(task, frames_of(spec))
        self.trials += 1
        form = " ".join(sorted(_FORM.findall(task["instruction"])))
        for due in stored_answers(task):
            for answer in due.split("; ") if due != "null" else ():
                row = self.rows.setdefault(kind_of(answer), _Row())
                row.answers[answer] += 1
                row.forms.setdefault(form, Counter())[answer] += 1
        for then, other in reading.branches:
            self.switches += 1
            self.deciding += then != other

    def listed(self, name: str) -> list[dict[str, Any]]:
        deciding = self.deciding / self.switches if self.switches else None
        return [
            {
                "name": name, "trials": self.trials, "kind": kind, "answers": dict(sorted(row.answers.items())),
                "p": equal_frequencies(list(row.answers.values())), "text": _by_text(row), "conditions": deciding,
            }
            for kind, row in sorted(self.rows.items())
        ]  # fmt: skip


def _by_text(row: _Row) -> float:
    """Share that a guesser finds who knows which answer is due most often, of each form of text."""
    return sum(max(counts.values()) for counts in row.forms.values()) / row.answers.total()


def audit(specs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each name and kind of answer among iWISDM specs, as JSON data.

    answers: answer -> count. p: chi-square probability of equal frequencies. text: share that a guesser finds that
    sees nothing, but knows which answer these very trials have most often for "and", "or" and "if". conditions: share
    of the Switches whose branches differ, None without any. Raises UnreadableError for an instruction that is none,
    SpecError for a task without instruction or answers.
    """
    names: dict[str, _Name] = {}
    for spec in specs:
        name = f"{spec['task'].get('name')}"
        try:
            names.setdefault(name, _Name()).add(spec)
        except UnreadableError as error:
            raise UnreadableError(f"episode {spec.get('id')}: {error}") from None
        except SpecError as error:
            raise SpecError(
                [replace(diagnostic, episode=f"{spec.get('id')}") for diagnostic in error.diagnostics]
            ) from None
    return [row for name, one in names.items() for row in one.listed(name)]


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a Markdown table; shares in percent."""
    lines = [
        "| task | trials | answers | how often each | p | by text alone | conditions that decide |",
        "|---" * 7 + "|",
    ]
    for row in rows:
        counts = ", ".join(f"{answer} {count}" for answer, count in row["answers"].items())
        deciding = "" if row["conditions"] is None else f"{100 * row['conditions']:.1f}"
        cells = (
            row["name"],
            row["trials"],
            row["kind"],
            counts,
            f"{row['p']:.3f}",
            f"{100 * row['text']:.1f}",
            deciding,
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"
