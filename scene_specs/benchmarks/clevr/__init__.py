"""CLEVR (Johnson et al., CVPR 2017): random scenes by its placement rules."""

from __future__ import annotations

from typing import Literal

from scene_specs.language.benchmark import Command, Seed, option


class Options(Command, run="random_scenes:generate"):
    """Generate CLEVR episodes, one per line."""

    count: int = option(..., "Number of episodes.", ge=0)
    objects: tuple[int, int] = option((3, 10), "Objects per image.")
    split: str = option("train", "Split that the episodes belong to.")
    seed: Seed = 0
    cogent: Literal["A", "B"] | None = option(None, "Condition of CLEVR-CoGenT [default: none].")
