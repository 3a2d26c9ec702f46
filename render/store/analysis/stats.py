"""What the episodes of a store are like: distributions of objects, looks, visibility, boxes, relations, utterances.

One pass over the columns, batch by batch: memory does not grow with the store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from render.store.lance.reader import LanceReader
from scene_specs.language.vocabulary import RELATIONS

By = Literal["benchmark", "task", "split", "profile"]
Key = str | int
Codes = NDArray[np.int64]

_BATCH = 1024
_COLUMNS = ("width", "height", "image_names", "objects", "relations", "utterances")
# What points is counted by itself: it is no object that a text speaks of.
_POINTER = "pointer"
BINS = 20
WHOLE = "all"
UNNAMED = "(no name)"


@dataclass
class Distribution:
    """One quantity. of: what is counted. kind: words, whole numbers, or 20 equal bins of 0 to 1.

    counts: group -> value -> how often; the value of a bin is its number from 0.
    """

    name: str
    of: str
    kind: Literal["words", "numbers", "bins"]
    counts: dict[str, Counter[Key]] = field(default_factory=dict)

    def add(self, groups: Sequence[str], codes: Codes, values: Sequence[Key], which: Codes) -> None:
        """Count values[which[k]] for group groups[codes[k]], for every k."""
        pairs, times = np.unique(codes * max(len(values), 1) + which, return_counts=True)
        for pair, count in zip(pairs.tolist(), times.tolist(), strict=True):
            group, value = divmod(pair, max(len(values), 1))
            self.counts.setdefault(groups[group], Counter())[values[value]] += count

    def keys(self) -> list[Key]:
        """Every value seen: words by how often in all groups, numbers and bins in order."""
        total: Counter[Key] = Counter()
        for counter in self.counts.values():
            total.update(counter)
        if self.kind == "words":
            return sorted(total, key=lambda key: (-total[key], str(key)))
        numbers = sorted(int(key) for key in total)
        return list(range(BINS) if self.kind == "bins" else range(numbers[0], numbers[-1] + 1)) if numbers else []

    def label(self, key: Key) -> str:
        """A value for people."""
        return f"{int(key) / BINS:.2f} - {(int(key) + 1) / BINS:.2f}" if self.kind == "bins" else str(key)


@dataclass
class Stats:
    """by: the column that groups come from. groups: those seen, in order. distributions: by name."""

    by: str | None
    episodes: dict[str, int]
    images: dict[str, int]
    objects: dict[str, int]
    distributions: dict[str, Distribution]

    @property
    def groups(self) -> list[str]:
        """Every group, by name."""
        return sorted(self.episodes)

    def as_dict(self) -> dict[str, Any]:
        """Plain data. counts: group -> value -> how often; bins by their lower edge."""

        def key(distribution: Distribution, value: Key) -> str:
            return f"{int(value) / BINS:.2f}" if distribution.kind == "bins" else str(value)

        found = {
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
        return {"by": self.by, **totals, "bin_width": 1 / BINS, "distributions": found}


def _distributions() -> dict[str, Distribution]:
    made = [
        Distribution("images", "episodes by their number of images", "numbers"),
        Distribution("objects", "images by their number of objects", "numbers"),
        Distribution("shape", "objects by shape", "words"),
        Distribution("color", "objects by color", "words"),
        Distribution("material", "objects by material", "words"),
        Distribution("size", "objects by size", "words"),
        Distribution("visible_fraction", "objects by the share of them that shows", "bins"),
        Distribution("box_side", "visible objects by box side: root of the box's area / the image's", "bins"),
        Distribution("relations", "pairs of objects by relation", "words"),
        Distribution("pointers", "what points, by shape", "words"),
        Distribution("utterance_words", "utterances by their number of words", "numbers"),
    ]
    return {item.name: item for item in made}


def gather(
    store: LanceReader,
    where: str | None = None,
    by: By | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Stats:
    """The distributions of a store, or of what `where` holds for. progress is called with episodes done.

    A color or size without a name counts as "(no name)", a missing group as "-". Raises StoreError.
    """
    stats = Stats(by, {}, {}, {}, _distributions())
    columns = [*_COLUMNS, *([by] if by is not None else [])]
    for batch in store.batches(columns, where, _BATCH):
        rows = batch.num_rows
        if rows:
            _count(stats, batch)
        progress(rows)
    return stats


def _count(stats: Stats, batch: pa.RecordBatch) -> None:
    rows = batch.num_rows
    groups, codes = _words(batch.column(stats.by), "-") if stats.by is not None else ([WHOLE], np.zeros(rows, np.int64))
    images = _lengths(batch.column("image_names"))
    _tally(stats.episodes, groups, codes)
    _tally(stats.images, groups, codes, images)
    stats.distributions["images"].add(groups, codes, *_numbers(images))
    _count_objects(stats, batch, groups, codes, images)
    _count_relations(stats, batch.column("relations"), groups, codes)
    texts, rows_of = _flat(batch.column("utterances"))
    said = texts.is_valid().to_numpy(zero_copy_only=False)
    words = np.array([len(text.split()) for text in texts.to_pylist() if text is not None], dtype=np.int64)
    stats.distributions["utterance_words"].add(groups, codes[rows_of[said]], *_numbers(words))


def _count_objects(stats: Stats, batch: pa.RecordBatch, groups: Sequence[str], codes: Codes, images: Codes) -> None:
    items, rows = _flat(batch.column("objects"))
    points = _array(pc.equal(items.field("name"), _POINTER).fill_null(False)).astype(bool)
    found = stats.distributions
    shapes, which = _words(items.field("shape"), "-")
    found["pointers"].add(groups, codes[rows[points]], shapes, which[points])
    standing = ~points
    rows = rows[standing]
    of_object = codes[rows]
    _tally(stats.objects, groups, of_object)
    found["shape"].add(groups, of_object, shapes, which[standing])
    for name in ("color", "material", "size"):
        values, which = _words(items.field(name), UNNAMED)
        found[name].add(groups, of_object, values, which[standing])
    # Which image of the batch an object is in, also where an image holds none.
    first = np.concatenate([[0], np.cumsum(images)])
    number = _array(items.field("image").fill_null(0)).astype(np.int64)[standing]
    an_image = np.bincount(first[rows] + number, minlength=int(first[-1]))
    found["objects"].add(groups, np.repeat(codes, images), *_numbers(an_image[: int(first[-1])]))
    fraction = _array(items.field("visible_fraction").fill_null(0.0))[standing]
    found["visible_fraction"].add(groups, of_object, range(BINS), _bins(fraction))
    boxes = items.field("bbox")
    seen = _array(boxes.is_valid()).astype(bool) & standing
    sides = _array(boxes.filter(pa.array(seen)).flatten()).astype(np.float64).reshape(-1, 4)
    where = _flat(batch.column("objects"))[1][seen]
    width, height = (_array(batch.column(name)).astype(np.float64)[where] for name in ("width", "height"))
    share = np.sqrt(sides[:, 2] * sides[:, 3] / (width * height))
    found["box_side"].add(groups, codes[where], range(BINS), _bins(share))


def _count_relations(stats: Stats, column: pa.Array, groups: Sequence[str], codes: Codes) -> None:
    tables, rows = _flat(column)
    names = list(RELATIONS)
    counts: Counter[tuple[int, str]] = Counter()
    for row, text in zip(rows.tolist(), tables.to_pylist(), strict=True):
        for name, others in json.loads(text or "{}").items():
            if name not in names:
                names.append(name)
            counts[int(codes[row]), name] += sum(map(len, others.values()))
    found = stats.distributions["relations"]
    for (code, name), count in counts.items():
        if count:
            found.counts.setdefault(groups[code], Counter())[name] += count


def _flat(column: pa.Array) -> tuple[pa.Array, Codes]:
    """Every item of a column of lists, and the row that each is of."""
    return column.flatten(), _array(pc.list_parent_indices(column)).astype(np.int64)


def _array(column: pa.Array) -> NDArray[Any]:
    found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return found


def _lengths(column: pa.Array) -> Codes:
    return _array(pc.list_value_length(column).fill_null(0)).astype(np.int64)


def _words(column: pa.Array, missing: str) -> tuple[list[str], Codes]:
    """Values and the number of each row's; null is `missing`."""
    encoded = column.fill_null(missing).dictionary_encode()
    return [str(word) for word in encoded.dictionary.to_pylist()], _array(encoded.indices).astype(np.int64)


def _numbers(values: Codes) -> tuple[range, Codes]:
    return range(int(values.max(initial=0)) + 1), values


def _bins(values: NDArray[np.float64]) -> Codes:
    """Number of the bin of each value; 1 is in the last."""
    return np.clip((values * BINS).astype(np.int64), 0, BINS - 1)


def _tally(totals: dict[str, int], groups: Sequence[str], codes: Codes, weights: Codes | None = None) -> None:
    counts = np.bincount(codes, weights=weights, minlength=len(groups))
    for group, count in zip(groups, counts.tolist(), strict=True):
        totals[group] = totals.get(group, 0) + int(count)
