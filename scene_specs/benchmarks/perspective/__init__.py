"""Perspective: what another person sees, and where it is for them. See docs/perspective.md."""

from __future__ import annotations

from typing import Literal

from diorama.scene_specs.tasks.benchmark import Command, First, Seed, option


class Options(Command):
    """Generate questions about what a person in the image sees.

    Each image shows objects, a screen or a shelf, and a person who looks at one of the objects. Answers from the
    camera's point of view are right as often as chance. Tasks: level-1 (does the person see an object), level-2 (is an
    object left or right of another one from the person's point of view), second-view (is an object left or right of
    another one in a photograph that the person takes), director (which of two objects does the person mean, who sees
    only one of them), facing (which object does the person look at), shelf (which object does the person mean, who
    does not see into one of the cells of a shelf), all.

    Examples:
      render-specs perspective --count 100 --seed 1 --out specs.jsonl
      render-specs perspective --task level-2 --count 20 --seed 1 --out specs.jsonl
    """

    task: Literal["level-1", "level-2", "second-view", "director", "facing", "shelf", "all"] = option(
        "all", "Task to generate; see above.", metavar="NAME", group="Sampling"
    )
    split: Literal["train", "val", "test"] = option("train", "Split, which is part of the ids.")
    count: int = option(100, "Episodes per task.", ge=0)
    first: First = 0
    seed: Seed = 0
