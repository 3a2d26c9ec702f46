"""Ceiling and accuracy of answers by class, k, and distance from the threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from diorama.scene_specs.benchmarks.malevic import Accuracy
from diorama.scene_specs.benchmarks.malevic.report import asked_task
from diorama.scene_specs.language.benchmark import Result
from diorama.scene_specs.language.predictions import Predictions
from diorama.scene_specs.language.tables import markdown_table

# Lower ends of the groups after the first.
_K = (0.19, 0.24, 0.29, 0.34, 0.39)
_DISTANCES = (0.02, 0.05, 0.1, 0.2, 0.4)
_HEAD = ("by", "group", "items", "ceiling", "accuracy")


def accuracy(options: Accuracy, items: Iterable[Mapping[str, Any]]) -> Result:
    """Return the groups with their items, ceiling and accuracy, as shares. Raises SpecError."""
    given = None if options.predictions is None else Predictions(options.predictions)
    count: Counter[tuple[str, str]] = Counter()
    ceiling, right = count.copy(), count.copy()
    for item in items:
        with asked_task(item) as task:
            answer = given and given.of(item["id"], ("yes", "no"))
            for group in _groups_of(task):
                count[group] += 1
                ceiling[group] += task["vagueness"] == "same"
                right[group] += answer == task["answer"]
    if given:
        given.warn_of_others()
    shares = {group: [ceiling[group] / n, right[group] / n][: 1 + (given is not None)] for group, n in count.items()}
    rows = [dict(zip(_HEAD, (*group, count[group], *shares[group]), strict=False)) for group in sorted(count)]
    cells = [[*group, count[group], *(f"{100 * share:.1f}" for share in shares[group])] for group in sorted(count)]
    return Result(rows, markdown_table(_HEAD if given is not None else _HEAD[:-1], cells))


def _groups_of(task: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    target = task["objects"][task["asked"]]
    yield "all", ""
    yield "class", f"{target['shape']} {target['color']} {task['adjective']} {task['answer']}"
    for key, ends in (("k", _K), ("distance", _DISTANCES)):
        if task["distance"] is not None:
            above = [end for end in ends if end > task[key]]
            yield key, f"below {above[0]:.2f}" if above else f"from {ends[-1]:.2f}"
