"""Our own tangrams, which come with Diorama: assets/tangrams, made by assets.build.tangrams."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from scene_specs.benchmarks.kilogram.annotations import Annotations, read_annotations
from scene_specs.benchmarks.kilogram.pieces import Tangram
from scene_specs.benchmarks.kilogram.root2 import Root2

FORMAT_VERSION = 1


def folder() -> Path:
    """Where they are."""
    return Path(str(resources.files("assets"))) / "tangrams"


def tangram_data(tangrams: Sequence[Tangram]) -> dict[str, Any]:
    """The file's form: a corner is [a, b, c, d], at x = (a + b sqrt 2) / 4 and y = (c + d sqrt 2) / 4 legs, y up."""
    return {
        "version": FORMAT_VERSION,
        "tangrams": {
            one.name: [[[x.a, x.b, y.a, y.b] for x, y in polygon] for polygon in one.polygons] for one in tangrams
        },
    }


def tangrams_of(data: Mapping[str, Any]) -> tuple[Tangram, ...]:
    """The tangrams of such a file, exactly."""
    return tuple(
        Tangram(
            name,
            tuple(tuple((Root2(a, b), Root2(c, d)) for a, b, c, d in polygon) for polygon in polygons),
        )
        for name, polygons in data["tangrams"].items()
    )


@lru_cache(maxsize=1)
def own_tangrams() -> tuple[Tangram, ...]:
    """All of ours, in the order of their names."""
    return tangrams_of(json.loads((folder() / "tangrams.json").read_text("utf-8")))


@lru_cache(maxsize=1)
def own_annotations() -> Annotations:
    """Our descriptions of them, in the published form."""
    path = folder() / "annotations.json"
    found, diagnostics = read_annotations(path.read_text("utf-8"), path.name)
    if diagnostics:
        raise ValueError(f"our own descriptions are damaged: {diagnostics[0]}")
    return found
