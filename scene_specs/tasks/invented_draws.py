"""Random invented shapes for benchmarks."""

from __future__ import annotations

import numpy as np

from diorama.scene_specs.language.invented import Invented
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.language.rng import key_digest

# Diorama's own families.
FAMILIES = ("blob", "branch", "lathe")
_SPLITS = ("train", "train", "train", "train", "train", "val", "test")


def drawn_shape(rng: np.random.Generator, split: str, family: str) -> Invented:
    """Draw a shape with a position on each axis that leaves room on both sides.

    A hash of family and seed decides the only split that may show such shapes: 5/7 train, 1/7 val, 1/7 test.

    Raises:
        RuntimeError: 1,000 draws give none, which has a probability of 10^-67.
        PluginError: the family is unknown or can't be imported.
    """
    for _ in range(1000):
        seed = int(rng.integers(2**31))
        digest = key_digest("invented split", family, str(seed))
        if _SPLITS[int.from_bytes(digest[:8], "little") % len(_SPLITS)] == split:
            axes = plugin("families", family).load().AXES
            return Invented(family, seed, {axis: round(0.15 + 0.7 * float(rng.random()), 4) for axis in axes})
    raise RuntimeError(f"no shape of family {family} for split {split} in 1000 draws")
