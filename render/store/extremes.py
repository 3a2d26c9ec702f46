"""The episodes at the ends of a scale: the least visible object, the smallest box, the slowest."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from render.store.reading import LanceReader
from render.store.schema import KEY

_BATCH = 256
_POINTER = "pointer"


@dataclass(frozen=True, order=True)
class Extreme:
    """value: what it is sorted by. where: the object and image that has it, "" for the whole episode."""

    value: float
    episode: str
    where: str = ""


@dataclass(frozen=True)
class Scale:
    """columns: what it needs. of: values of a row, each with where it was found. told: for --help."""

    columns: tuple[str, ...]
    of: Callable[[dict[str, Any]], Iterator[tuple[float, str]]]
    told: str


def _objects(
    field: Callable[[dict[str, Any]], float | None],
) -> Callable[[dict[str, Any]], Iterator[tuple[float, str]]]:
    def of(row: dict[str, Any]) -> Iterator[tuple[float, str]]:
        names = row["image_names"] or ()
        for item in row["objects"] or ():
            value = field(item)
            if value is not None and item["name"] != _POINTER:
                image = names[item["image"]] if item["image"] < len(names) else item["frame"]
                yield float(value), f"{item['name']} in {image}"

    return of


def _box_side(item: dict[str, Any]) -> float | None:
    """Pixels: the shorter side of the visible box."""
    return min(item["bbox"][2:]) if item["bbox"] is not None else None


def _seconds(row: dict[str, Any]) -> Iterator[tuple[float, str]]:
    steps = json.loads(row["seconds"] or "{}")
    if steps:
        yield sum(float(value) for value in steps.values()), f"most of it {max(steps, key=lambda k: float(steps[k]))}"


def _standing(row: dict[str, Any]) -> Iterator[tuple[float, str]]:
    yield float(sum(item["name"] != _POINTER for item in row["objects"] or ())), ""


_SEEN = ("objects", "image_names")
SCALES: dict[str, Scale] = {
    "visible_fraction": Scale(_SEEN, _objects(lambda item: item["visible_fraction"]), "share of an object that shows"),
    "visible_pixels": Scale(_SEEN, _objects(lambda item: item["visible_pixels"]), "pixels of an object that show"),
    "box": Scale(_SEEN, _objects(_box_side), "shorter side of an object's box, pixels"),
    "objects": Scale(("objects",), _standing, "number of objects in all images"),
    "images": Scale(
        ("image_names",), lambda row: iter([(float(len(row["image_names"] or ())), "")]), "number of images"
    ),
    "seconds": Scale(("seconds",), _seconds, "time that it took"),
}


def extremes(
    store: LanceReader, scale: str, where: str | None = None, limit: int | None = None, largest: bool = False
) -> list[Extreme]:
    """Episodes by the smallest value of a scale (a key of SCALES), or by the largest; of one value by id.

    An episode stands once, with its own extreme; one that has no value is left out. With a limit, only so many are
    held. Raises StoreError.
    """
    chosen = SCALES[scale]
    sign = -1.0 if largest else 1.0

    def each() -> Iterator[tuple[float, str, Extreme]]:
        for row in store.scan([KEY, *chosen.columns], where, _BATCH):
            found = min(((sign * value, place) for value, place in chosen.of(row)), default=None)
            if found is not None:
                episode = str(row[KEY])
                yield found[0], episode, Extreme(sign * found[0], episode, found[1])

    ordered = sorted(each()) if limit is None else heapq.nsmallest(limit, each())
    return [extreme for _, _, extreme in ordered]
