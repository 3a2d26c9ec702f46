"""Episodes sorted by a measured quantity: the least visible object, the smallest box, the longest render time."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diorama.render.store.analysis.arrays import BATCH_ROWS, array, box_sides, flat, lengths, pointers
from diorama.render.store.episode_store import KEY, EpisodeReader

Floats = NDArray[np.float64]
# (row of the episode in its batch, value, where it was found)
Found = Iterator[tuple[int, float, str]]


class Extreme(NamedTuple):
    """value: the sort key. where: object and image with this value, "" for the complete episode."""

    value: float
    episode: str
    where: str = ""


class Scale(NamedTuple):
    """columns: those it reads. of: for each row of a batch with a value, its smallest value times a sign (1 or -1)."""

    columns: tuple[str, ...]
    of: Callable[[pa.RecordBatch, float], Found]


def _field(name: str) -> Callable[[pa.Array], Floats]:
    return lambda items: array(items.field(name).cast(pa.float64()))


def _box_side(items: pa.Array) -> Floats:
    """Return the shorter side of each visible box, pixels; NaN without a box."""
    seen = array(items.field("bbox").is_valid())
    sides = np.full(len(items), np.nan)
    sides[seen] = box_sides(items, seen).min(axis=1)
    return sides


def _objects(values_of: Callable[[pa.Array], Floats]) -> Callable[[pa.RecordBatch, float], Found]:
    def of(batch: pa.RecordBatch, sign: float) -> Found:
        items, rows = flat(batch.column("objects"))
        values = sign * values_of(items)
        kept = np.flatnonzero(~pointers(items) & np.isfinite(values))
        # By row, then by value; of equal values the first.
        order = kept[np.lexsort((values[kept], rows[kept]))]
        first = order[np.unique(rows[order], return_index=True)[1]]
        names, images = (items.field(name).take(pa.array(first)).to_pylist() for name in ("name", "image"))
        image_names = batch.column("image_names")
        for row, value, name, image in zip(rows[first].tolist(), values[first].tolist(), names, images, strict=True):
            yield row, sign * value, f"{name} in {image_names[row][image].as_py()}"

    return of


def _object_count(batch: pa.RecordBatch, _sign: float) -> Found:
    items, rows = flat(batch.column("objects"))
    return _counts(np.bincount(rows[~pointers(items)], minlength=batch.num_rows))


def _counts(counts: NDArray[np.int64]) -> Found:
    return ((row, float(count), "") for row, count in enumerate(counts.tolist()))


def _seconds(batch: pa.RecordBatch, _sign: float) -> Found:
    for row, text in enumerate(batch.column("seconds").to_pylist()):
        steps: dict[str, Any] = json.loads(text or "{}")
        if steps:
            longest = max(steps, key=lambda step: float(steps[step]))
            yield row, sum(float(value) for value in steps.values()), f"most of it {longest}"


_OBJECTS = ("objects", "image_names")
# visible_fraction, visible_pixels, box (its shorter side, pixels): the smallest or largest of an episode's objects.
# objects, images: counts. seconds: sum of all steps.
SCALES: dict[str, Scale] = {
    "visible_fraction": Scale(_OBJECTS, _objects(_field("visible_fraction"))),
    "visible_pixels": Scale(_OBJECTS, _objects(_field("visible_pixels"))),
    "box": Scale(_OBJECTS, _objects(_box_side)),
    "objects": Scale(("objects",), _object_count),
    "images": Scale(("image_names",), lambda batch, _: _counts(lengths(batch.column("image_names")))),
    "seconds": Scale(("seconds",), _seconds),
}


def extremes(
    store: EpisodeReader, scale: str, where: str | None = None, limit: int | None = None, largest: bool = False
) -> list[Extreme]:
    """Return episodes sorted by the smallest value of a scale (a key of SCALES), or by the largest; then by id.

    Each episode occurs once, with its own extreme; episodes without a value are left out, and pointers are not objects.
    With a limit, only that many are held in memory. Raises StoreError.
    """
    chosen, sign = SCALES[scale], -1.0 if largest else 1.0

    def entries() -> Iterator[tuple[float, str, Extreme]]:
        for batch in store.batches([KEY, *chosen.columns], where, BATCH_ROWS):
            ids = batch.column(KEY).to_pylist()
            for row, value, location in chosen.of(batch, sign):
                yield sign * value, ids[row], Extreme(value, ids[row], location)

    ordered = sorted(entries()) if limit is None else heapq.nsmallest(limit, entries())
    return [extreme for _, _, extreme in ordered]
