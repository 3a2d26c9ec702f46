"""Statistics of a store: counts, and distributions of objects, looks, visibility, boxes, relations, utterances.

One pass over the columns, batch by batch: memory does not grow with the store.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diorama.render.store.episode_store import ID_BATCH_ROWS, KEY, EpisodeReader, OnProgress
from diorama.scene_specs.language.model_names import shape_class

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
# Rows per batch of short columns: memory does not grow with the store.
BATCH_ROWS = 1024
_POINTER = "pointer"


def array(column: pa.Array) -> NDArray[Any]:
    """Return a column as an array: booleans, integers or floats by its type; null is NaN in a column of numbers."""
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


def flat(column: pa.Array) -> tuple[pa.Array, Ints]:
    """Return every item of a column of lists, and the row of each."""
    return column.flatten(), array(pc.list_parent_indices(column)).astype(np.int64)


def lengths(column: pa.Array) -> Ints:
    """Return the length of each list of a column; 0 for null."""
    return array(pc.list_value_length(column).fill_null(0)).astype(np.int64)


def pointers(items: pa.Array) -> NDArray[np.bool_]:
    """Return whether each stored object is a pointer, which texts do not refer to."""
    return array(pc.equal(items.field("name"), _POINTER).fill_null(False)).astype(bool)


def box_sides(items: pa.Array, seen: NDArray[np.bool_]) -> Floats:
    """Return width and height of the boxes of `seen` objects: (N, 2), pixels."""
    return array(items.field("bbox").filter(pa.array(seen)).flatten()).astype(np.float64).reshape(-1, 4)[:, 2:]


By = Literal["benchmark", "task", "split", "profile"]
Key = str | int

_COLUMNS = ("width", "height", "image_names", "objects", "relations", "utterances")
BINS = 20
ALL = "all"
UNNAMED = "(no name)"


@dataclass
class Distribution:
    """Distribution of one quantity.

    Attributes:
        of: what is counted.
        kind: words, integers, or 20 equal bins from 0 to 1.
        counts: group -> value -> count; the value of a bin is its number, from 0.
    """

    name: str
    of: str
    kind: Literal["words", "numbers", "bins"]
    counts: dict[str, Counter[Key]] = field(default_factory=dict)

    def add(self, groups: Sequence[str], codes: Ints, values: Sequence[Key], which: Ints) -> None:
        """Count values[which[k]] for group groups[codes[k]], for every k."""
        pairs, times = np.unique(codes * max(len(values), 1) + which, return_counts=True)
        for pair, count in zip(pairs.tolist(), times.tolist(), strict=True):
            group, value = divmod(pair, max(len(values), 1))
            self.counts.setdefault(groups[group], Counter())[values[value]] += count

    def keys(self) -> list[Key]:
        """Return all values: words by total count, numbers and bins in order, without gaps."""
        total = sum(self.counts.values(), Counter[Key]())
        if self.kind == "words":
            return sorted(total, key=lambda key: (-total[key], str(key)))
        numbers = sorted(int(key) for key in total)
        return list(range(BINS) if self.kind == "bins" else range(numbers[0], numbers[-1] + 1)) if numbers else []

    def label(self, key: Key) -> str:
        """Return the label of a value in charts and tables."""
        return f"{int(key) / BINS:.2f} - {(int(key) + 1) / BINS:.2f}" if self.kind == "bins" else str(key)


@dataclass
class Stats:
    """Distributions of the attributes of the objects of a store.

    Attributes:
        by: the column of the groups, None for a single one.
        distributions: name of the distribution -> its counts.
    """

    by: str | None
    episodes: dict[str, int]
    images: dict[str, int]
    objects: dict[str, int]
    distributions: dict[str, Distribution]

    @property
    def groups(self) -> list[str]:
        """Names of all groups, sorted."""
        return sorted(self.episodes)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data. counts: group -> value -> count; bins by their lower edge."""

        def key(distribution: Distribution, value: Key) -> str:
            return f"{int(value) / BINS:.2f}" if distribution.kind == "bins" else str(value)

        distributions = {
            name: {
                "of": item.of,
                "kind": item.kind,
                "counts": {
                    group: {key(item, value): counter[value] for value in item.keys() if counter[value]}  # noqa: SIM118
                    for group, counter in sorted(item.counts.items())
                },
            }
            for name, item in self.distributions.items()
        }
        totals = {"episodes": self.episodes, "images": self.images, "objects": self.objects}
        return {"by": self.by, **totals, "bin_width": 1 / BINS, "distributions": distributions}


def _distributions() -> dict[str, Distribution]:
    distributions = [
        Distribution("images", "episodes by their number of images", "numbers"),
        Distribution("objects", "images by their number of objects", "numbers"),
        *(Distribution(name, f"objects by {name}", "words") for name in ("shape", "color", "material", "size")),
        Distribution("visible_fraction", "objects by the share of them that shows", "bins"),
        Distribution("box_side", "visible objects by box side: root of the box's area / the image's", "bins"),
        Distribution("relations", "pairs of objects by relation", "words"),
        Distribution("pointers", "what points, by shape", "words"),
        Distribution("utterance_words", "utterances by their number of words", "numbers"),
    ]
    return {item.name: item for item in distributions}


def gather(store: EpisodeReader, where: str | None, by: By | None, progress: OnProgress = lambda done: None) -> Stats:
    """Return the distributions of a store, or of the episodes that match a SQL filter.

    progress gets the number of episodes done since its last call. A color or size without a name counts as "(no name)",
    a missing group as "-". Pointers are counted separately from objects. Raises StoreError.
    """
    stats = Stats(by, {}, {}, {}, _distributions())
    for batch in store.batches([*_COLUMNS, *([by] if by is not None else [])], where, BATCH_ROWS):
        rows = batch.num_rows
        if rows:
            _count_batch(stats, batch)
        progress(rows)
    return stats


