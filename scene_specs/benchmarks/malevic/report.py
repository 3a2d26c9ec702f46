"""What a set of items is like: classes, numbers of objects, k, and the best that can be done without k."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scene_specs.benchmarks.malevic.draw import FEWEST, MOST
from scene_specs.benchmarks.malevic.labels import K_MEAN, is_big, threshold
from scene_specs.benchmarks.malevic.sets import SETS


@dataclass
class SetReport:
    """Counts of one split of one set. near: items whose object is nearer to the threshold than a tenth of the range."""

    name: str
    split: str
    items: int = 0
    ceiling: int = 0
    scene_wide: int = 0
    near: int = 0
    classes: Counter[tuple[str, ...]] = field(default_factory=Counter)
    counts: Counter[int] = field(default_factory=Counter)
    k_sum: float = 0.0
    k_squares: float = 0.0

    def add(self, task: Mapping[str, Any]) -> None:
        """Count one item's `task`."""
        asked, k = task["objects"][task["asked"]], task["k"]
        self.items += 1
        self.classes[(asked["shape"], asked["color"], task["adjective"], task["answer"])] += 1
        self.counts[len(task["objects"])] += 1
        self.k_sum += k
        self.k_squares += k * k
        self.ceiling += task["vagueness"] == "same"
        self.near += task["distance"] is not None and task["distance"] < 0.1
        if SETS[task["name"]].kind == "sup1":
            self.scene_wide += 1
            return
        everything = [item["area"] for item in task["objects"]]
        big = is_big(asked["area"], threshold(everything, K_MEAN))
        self.scene_wide += (("big" if big else "small") == task["adjective"]) == (task["answer"] == "yes")

    def row(self) -> dict[str, Any]:
        """Shares of 1. ceiling: answers that k = 0.29 gives right; scene_wide: those that it gives when all objects
        of the scene are compared, whatever their shape. objects: number of objects -> share.
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
        }  # fmt: skip


class Report:
    """Reports of all splits among MALeViC items, in the order they came."""

    def __init__(self) -> None:
        self._splits: dict[tuple[str, str], SetReport] = {}

    def add(self, task: Mapping[str, Any]) -> None:
        """Count one item's `task`."""
        key = (task["name"], task["split"])
        self._splits.setdefault(key, SetReport(*key)).add(task)

    def rows(self) -> list[dict[str, Any]]:
        """A row a split; see SetReport.row."""
        return [one.row() for one in self._splits.values()]


def report(tasks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of many items' `task`."""
    whole = Report()
    for task in tasks:
        whole.add(task)
    return whole.rows()


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a Markdown table, shares in percent."""
    counts = [str(count) for count in range(FEWEST, MOST + 1)]
    head = [
        "set",
        "split",
        "items",
        "classes",
        "a class",
        "ceiling",
        "scene-wide",
        "near",
        "k",
        *(f"n={c}" for c in counts),
    ]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        fewest, most = row["fewest_in_a_class"], row["most_in_a_class"]
        cells = [
            row["set"],
            row["split"],
            row["items"],
            row["classes"],
            fewest if fewest == most else f"{fewest}-{most}",
        ]
        cells += [f"{100 * row[key]:.1f}" for key in ("ceiling", "scene_wide", "near_threshold")]
        cells += [f"{row['k_mean']:.3f} ± {row['k_sd']:.3f}"]
        cells += [f"{100 * row['objects'][count]:.1f}" for count in counts]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"
