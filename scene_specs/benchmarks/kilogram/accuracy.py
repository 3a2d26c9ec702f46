"""Accuracy of predictions, by condition and number of parts, as means over examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean
from typing import Any

from diorama.scene_specs.benchmarks.kilogram import Accuracy
from diorama.scene_specs.benchmarks.kilogram.emit import kinds_of
from diorama.scene_specs.benchmarks.kilogram.examples import AUG, CONDITIONS
from diorama.scene_specs.language.benchmark import Result
from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.language.errors import spec_error
from diorama.scene_specs.language.predictions import Predictions
from diorama.scene_specs.language.tables import markdown_table

_HEAD = ("condition", "by", "group", "examples", "games", "accuracy")


def accuracy(options: Accuracy, items: Iterable[Mapping[str, Any]]) -> Result:
    """Return the accuracy of each group of examples, and of each example in `data`, as shares. Raises SpecError.

    As published (process_parts_preds_eval.py): the mean over its games for each example, then over examples. `kinds_of`
    games follow their condition.
    """
    given = Predictions(options.predictions)
    # Group -> example -> whether each of its games is right.
    found: dict[tuple[str, str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        try:
            task, groups = item["task"], [*_groups_of(item)]
            right = given.of(item["id"], task["options"]) == task["answer"]
            if task["name"] not in (*CONDITIONS, AUG):
                raise ValueError(f"task.name: found {preview_json(task['name'])}; expected a condition")
            kinds = kinds_of(bool(task.get("unconstrained")), len(task["options"]))
            for group, example in groups:
                found["/".join([task["name"], *kinds]), *group][example].append(right)
        except (KeyError, TypeError, ValueError) as error:
            problem = f"not a reference game: {type(error).__name__} {error}"
            raise spec_error(problem, episode=item["id"], path="task") from error
    given.warn_of_others()
    rows: list[dict[str, Any]] = []
    for kind, examples in sorted(found.items()):
        score = fmean(map(fmean, examples.values()))
        rows.append(dict(zip(_HEAD, (*kind, len(examples), sum(map(len, examples.values())), score), strict=True)))
    shown = [[*{**row, "accuracy": f"{100 * row['accuracy']:.1f}"}.values()] for row in rows if row["by"] != "example"]
    return Result(rows, markdown_table(_HEAD, shown))


def _groups_of(item: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the groups of a game, each with the name of its example: that of the target's image."""
    task = item["task"]
    (truth,) = [frame["truth"] for frame in item["frames"] if frame["name"] == task["answer"]]
    # Black images of a tangram's descriptions share a name.
    example = f"{truth['tangram']}_{truth['annotation']}" if truth["image"] == truth["tangram"] else truth["image"]
    yield ("all", ""), example
    yield ("parts", str(task["part_count"])), example
    if task["name"] == AUG:
        yield ("shown parts", f"{task['shown_parts']} of {task['part_count']}"), example
    yield ("example", example), example