def _count_batch(stats: Stats, batch: pa.RecordBatch) -> None:
    groups, codes = [ALL], np.zeros(batch.num_rows, np.int64)
    if stats.by is not None:
        groups, codes = _distinct_words(batch.column(stats.by), "-")
    images = lengths(batch.column("image_names"))
    _add_to_totals(stats.episodes, groups, codes)
    _add_to_totals(stats.images, groups, codes, images)
    stats.distributions["images"].add(groups, codes, *_numbers(images))
    _count_objects(stats, batch, groups, codes, images)
    _count_relations(stats, batch.column("relations"), groups, codes)
    texts, rows = flat(batch.column("utterances"))
    words = np.array([len(text.split()) for text in texts.drop_null().to_pylist()], dtype=np.int64)
    stats.distributions["utterance_words"].add(groups, codes[rows[array(texts.is_valid())]], *_numbers(words))


def _count_objects(stats: Stats, batch: pa.RecordBatch, groups: Sequence[str], codes: Ints, images: Ints) -> None:
    distributions = stats.distributions
    items, rows = flat(batch.column("objects"))
    points = pointers(items)
    shapes, shape = _distinct_words(items.field("shape"), "-")
    shapes = [*map(shape_class, shapes)]
    distributions["pointers"].add(groups, codes[rows[points]], shapes, shape[points])
    objects = ~points
    group = codes[rows[objects]]
    _add_to_totals(stats.objects, groups, group)
    distributions["shape"].add(groups, group, shapes, shape[objects])
    for name in ("color", "material", "size"):
        values, which = _distinct_words(items.field(name), UNNAMED)
        distributions[name].add(groups, group, values, which[objects])
    # Number of each object's image in the batch; images without objects count, too.
    first = np.concatenate([[0], np.cumsum(images)])
    number = first[rows] + array(items.field("image").fill_null(0)).astype(np.int64)
    per_image = np.bincount(number[objects], minlength=int(first[-1]))[: int(first[-1])]
    distributions["objects"].add(groups, np.repeat(codes, images), *_numbers(per_image))
    fraction = array(items.field("visible_fraction").fill_null(0.0))[objects]
    distributions["visible_fraction"].add(groups, group, range(BINS), _bin_numbers(fraction))
    seen = array(items.field("bbox").is_valid()) & objects
    width, height = (array(batch.column(name)).astype(np.float64)[rows[seen]] for name in ("width", "height"))
    share = np.sqrt(box_sides(items, seen).prod(axis=1) / (width * height))
    distributions["box_side"].add(groups, codes[rows[seen]], range(BINS), _bin_numbers(share))


def _count_relations(stats: Stats, column: pa.Array, groups: Sequence[str], codes: Ints) -> None:
    tables, rows = flat(column)
    relations = stats.distributions["relations"]
    for code, text in zip(codes[rows].tolist(), tables.to_pylist(), strict=True):
        for name, others in json.loads(text or "{}").items():
            if count := sum(map(len, others.values())):
                relations.counts.setdefault(groups[code], Counter())[name] += count


def _distinct_words(column: pa.Array, missing: str) -> tuple[list[str], Ints]:
    """Return the distinct values of a column, and the index of each row's; null is `missing`."""
    encoded = column.fill_null(missing).dictionary_encode()
    return [str(word) for word in encoded.dictionary.to_pylist()], array(encoded.indices).astype(np.int64)


def _numbers(values: Ints) -> tuple[range, Ints]:
    return range(int(values.max(initial=0)) + 1), values


def _bin_numbers(values: Floats) -> Ints:
    """Return the number of each value's bin; 1 is in the last."""
    return np.clip((values * BINS).astype(np.int64), 0, BINS - 1)


def _add_to_totals(totals: dict[str, int], groups: Sequence[str], codes: Ints, weights: Ints | None = None) -> None:
    counts = np.bincount(codes, weights=weights, minlength=len(groups))
    for group, count in zip(groups, counts.tolist(), strict=True):
        totals[group] = totals.get(group, 0) + int(count)


def tally(store: EpisodeReader) -> dict[str, Any]:
    """Return the number of episodes and images, and of episodes by benchmark, task, split, profile and size."""
    columns = ["benchmark", "task", "split", "profile", "width", "height", "image_names"]
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("benchmark", "task", "split", "profile", "size")}
    episodes = images = 0
    for row in store.scan(columns, None, ID_BATCH_ROWS):
        episodes += 1
        images += len(row["image_names"] or ())
        row["size"] = f"{row['width']}x{row['height']}"
        for name, counter in counts.items():
            counter[str(row[name] if row[name] is not None else "-")] += 1
    groups = {name: dict(sorted(counter.items())) for name, counter in counts.items()}
    return {"episodes": episodes, "images": images, **groups}


# (row of the episode in its batch, value, where it was found)
Found = Iterator[tuple[int, float, str]]


class Extreme(NamedTuple):
    """A value that may be among the most extreme.

    Attributes:
        value: the sort key.
        where: object and image with this value, "" for the complete episode.
    """

    value: float
    episode: str
    where: str = ""


class Scale(NamedTuple):
    """What images are sorted by.

    Attributes:
        columns: those it reads.
        of: for each row of a batch with a value, its smallest value times a sign (1 or -1).
    """

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


def extremes(store: EpisodeReader, scale: str, where: str | None, limit: int | None, largest: bool) -> list[Extreme]:
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
