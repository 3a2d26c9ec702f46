"""Contexts of tangrams: things are parts, those that are said to be there are colored, the others are black.

Hard: one tangram, of which each picture lacks another one of four parts; any two show all but one of each other's, and
no single part names one. Medium: one tangram, each picture with one part of its own. Easy: four tangrams, no part alone
in two of them that names one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from scene_specs.benchmarks.icca.levels import SIZE, figures
from scene_specs.benchmarks.icca.picture import Picture, picture_of
from scene_specs.benchmarks.kilogram.annotations import Annotation
from scene_specs.benchmarks.kilogram.dataset import Dataset, own_dataset
from scene_specs.benchmarks.kilogram.emit import Look, objects_of
from scene_specs.benchmarks.kilogram.examples import COLORS, Example
from scene_specs.language.rng import generator, pick

_LOOK = Look(size=224, border=2.0, margin=12.0)
_HIDDEN = "black"
_ATTEMPTS = 1000
_FEWEST: Mapping[str, int] = {"easy": 3, "medium": SIZE + 1, "hard": SIZE}


@lru_cache(maxsize=1)
def _dataset() -> Dataset:
    return own_dataset()


@lru_cache(maxsize=8)
def _described(fewest: int) -> tuple[Annotation, ...]:
    """Descriptions with so many parts or more."""
    rows = _dataset().annotations
    return tuple(item for name in sorted(rows) for item in rows[name] if item.parts >= fewest)


def tangram_context(
    difficulty: str, identity: str, seed: int
) -> tuple[list[Picture], dict[str, Any], list[dict[str, Any]]]:
    """Pictures, keys of the spec, and frames of a context."""
    rng = generator(seed, identity, "tangrams")
    shown = _four(rng) if difficulty == "easy" else _one(difficulty, rng)
    shown = [shown[int(k)] for k in rng.permutation(SIZE)]
    pictures = [picture_of([{"part": name} for name in names]) for _, names in shown]
    frames = [_frame(item, names, k) for k, (item, names) in enumerate(shown)]
    return pictures, {"stage": "tangram", "canvas": [_LOOK.size, _LOOK.size]}, frames


_Shown = list[tuple[Annotation, tuple[str, ...]]]


def _one(difficulty: str, rng: np.random.Generator) -> _Shown:
    item = pick(rng, _described(_FEWEST[difficulty]))
    parts = list(item.groups())
    odd = [parts[int(k)] for k in rng.permutation(len(parts))[:SIZE]]
    if difficulty == "hard":
        return [(item, tuple(one for one in parts if one != gone)) for gone in odd]
    return [(item, tuple(one for one in parts if one == own or one not in odd)) for own in odd]


def _four(rng: np.random.Generator) -> _Shown:
    pool = _described(_FEWEST["easy"])
    for _ in range(_ATTEMPTS):
        first = pick(rng, pool)
        alike = [item for item in pool if item.parts == first.parts and item.tangram != first.tangram]
        chosen = [first, *(alike[int(k)] for k in rng.permutation(len(alike))[: SIZE - 1])]
        if len({item.tangram for item in chosen}) < SIZE:
            continue
        found = figures([picture_of([{"part": name} for name in item.groups()]) for item in chosen])
        if found and {*found.shortest} == {1} and 2 * min(found.differences) >= found.values:
            return [(item, tuple(item.groups())) for item in chosen]
    raise RuntimeError(f"none of {_ATTEMPTS} draws of four tangrams had a part of its own for each")


def _frame(item: Annotation, names: Sequence[str], k: int) -> dict[str, Any]:
    """Part j of the description has color j in all pictures; hidden ones are black."""
    parts = tuple(item.groups().items())
    example = Example(item, parts, tuple(range(len(parts))))
    color = {
        piece: COLORS[j] if name in names else _HIDDEN for j, (name, pieces) in enumerate(parts) for piece in pieces
    }
    objects = objects_of(_dataset(), example, "part+color", _LOOK)
    for piece, one in enumerate(objects, start=1):
        one["color"] = color[piece]
    parted = [{"name": name, "pieces": list(pieces)} for name, pieces in parts]
    truth = {"tangram": item.tangram, "annotation": item.number, "whole": item.whole, "parts": parted}
    return {"name": f"image-{k}", "antialias": True, "objects": objects, "truth": truth}


def picture_of_pieces(truth: Mapping[str, Any], objects: Sequence[Mapping[str, Any]]) -> Picture:
    """A picture from the annotations of its pieces: parts all of whose pieces have a color. Raises ValueError."""
    color = {one["name"]: one["color"] for one in objects}
    shown = []
    for part in truth["parts"]:
        black = {color.get(f"piece-{piece}") == _HIDDEN for piece in part["pieces"]}
        if len(black) != 1:
            raise ValueError(f"part {part['name']!r}: some of its pieces are black, and some are not")
        if black == {False}:
            shown.append({"part": str(part["name"])})
    return picture_of(shown)
