"""Statistics of a set of items: classes, numbers of objects, k, and the best accuracy without knowing k."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from diorama.scene_specs.benchmarks.malevic.draw import FEWEST, MOST
from diorama.scene_specs.benchmarks.malevic.labels import is_big, threshold
from diorama.scene_specs.benchmarks.malevic.sets import set_of
from diorama.scene_specs.benchmarks.malevic.truth import Truth
from diorama.scene_specs.errors import located, spec_error
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.model.spec import EpisodeData


def _truth_of(item: EpisodeData) -> Truth:
    """Return the truth of an item, as JSON data. Raises SpecError if something is missing, or the question."""
    truth, name = Truth.of_spec(item), str(item.get("id", ""))
    if not truth.question:
        hint = "import it with --questions" if name.startswith("malevic/published/") else "generate it again"
        raise spec_error("it has no question", hint, episode=name, path="task")
    return truth


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

    def add(self, truth: Truth) -> None:
        """Count an item. Raises SpecError for a set that does not exist."""
        target, k = truth.target, truth.k
        self.items += 1
        self.classes[(target.shape, target.color, truth.adjective, truth.answer)] += 1
        self.counts[len(truth.objects)] += 1
        self.set_sizes[sum(item.shape == target.shape for item in truth.objects)] += 1
        self.captions[len(truth.captions)] += 1
        self.k_sum += k
        self.k_squares += k * k
        self.ceiling += truth.vagueness == "same"
        self.near += truth.distance is not None and truth.distance < 0.1
        which = set_of(truth)
        if which.kind == "sup1":
            self.scene_wide += 1
            return
        big = is_big(target.area, threshold([item.area for item in truth.objects], which.reference_k))
        self.scene_wide += (("big" if big else "small") == truth.adjective) == (truth.answer == "yes")

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
        return {
            "set": self.name, "split": self.split, "items": n, "classes": len(self.classes),
            "fewest_in_a_class": min(self.classes.values()), "most_in_a_class": max(self.classes.values()),
            "ceiling": self.ceiling / n, "scene_wide": self.scene_wide / n, "near_threshold": self.near / n,
            "k_mean": mean, "k_sd": math.sqrt(max(self.k_squares / n - mean * mean, 0.0)),
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


def statistics(items: Iterable[EpisodeData]) -> list[dict[str, Any]]:
    """Return a row per split of items, as JSON data, in the order of their first items; see SetReport.row.

    Raises SpecError.
    """
    splits: dict[tuple[str, str], SetReport] = {}
    for item in items:
        with located(episode=str(item.get("id", ""))):
            truth = _truth_of(item)
            key = (truth.name, truth.split)
            splits.setdefault(key, SetReport(*key)).add(truth)
    return [split.row() for split in splits.values()]
