"""Difficulty levels: how similar four images are, how easily one is named, builders for each level, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from diorama.scene_specs.benchmarks.icca.image_sources import Source
from diorama.scene_specs.benchmarks.icca.layout import SceneGraph, count_differences, graph_of, others_of
from diorama.scene_specs.benchmarks.icca.referring_expressions import IndistinguishableError, full_brevity, single_names
from diorama.scene_specs.benchmarks.icca.truth import Truth
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.language.rng import pick, sample, shuffled
from diorama.scene_specs.model.spec import EpisodeData

SIZE = 4
DESCRIPTIONS: tuple[str, ...] = ("full_brevity", "incremental")
Attributes = dict[str, str]
_Lines = list[list[int]]
_Builder = Callable[[Source, np.random.Generator], list[SceneGraph]]


class Similarity(NamedTuple):
    """How much the four images of a context differ.

    Attributes:
        differences: attributes and relations that differ, for each of the six pairs (0, 1), (0, 2), ...
        shortest: length of each image's shortest description.
        single: for each image, the single values that identify it.
        values: number of attributes and relations in each image.
    """

    differences: tuple[int, ...]
    shortest: tuple[int, ...]
    single: tuple[tuple[str, ...], ...]
    values: int


def similarity_of(graphs: Sequence[SceneGraph]) -> Similarity | None:
    """Return the similarity of four images; None if two of them show the same."""
    pairs = [(graph, others_of(graphs, k)) for k, graph in enumerate(graphs)]
    try:
        shortest = tuple(len(full_brevity(graph, others).atoms()) for graph, others in pairs)
    except IndistinguishableError:
        return None
    single = tuple(tuple(single_names(graph, others)) for graph, others in pairs)
    return Similarity(pair_differences(graphs), shortest, single, len(graphs[0].atoms()))


def pair_differences(graphs: Sequence[SceneGraph]) -> tuple[int, ...]:
    """Return the number of attributes and relations in which each of the six pairs differs."""
    return tuple(count_differences(first, second) for first, second in combinations(graphs, 2))


@dataclass(frozen=True)
class Level:
    """The conditions of a level.

    Attributes:
        differences: minimum and maximum.
        shortest: minimum and maximum.
        half: at least half of all values differ.
        named: single values identify every image (True), none (False), or either (None).
    """

    differences: tuple[int, int]
    shortest: tuple[int, int]
    builders: tuple[_Builder, ...]
    half: bool = False
    named: bool | None = None

    def allows(self, differences: Sequence[int]) -> bool:
        """Whether pairs of images may differ in these numbers of values."""
        return all(self.differences[0] <= count <= self.differences[1] for count in differences)

    def accepts(self, similarity: Similarity) -> bool:
        """Whether a context with this similarity is of the level."""
        if not self.allows(similarity.differences):
            return False
        if self.half and 2 * min(similarity.differences) < similarity.values:
            return False
        if not all(self.shortest[0] <= count <= self.shortest[1] for count in similarity.shortest):
            return False
        # A value that only one image lacks ("no ...") identifies it, too, but does not count here.
        shown = [any(not name.startswith("no ") for name in names) for names in similarity.single]
        return self.named is None or all(named == self.named for named in shown)


def _draw_object(source: Source, rng: np.random.Generator) -> Attributes:
    return {name: pick(rng, values) for name, values in source.values.items()}


def _draw_objects(source: Source, rng: np.random.Generator, count: int) -> list[Attributes]:
    return [_draw_object(source, rng) for _ in range(count)]


def _draw_count(source: Source, rng: np.random.Generator) -> int:
    return int(rng.integers(source.object_count[0], source.object_count[1] + 1))


def _rich_attributes(source: Source) -> list[str]:
    """Attributes with at least four values."""
    return [name for name, values in source.values.items() if len(values) >= SIZE]


def _silent_attributes(source: Source) -> list[str]:
    """Rich attributes that leave outlines as they are: with another shape, an object would seem to stand elsewhere."""
    return [name for name in _rich_attributes(source) if name != "shape"]


def _graphs_in_one_order(images: Sequence[Sequence[Attributes]], rng: np.random.Generator) -> list[SceneGraph]:
    """Return the graphs of images, with their objects in one drawn order, the same for all images."""
    order = rng.permutation(len(images[0])).tolist()
    return [graph_of([objects[k] for k in order]) for objects in images]


def decoys(source: Source, rng: np.random.Generator) -> list[SceneGraph]:
    """One object differs, in one attribute; every value of that attribute occurs on another object in all images."""
    name = pick(rng, _silent_attributes(source))
    values = sample(rng, source.values[name], SIZE)
    odd = _draw_object(source, rng)
    shared = [{**_draw_object(source, rng), name: value} for value in values]
    return _graphs_in_one_order([[{**odd, name: value}, *shared] for value in values], rng)


def each_lacks_another(source: Source, rng: np.random.Generator) -> list[SceneGraph]:
    """Four objects that differ in one attribute; each image lacks another of them. At most one shared object."""
    name = pick(rng, _silent_attributes(source))
    base = _draw_object(source, rng)
    odd = [{**base, name: value} for value in sample(rng, source.values[name], SIZE)]
    room = source.object_count[1] - (SIZE - 1)
    shared = _draw_objects(source, rng, int(rng.integers(min(room, 1) + 1)))
    return _graphs_in_one_order([[*(item for j, item in enumerate(odd) if j != k), *shared] for k in range(SIZE)], rng)


def pairs(source: Source, rng: np.random.Generator) -> list[SceneGraph]:
    """One object differs, in two attributes; the others are shared."""
    first, second = sample(rng, _rich_attributes(source), 2)
    odd = _draw_object(source, rng)
    shared = _draw_objects(source, rng, _draw_count(source, rng) - 1)
    values = zip(sample(rng, source.values[first], SIZE), sample(rng, source.values[second], SIZE), strict=True)
    return _graphs_in_one_order([[{**odd, first: a, second: b}, *shared] for a, b in values], rng)


def independent(source: Source, rng: np.random.Generator) -> list[SceneGraph]:
    """All objects are drawn independently for each image."""
    count = _draw_count(source, rng)
    return [graph_of(_draw_objects(source, rng, count)) for _ in range(SIZE)]


def arranged(source: Source, rng: np.random.Generator) -> list[SceneGraph]:
    """Return the same four objects of one size and shape in all images; `arrangements` has their places."""
    same = {name: pick(rng, source.values[name]) for name in ("size", "shape")}
    return [graph_of([{**item, **same} for item in _draw_objects(source, rng, SIZE)])] * SIZE


def arrangements(difficulty: str, rng: np.random.Generator) -> tuple[_Lines, list[list[int]]]:
    """Lines of places (see `draw_places`), and the place of each of four objects in each of four images.

    On a line, swapping neighbors changes one relation; elsewhere it changes at least two. hard: two swaps, done or not.
    """
    if difficulty == "hard":
        return [[0, 1], [2, 3]], shuffled(rng, [[*a, *b] for a in ([0, 1], [1, 0]) for b in ([2, 3], [3, 2])])
    return [[0, 1, 2, 3]] if difficulty == "medium" else [], [rng.permutation(SIZE).tolist() for _ in range(SIZE)]


_MOST = 1000
_ATTRIBUTE_LEVELS = {
    "easy": Level((2, _MOST), (1, 1), (independent,), half=True, named=True),
    "medium": Level((2, 2), (1, 2), (pairs,)),
    "hard": Level((1, 1), (2, 3), (decoys, each_lacks_another), named=False),
}
# Swaps have a parity: of three arrangements, two differ in an even number of relations, so not all pairs can differ in
# one.
_RELATION_LEVELS = {
    "easy": Level((3, _MOST), (1, 6), (arranged,), named=True),
    "medium": Level((2, 3), (1, 6), (arranged,)),
    "hard": Level((1, 2), (1, 9), (arranged,), named=False),
}
# vary -> difficulty -> conditions.
LEVELS: Mapping[str, Mapping[str, Level]] = {"attributes": _ATTRIBUTE_LEVELS, "relations": _RELATION_LEVELS}


def builders_for(source: Source, level: Level) -> list[_Builder]:
    """Return the builders of a level whose objects fit into a source's images."""
    return [builder for builder in level.builders if builder is not decoys or source.object_count[1] > SIZE]


