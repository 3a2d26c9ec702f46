"""Statistics of a store: counts, and distributions of objects, looks, visibility, boxes, relations, utterances.

One pass over the columns, batch by batch: memory does not grow with the store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diorama.render.store.analysis.arrays import BATCH_ROWS, Ints, array, box_sides, flat, lengths, pointers
from diorama.render.store.episode_store import ID_BATCH_ROWS, EpisodeReader, OnProgress

By = Literal["benchmark", "task", "split", "profile"]
Key = str | int

_COLUMNS = ("width", "height", "image_names", "objects", "relations", "utterances")
BINS = 20
ALL = "all"
UNNAMED = "(no name)"


@dataclass
class Distribution:
    """Distribution of one quantity. of: what is counted. kind: words, integers, or 20 equal bins from 0 to 1.

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
    """by: the column of the groups, None for a single one. distributions: by name."""

    by: str | None
    episodes: dict[str, int]
    images: dict[str, int]
    objects: dict[str, int]
    distributions: dict[str, Distribution]

    @property
    def groups(self) -> list[str]:
        """All groups, sorted by name."""
        return sorted(self.episodes)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data. counts: group -> value -> count; bins by their lower edge."""

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
        *(Distribution(name, f"objects by {name}", "words") for name in ("shape", "color", "material", "size")),
        Distribution("visible_fraction", "objects by the share of them that shows", "bins"),
        Distribution("box_side", "visible objects by box side: root of the box's area / the image's", "bins"),
        Distribution("relations", "pairs of objects by relation", "words"),
        Distribution("pointers", "what points, by shape", "words"),
        Distribution("utterance_words", "utterances by their number of words", "numbers"),
    ]
    return {item.name: item for item in made}


def gather(
    store: EpisodeReader, where: str | None = None, by: By | None = None, progress: OnProgress = lambda done: None
) -> Stats:
    """Return the distributions of a store, or of the episodes that match a SQL filter.

    progress gets the number of episodes done since its last call. A color or size without a name counts as "(no name)",
    a missing group as "-". Pointers are counted separately from objects. Raises StoreError.
    """
    stats = Stats(by, {}, {}, {}, _distributions())
    columns = [*_COLUMNS, *([by] if by is not None else [])]
    for batch in store.batches(columns, where, BATCH_ROWS):
        rows = batch.num_rows
        if rows:
            _count(stats, batch)
        progress(rows)
    return stats


def _count(stats: Stats, batch: pa.RecordBatch) -> None:
    groups, codes = [ALL], np.zeros(batch.num_rows, np.int64)
    if stats.by is not None:
        groups, codes = _words(batch.column(stats.by), "-")
    images = lengths(batch.column("image_names"))
    _tally(stats.episodes, groups, codes)
    _tally(stats.images, groups, codes, images)
    stats.distributions["images"].add(groups, codes, *_numbers(images))
    _count_objects(stats, batch, groups, codes, images)
    _count_relations(stats, batch.column("relations"), groups, codes)
    texts, rows = flat(batch.column("utterances"))
    words = np.array([len(text.split()) for text in texts.drop_null().to_pylist()], dtype=np.int64)
    stats.distributions["utterance_words"].add(groups, codes[rows[array(texts.is_valid())]], *_numbers(words))


def _count_objects(stats: Stats, batch: pa.RecordBatch, groups: Sequence[str], codes: Ints, images: Ints) -> None:
    found = stats.distributions
    items, rows = flat(batch.column("objects"))
    points = pointers(items)
    shapes, shape = _words(items.field("shape"), "-")
    found["pointers"].add(groups, codes[rows[points]], shapes, shape[points])
    objects = ~points
    group = codes[rows[objects]]
    _tally(stats.objects, groups, group)
    found["shape"].add(groups, group, shapes, shape[objects])
    for name in ("color", "material", "size"):
        values, which = _words(items.field(name), UNNAMED)
        found[name].add(groups, group, values, which[objects])
    # Number of each object's image in the batch; images without objects count, too.
    first = np.concatenate([[0], np.cumsum(images)])
    number = first[rows] + array(items.field("image").fill_null(0)).astype(np.int64)
    per_image = np.bincount(number[objects], minlength=int(first[-1]))[: int(first[-1])]
    found["objects"].add(groups, np.repeat(codes, images), *_numbers(per_image))
    fraction = array(items.field("visible_fraction").fill_null(0.0))[objects]
    found["visible_fraction"].add(groups, group, range(BINS), _bins(fraction))
    seen = array(items.field("bbox").is_valid()) & objects
    width, height = (array(batch.column(name)).astype(np.float64)[rows[seen]] for name in ("width", "height"))
    share = np.sqrt(box_sides(items, seen).prod(axis=1) / (width * height))
    found["box_side"].add(groups, codes[rows[seen]], range(BINS), _bins(share))


def _count_relations(stats: Stats, column: pa.Array, groups: Sequence[str], codes: Ints) -> None:
    tables, rows = flat(column)
    found = stats.distributions["relations"]
    for code, text in zip(codes[rows].tolist(), tables.to_pylist(), strict=True):
        for name, others in json.loads(text or "{}").items():
            count = sum(map(len, others.values()))
            if count:
                found.counts.setdefault(groups[code], Counter())[name] += count


def _words(column: pa.Array, missing: str) -> tuple[list[str], Ints]:
    """Return the distinct values of a column, and the index of each row's; null is `missing`."""
    encoded = column.fill_null(missing).dictionary_encode()
    return [str(word) for word in encoded.dictionary.to_pylist()], array(encoded.indices).astype(np.int64)


def _numbers(values: Ints) -> tuple[range, Ints]:
    return range(int(values.max(initial=0)) + 1), values


def _bins(values: NDArray[np.float64]) -> Ints:
    """Return the number of each value's bin; 1 is in the last."""
    return np.clip((values * BINS).astype(np.int64), 0, BINS - 1)


def _tally(totals: dict[str, int], groups: Sequence[str], codes: Ints, weights: Ints | None = None) -> None:
    counts = np.bincount(codes, weights=weights, minlength=len(groups))
    for group, count in zip(groups, counts.tolist(), strict=True):
        totals[group] = totals.get(group, 0) + int(count)


def tally(store: EpisodeReader, where: str | None = None) -> dict[str, Any]:
    """Return the number of episodes and images, and of episodes by benchmark, task, split, profile and size."""
    columns = ["benchmark", "task", "split", "profile", "width", "height", "image_names"]
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("benchmark", "task", "split", "profile", "size")}
    episodes = images = 0
    for row in store.scan(columns, where, ID_BATCH_ROWS):
        episodes += 1
        images += len(row["image_names"] or ())
        row["size"] = f"{row['width']}x{row['height']}"
        for name, counter in counts.items():
            counter[str(row[name] if row[name] is not None else "-")] += 1
    groups = {name: dict(sorted(counter.items())) for name, counter in counts.items()}
    return {"episodes": episodes, "images": images, **groups}
