"""Comparisons of Diorama with the checkouts of published benchmarks, for `python -m tools published`.

Each module has MARK, a path that only checkouts of its benchmark contain, and `check(checkout, options)`, which yields
a Row as soon as each comparison ends.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diorama.render.compiler import compile_episode
from diorama.scene_specs.model.passes import Renderer
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec


class Row(NamedTuple):
    """One comparison. differ: how many of the `compared` values differ. known: how many of these `note` explains."""

    what: str
    compared: int
    differ: int = 0
    known: int = 0
    note: str = ""


def read_json(path: Path) -> Any:
    """Return the value in a JSON file."""
    return json.loads(path.read_text("utf-8"))


def redrawn(renderer: Renderer, spec: EpisodeSpec, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return the first image of an episode, (height, width, 3). size: width and height, pixels."""
    scene = compile_episode(spec, settings_for("standard", *size))
    return renderer.render(scene, scene.frames[0], scene.frames[0].views[0]).color


def spec_data(spec: EpisodeSpec) -> Any:
    """Return an episode as JSON data, without defaults."""
    return spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


def variation(one: Counter[int], two: Counter[int]) -> float:
    """Return the total variation of the shares of two counts, 0 to 1."""
    return sum(abs(one[key] / one.total() - two[key] / two.total()) for key in {**one, **two}) / 2
