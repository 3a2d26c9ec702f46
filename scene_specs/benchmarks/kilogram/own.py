"""The tangrams that come with Diorama: assets/tangrams, built by diorama.assets.build.tangrams."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from pathlib import Path

from diorama.scene_specs.benchmarks.kilogram.annotations import Annotations, read_annotations
from diorama.scene_specs.benchmarks.kilogram.pieces import Root2, Tangram


def folder() -> Path:
    """Return the folder of the tangrams."""
    return Path(str(resources.files("diorama.assets"))) / "tangrams"


@lru_cache(maxsize=1)
def own_tangrams() -> tuple[Tangram, ...]:
    """Return all tangrams, in the order of their names."""
    data = json.loads((folder() / "tangrams.json").read_text("utf-8"))
    return tuple(
        Tangram(name, tuple(tuple((Root2(a, b), Root2(c, d)) for a, b, c, d in polygon) for polygon in polygons))
        for name, polygons in data["tangrams"].items()
    )


@lru_cache(maxsize=1)
def own_annotations() -> Annotations:
    """Return their descriptions. Raises ValueError if the file is damaged."""
    path = folder() / "annotations.json"
    found, diagnostics = read_annotations(path.read_text("utf-8"), path.name)
    if diagnostics:
        raise ValueError(f"Diorama's own descriptions are damaged: {diagnostics[0]}")
    return found
