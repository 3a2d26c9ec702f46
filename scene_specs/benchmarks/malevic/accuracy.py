"""Ceiling and accuracy of answers by k, by distance from the threshold, and by class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scene_specs.benchmarks.malevic import Accuracy
from scene_specs.language.benchmark import Result
from scene_specs.language.errors import UsageError
from scene_specs.language.foreign import parse_json, read_text
from scene_specs.language.tables import markdown_table

# Lower ends of the groups.
_K = (-1.0, 0.19, 0.24, 0.29, 0.34, 0.39)
_DISTANCES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)


@dataclass
class _Group:
    """Items of a group. ceiling: those that k = 0.29 answers. right: those whose prediction is the answer."""

    items: int = 0
    ceiling: int = 0
    right: int = 0


def accuracy(options: Accuracy, items: Iterable[Mapping[str, Any]]) -> Result:
    """Return ceiling and accuracy of all groups, by `render-specs malevic accuracy`. Raises SpecError, UsageError."""
    given: Any = None
    if options.predictions is not None:
        given = parse_json(read_text(options.predictions), str(options.predictions))
        if not isinstance(given, dict):
            raise UsageError(f'{options.predictions}: expected a JSON object {{"<episode id>": "yes" or "no"}}')
    groups: dict[tuple[str, Any], _Group] = {}
    for item in items:
        task, name = item["task"], item["id"]
        if given is not None and given.get(name) not in ("yes", "no"):
            found = f"found {given[name]!r}" if name in given else "there is none"
            raise UsageError(f'{options.predictions}: the prediction for {name}: {found}; expected "yes" or "no"')
        if "question" not in task:
            raise UsageError(f"{name}: nothing is asked; import it with --questions")
        for key in _groups_of(task):
            group = groups.setdefault(key, _Group())
            group.items += 1
            group.ceiling += task["vagueness"] == "same"
            group.right += given is not None and given[name] == task["answer"]
    rows = [
        {
            "by": by,
            "group": label,
            "items": group.items,
            "ceiling": group.ceiling / group.items,
            "accuracy": None if given is None else group.right / group.items,
        }
        for (by, label), group in sorted(groups.items())
    ]
    return Result(rows, _table(rows))


def _groups_of(task: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the groups of an item: kind and label."""
    target = task["objects"][task["asked"]]
    yield "all", ""
    yield "class", f"{target['shape']} {target['color']} {task['adjective']} {task['answer']}"
    if task["distance"] is not None:
        yield "distance", _interval(_DISTANCES, task["distance"])
        yield "k", _interval(_K, task["k"])


def _interval(ends: tuple[float, ...], value: float) -> str:
    """Return the group of a value, as text that sorts like the groups."""
    index = max(k for k, end in enumerate(ends) if value >= end or k == 0)
    if index == len(ends) - 1:
        return f"from {ends[-1]:.2f}"
    return f"below {ends[index + 1]:.2f}"


def _table(rows: list[dict[str, Any]]) -> str:
    shares = [[row[key] for key in ("ceiling", "accuracy")] for row in rows]
    percent = [["" if share is None else f"{100 * share:.1f}" for share in pair] for pair in shares]
    cells = [[row["by"], row["group"], row["items"], *pair] for row, pair in zip(rows, percent, strict=True)]
    return markdown_table(("by", "group", "items", "ceiling", "accuracy"), cells)
