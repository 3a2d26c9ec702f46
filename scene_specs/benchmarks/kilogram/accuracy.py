"""Accuracy of predictions, by condition and number of parts, as means over examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Any

from diorama.scene_specs.benchmarks.kilogram import Accuracy
from diorama.scene_specs.benchmarks.kilogram.emit import kinds_of
from diorama.scene_specs.benchmarks.kilogram.examples import AUG
from diorama.scene_specs.benchmarks.kilogram.truth import Figure, Truth
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.benchmark import Result
from diorama.scene_specs.tasks.predictions import Predictions

_HEAD = ("condition", "by", "group", "examples", "games", "accuracy")


def accuracy(options: Accuracy, items: Iterable[EpisodeData]) -> Result:
    """Return the accuracy of each group of examples, and of each example in `data`, as shares. Raises SpecError.

    As published (process_parts_preds_eval.py): the mean over its games for each example, then over examples. `kinds_of`
    games follow their condition.
    """
    given = Predictions(options.predictions)
    # Group -> example -> whether each of its games is right.
    results_by_group: dict[tuple[str, str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        truth, names = Truth.of_spec(item), [frame.get("name") or "" for frame in item["frames"]]
        if not truth.answer or truth.answer not in names:
            stated = f"answer {truth.answer!r}; expected one of {', '.join(names)}" if truth.answer else "no answer"
            problem = f"not a reference game: found {stated}"
            raise spec_error(problem, episode=item["id"], path="task")
        figures = Figure.of_frames((frame.get("truth") for frame in item["frames"]), item["id"])
        right = given.of(item["id"], truth.options) == truth.answer
        kinds = kinds_of(truth.unconstrained, len(truth.options))
        for group, example in _groups_of(truth, figures[names.index(truth.answer)]):
            results_by_group["/".join([truth.name, *kinds]), *group][example].append(right)
    given.warn_of_others()
    rows: list[dict[str, Any]] = []
    for kind, examples in sorted(results_by_group.items()):
        score = fmean(map(fmean, examples.values()))
        rows.append(dict(zip(_HEAD, (*kind, len(examples), sum(map(len, examples.values())), score), strict=True)))
    shown = [[*{**row, "accuracy": f"{100 * row['accuracy']:.1f}"}.values()] for row in rows if row["by"] != "example"]
    return Result(rows, markdown_table(_HEAD, shown))


def _groups_of(truth: Truth, target: Figure) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the groups of a game, each with the name of its example: that of the target's image."""
    # Black images of a tangram's descriptions share a name.
    example = f"{target.tangram}_{target.annotation}" if target.image == target.tangram else target.image
    yield ("all", ""), example
    yield ("parts", str(truth.part_count)), example
    if truth.name == AUG:
        yield ("shown parts", f"{truth.shown_parts} of {truth.part_count}"), example
    yield ("example", example), example
