"""CLEVR (Johnson et al., CVPR 2017): random scenes by its placement rules."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from scene_specs.language.benchmark import Command, Seed


class Options(Command):
    """Generate CLEVR episodes, one per line."""

    run: ClassVar[str] = "random_scenes:generate"

    count: int = Field(ge=0, description="Number of episodes.")
    objects: tuple[int, int] = Field((3, 10), description="Objects per image.")
    split: str = Field("train", description="Split that the episodes belong to.")
    seed: Seed = 0
    cogent: Literal["A", "B"] | None = Field(None, description="Condition of CLEVR-CoGenT [default: none].")
