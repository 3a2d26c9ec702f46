"""Ceiling and accuracy of answers by class, k, and distance from the threshold."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scene_specs.benchmarks.malevic import Accuracy
from scene_specs.benchmarks.malevic.report import asked_task
from scene_specs.language.benchmark import Result
from scene_specs.language.diagnostics import preview_json
from scene_specs.language.errors import spec_error
from scene_specs.language.foreign import parse_json, read_text
from scene_specs.language.tables import markdown_table

# Lower ends of the groups after the first.
_K = (0.19, 0.24, 0.29, 0.34, 0.39)
_DISTANCES = (0.02, 0.05, 0.1, 0.2, 0.4)
_log = logging.getLogger(__name__)
_HEAD = ("by", "group", "items", "ceiling", "accuracy")


def accuracy(options: Accuracy, items: Iterable[Mapping[str, Any]]) -> Result:
    """Return the groups with their items, ceiling and accuracy, as shares. Raises SpecError."""
    file = "" if options.predictions is None else str(options.predictions)
    given = None if options.predictions is None else parse_json(read_text(options.predictions), file)
    if not isinstance(given, dict | None):
        raise spec_error('expected an object {"<episode id>": "yes" or "no"}', file=file)
    count: Counter[tuple[str, str]] = Counter()
    ceiling, right = count.copy(), count.copy()
    scored: set[str] = set()
    for item in items:
        name = item["id"]
        scored.add(name)
        with asked_task(item) as task:
            if given is not None and given.get(name) not in ("yes", "no"):
                raise spec_error(f"no prediction for {name}; expected yes or no", file=file)
            for group in _groups_of(task):
                count[group] += 1
                ceiling[group] += task["vagueness"] == "same"
                right[group] += given is not None and given[name] == task["answer"]
    if others := sorted({*(given or ())} - scored):
        _log.warning("%s: %d predictions are of no item here: %s", file, len(others), preview_json(others[:3]))
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
