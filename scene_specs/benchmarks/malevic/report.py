"""Statistics of a set of items: classes, numbers of objects, k, and the best accuracy without knowing k."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from diorama.scene_specs.benchmarks.malevic import Accuracy
from diorama.scene_specs.benchmarks.malevic.draw import FEWEST, MOST
from diorama.scene_specs.benchmarks.malevic.labels import is_big, threshold
from diorama.scene_specs.benchmarks.malevic.sets import set_of
from diorama.scene_specs.language.benchmark import Result
from diorama.scene_specs.language.errors import spec_error
from diorama.scene_specs.language.predictions import Predictions
from diorama.scene_specs.language.tables import markdown_table


@contextmanager
def asked_task(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Give the task of an item, as JSON data, to code that reads its question. Raises SpecError if something lacks."""
    task, name = item["task"], str(item.get("id", ""))
    if "question" not in task:
        hint = "import it with --questions" if name.startswith("malevic/published/") else "generate it again"
        raise spec_error("it has no question", hint, episode=name, path="task")
    try:
        yield task
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        problem = f"not a complete MALeViC item: {type(error).__name__}: {error}"
        raise spec_error(problem, episode=name, path="task") from error


@dataclass
class SetReport:
    """Counts of a split of a set.

    Attributes:
        near: items whose object is closer to the threshold than 10 % of the range.
    """

    name: str
    split: str
    items: int = 0
    ceiling: int = 0
    scene_wide: int = 0
    near: int = 0
    classes: Counter[tuple[str, ...]] = field(default_factory=Counter)
    counts: Counter[int] = field(default_factory=Counter)
    set_sizes: Counter[int] = field(default_factory=Counter)
    captions: Counter[int] = field(default_factory=Counter)
    k_sum: float = 0.0
    k_squares: float = 0.0

    def add(self, task: Mapping[str, Any]) -> None:
        """Count an item, given its `task`. Raises ValueError for a k that can't be, as import does."""
        target, k = task["objects"][task["asked"]], task["k"]
        if not -1 <= k <= 2:
            raise ValueError(f"k: found {k}; expected a number from -1 to 2")
        self.items += 1
        self.classes[(target["shape"], target["color"], task["adjective"], task["answer"])] += 1
        self.counts[len(task["objects"])] += 1
        self.set_sizes[sum(item["shape"] == target["shape"] for item in task["objects"])] += 1
        self.captions[len(task["captions"])] += 1
        self.k_sum += k
        self.k_squares += k * k
        self.ceiling += task["vagueness"] == "same"
        self.near += task["distance"] is not None and task["distance"] < 0.1
        which = set_of(task)
        if which.kind == "sup1":
            self.scene_wide += 1
            return
        areas = [item["area"] for item in task["objects"]]
        big = is_big(target["area"], threshold(areas, which.reference_k))
        self.scene_wide += (("big" if big else "small") == task["adjective"]) == (task["answer"] == "yes")

    @property
    def answers(self) -> set[str]:
        """Return the answers that occur."""
        return {answer for *_, answer in self.classes}

    def row(self) -> dict[str, Any]:
        """Return shares from 0 to 1. ceiling: answers that are correct with the mean of k. scene_wide: the same if all
        objects of the scene are compared, whatever their shape. objects, set_sizes, captions: number of objects, of
        objects with the shape in question, and of queries of the scene -> share.
        """
        n = self.items
        mean = self.k_sum / n
        spread = math.sqrt(max(self.k_squares / n - mean * mean, 0.0))
        return {
            "set": self.name, "split": self.split, "items": n, "classes": len(self.classes),
            "fewest_in_a_class": min(self.classes.values()), "most_in_a_class": max(self.classes.values()),
            "ceiling": self.ceiling / n, "scene_wide": self.scene_wide / n, "near_threshold": self.near / n,
            "k_mean": mean, "k_sd": spread,
            "objects": {str(count): self.counts[count] / n for count in range(FEWEST, MOST + 1)},
            "set_sizes": {str(count): self.set_sizes[count] / n for count in sorted(self.set_sizes)},
            "captions": {str(count): self.captions[count] / n for count in sorted(self.captions)},
        }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table, shares in percent."""
    counts = [str(count) for count in range(FEWEST, MOST + 1)]
    head = ("set", "split", "items", "classes", "a class", "ceiling", "scene-wide", "near", "k")
    cells = []
    for row in rows:
        fewest, most = row["fewest_in_a_class"], row["most_in_a_class"]
        shares = [row["ceiling"], row["scene_wide"], row["near_threshold"], *(row["objects"][n] for n in counts)]
        percent = [f"{100 * share:.1f}" for share in shares]
        first = [row["set"], row["split"], row["items"], row["classes"]]
        in_a_class = fewest if fewest == most else f"{fewest}-{most}"
        cells.append([*first, in_a_class, *percent[:3], f"{row['k_mean']:.3f} ± {row['k_sd']:.3f}", *percent[3:]])
    return markdown_table([*head, *(f"n={count}" for count in counts)], cells)


def statistics(items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row per split of items, as JSON data, in the order of their first items; see SetReport.row.

    Raises SpecError.
    """
    splits: dict[tuple[str, str], SetReport] = {}
    for item in items:
        with asked_task(item) as task:
            key = (task["name"], task["split"])
            splits.setdefault(key, SetReport(*key)).add(task)
    return [split.row() for split in splits.values()]


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