def summary(contexts: Iterable[EpisodeData]) -> list[dict[str, Any]]:
    """Return a row per source and level: number of contexts, differences of pairs, lengths of descriptions, and
    how many images a single value identifies. Raises SpecError for a context without its measured truth.
    """
    groups: dict[tuple[str, str, str], list[Truth]] = {}
    for truth in map(Truth.of_spec, contexts):
        groups.setdefault((truth.source, truth.vary, truth.name), []).append(truth)
    rows = []
    for (source, vary, level), truths in groups.items():
        described = [image for truth in truths for image in truth.descriptions]
        values = [truth.similarity.values for truth in truths]
        pairs = [count for truth in truths for count in truth.similarity.differences.values()]
        row: dict[str, Any] = {"source": source, "vary": vary, "difficulty": level, "contexts": len(truths)}
        row["values"] = [min(values), max(values)]
        row["differences"] = _histogram(pairs)
        for name in DESCRIPTIONS:
            row[name] = _histogram(getattr(image, name).length for image in described)
        absences = [[name.startswith("no ") for name in image.single] for image in described]
        row["named_by_one_value"] = sum(not all(names) for names in absences)
        row["named_by_one_absence"] = sum(any(names) for names in absences)
        row["images"] = len(described)
        rows.append(row)
    return rows


def _histogram(values: Iterable[int]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(Counter(values).items())}


def summary_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows of `summary` as a Markdown table."""

    def counts(value: Mapping[str, int]) -> str:
        return ", ".join(f"{key}: {count}" for key, count in value.items())

    head = (
        "source", "differ in", "level", "contexts", "values", "pairs by differences", "shortest description",
        "incremental", "named by one value", "by one absence",
    )  # fmt: skip
    return markdown_table(
        head,
        [
            (
                row["source"], row["vary"], row["difficulty"], row["contexts"],
                "-".join(map(str, dict.fromkeys(row["values"]))), counts(row["differences"]),
                counts(row["full_brevity"]), counts(row["incremental"]),
                f"{row['named_by_one_value']} of {row['images']}", row["named_by_one_absence"],
            )
            for row in rows
        ],
    )  # fmt: skip
