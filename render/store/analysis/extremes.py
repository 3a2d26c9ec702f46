"""The episodes at the ends of a scale: the least visible object, the smallest box, the slowest."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from render.store.columns import KEY
from render.store.lance.reader import LanceReader

_BATCH = 1024
_POINTER = "pointer"
Floats = NDArray[np.float64]
# (episode's row in the batch, value, where it was found)
Found = Iterator[tuple[int, float, str]]


@dataclass(frozen=True, order=True)
class Extreme:
    """value: what it is sorted by. where: the object and image that has it, "" for the whole episode."""

    value: float
    episode: str
    where: str = ""


@dataclass(frozen=True)
class Scale:
    """columns: what it needs. of: the smallest value of each row of a batch that has any, times `sign` (1 or -1)."""

    columns: tuple[str, ...]
    of: Callable[[pa.RecordBatch, float], Found]


def _field(name: str) -> Callable[[pa.Array], Floats]:
    def values(items: pa.Array) -> Floats:
        return _floats(items.field(name))

    return values


def _box_side(items: pa.Array) -> Floats:
    """The shorter side of each visible box, pixels; NaN for none."""
    boxes = items.field("bbox")
    sides = np.full(len(items), np.nan)
    seen = boxes.is_valid().to_numpy(zero_copy_only=False)
    sides[seen] = _floats(boxes.filter(pa.array(seen)).flatten()).reshape(-1, 4)[:, 2:].min(axis=1)
    return sides


def _floats(column: pa.Array) -> Floats:
    found: Floats = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return found


def _objects(values_of: Callable[[pa.Array], Floats]) -> Callable[[pa.RecordBatch, float], Found]:
    def of(batch: pa.RecordBatch, sign: float) -> Found:
        column = batch.column("objects")
        items, rows = column.flatten(), pc.list_parent_indices(column).to_numpy(zero_copy_only=False)
        values = sign * values_of(items)
        standing = pc.not_equal(items.field("name"), _POINTER).fill_null(True).to_numpy(zero_copy_only=False)
        kept = np.flatnonzero(standing & np.isfinite(values))
        # By row, then by value; of one value the first.
        order = kept[np.lexsort((kept, values[kept], rows[kept]))]
        first = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
        names = items.field("name").take(pa.array(first)).to_pylist()
        images = items.field("image").take(pa.array(first)).to_pylist()
        known = batch.column("image_names")
        for place, name, image in zip(first.tolist(), names, images, strict=True):
            row = int(rows[place])
            yield row, sign * float(values[place]), f"{name} in {known[row][image].as_py()}"

    return of


def _count(column: str) -> Callable[[pa.RecordBatch, float], Found]:
    def of(batch: pa.RecordBatch, _sign: float) -> Found:
        for row, count in enumerate(pc.list_value_length(batch.column(column)).fill_null(0).to_pylist()):
            yield row, float(count), ""

    return of


def _standing(batch: pa.RecordBatch, _sign: float) -> Found:
    column = batch.column("objects")
    rows = pc.list_parent_indices(column).to_numpy(zero_copy_only=False)
    standing = pc.not_equal(column.flatten().field("name"), _POINTER).fill_null(True).to_numpy(zero_copy_only=False)
    for row, count in enumerate(np.bincount(rows[standing], minlength=batch.num_rows).tolist()):
        yield row, float(count), ""


def _seconds(batch: pa.RecordBatch, _sign: float) -> Found:
    for row, text in enumerate(batch.column("seconds").to_pylist()):
        steps: dict[str, Any] = json.loads(text or "{}")
        if steps:
            longest = max(steps, key=lambda step: float(steps[step]))
            yield row, sum(float(value) for value in steps.values()), f"most of it {longest}"


_SEEN = ("objects", "image_names")
# visible_fraction, visible_pixels, box (its shorter side, pixels): of an episode's objects the one at the end.
# objects, images: how many it has. seconds: how long it took.
SCALES: dict[str, Scale] = {
    "visible_fraction": Scale(_SEEN, _objects(_field("visible_fraction"))),
    "visible_pixels": Scale(_SEEN, _objects(_field("visible_pixels"))),
    "box": Scale(_SEEN, _objects(_box_side)),
    "objects": Scale(("objects",), _standing),
    "images": Scale(("image_names",), _count("image_names")),
    "seconds": Scale(("seconds",), _seconds),
}


def extremes(
    store: LanceReader, scale: str, where: str | None = None, limit: int | None = None, largest: bool = False
) -> list[Extreme]:
    """Episodes by the smallest value of a scale (a key of SCALES), or by the largest; of one value by id.

    An episode stands once, with its own extreme; one that has no value is left out, and what points counts as no
    object. With a limit, only so many are held. Raises StoreError.
    """
    chosen, sign = SCALES[scale], -1.0 if largest else 1.0

    def each() -> Iterator[tuple[float, str, Extreme]]:
        for batch in store.batches([KEY, *chosen.columns], where, _BATCH):
            names = batch.column(KEY).to_pylist()
            for row, value, place in chosen.of(batch, sign):
                yield sign * value, names[row], Extreme(value, names[row], place)

    ordered = sorted(each()) if limit is None else heapq.nsmallest(limit, each())
    return [extreme for _, _, extreme in ordered]
