"""CLEVR (Johnson et al., CVPR 2017): random scenes by its placement rules."""

from __future__ import annotations

from typing import Literal

from diorama.scene_specs.tasks.benchmark import Command, Seed, option


class Options(Command, run="random_scenes:generate"):
    """Generate CLEVR episodes, one per line.

    Examples:
      render-specs clevr --count 100 --out specs.jsonl
      render-specs clevr --count 100 --objects 3-6 --cogent A --out specs.jsonl
    """

    count: int = option(..., "Number of episodes.", ge=0, group="Sampling")
    split: str = option("train", "Split that the episodes belong to.", metavar="NAME")
    seed: Seed = 0
    objects: tuple[int, int] = option((3, 10), "Objects per image.", group="Contents")
    cogent: Literal["A", "B"] | None = option(
        None, "Use the combinations of color and shape of this CLEVR-CoGenT condition.  [default: no limits]"
    )
    stacks: bool = option(False, "Objects stand on, are in, lean on and touch others.")
