"""Novel: words for objects that nobody has a word for, in graded steps. See docs/invented.md."""

from __future__ import annotations

from typing import Literal

from diorama.scene_specs.tasks.benchmark import Command, First, Seed, option


class Options(Command):
    """Generate episodes about words for invented objects.

    Each episode shows exemplars of a new word, and asks about other objects. The answer follows from measured distances
    between shapes. Tasks: generalization (along one axis), shape-bias (shape against color, texture and size),
    mutual-exclusivity (a known and a new object), few-exemplars (near misses among the choices), all.

    Examples:
      render-specs novel --count 100 --out specs.jsonl
      render-specs novel --task shape-bias --count 20 --out specs.jsonl
    """

    task: Literal["generalization", "shape-bias", "mutual-exclusivity", "few-exemplars", "all"] = option(
        "all", "Task to generate; see above.", metavar="NAME", group="Sampling"
    )
    split: Literal["train", "val", "test"] = option("train", "Split, which decides the concepts.")
    count: int = option(100, "Episodes per task.", ge=0)
    first: First = 0
    seed: Seed = 0
