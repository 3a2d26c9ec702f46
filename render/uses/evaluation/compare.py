"""The gap between the scores of one model on two sets, such as a published one and a fresh sibling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.foreign import parse_json, read_text
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.language.diagnostics import value_at
from diorama.scene_specs.language.validation import of_form


class Score(BaseModel):
    """A row of `render-eval score --json`: the accuracy on a group of items, and its 95 % interval."""

    by: str
    group: str
    items: int
    accuracy: float
    low: float
    high: float


def read_rows(path: Path) -> dict[tuple[str, str], Score]:
    """(by, group) -> row of the output of `render-eval score --json`. Raises SpecError for other files."""
    problem = "found no rows of scores, or some of another form; expected the output of `render-eval score --json`"
    rows = of_form(list[Score], value_at(parse_json(read_text(path), str(path)), ("rows",)), problem, str(path))
    return {(row.by, row.group): row for row in rows}


def gaps(first: Mapping[tuple[str, str], Score], second: Mapping[tuple[str, str], Score]) -> list[dict[str, Any]]:
    """Return a row for all items and for each task that both have: the first accuracy minus the second.

    The 95 % interval is Newcombe's (1998, method 10), of the two intervals of the scores, which count that items of one
    episode are not independent.
    """
    gap_rows = []
    for key in first:
        if key in second and key[0] in ("all", "task"):
            score, other_score = first[key], second[key]
            gap = score.accuracy - other_score.accuracy
            low = gap - hypot(score.accuracy - score.low, other_score.high - other_score.accuracy)
            high = gap + hypot(score.high - score.accuracy, other_score.accuracy - other_score.low)
            shares = {"first": score.accuracy, "second": other_score.accuracy, "gap": gap, "low": low, "high": high}
            gap_rows.append({"by": key[0], "group": key[1], **shares, "items": [score.items, other_score.items]})
    if not gap_rows:
        raise UsageError("the two files have no task in common")
    return gap_rows


def memorized(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a model is better on the first set than chance explains. Of tasks, one in forty is by chance."""
    return any(row["by"] == "all" and row["low"] > 0 for row in rows)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows as a Markdown table, in percent, and what they mean."""
    cells = [
        [row["by"], row["group"], f"{100 * row['first']:.1f}", f"{100 * row['second']:.1f}", f"{100 * row['gap']:+.1f}",
         f"{100 * row['low']:+.1f} to {100 * row['high']:+.1f}"]
        for row in rows
    ]  # fmt: skip
    verdict = "better on the first set: it may have seen it" if memorized(rows) else "no significant gap"
    return markdown_table(("by", "group", "first", "second", "gap", "95 % interval"), cells) + f"\n{verdict}\n"
