"""Contexts: four images of a chosen similarity as specs. Each depends on its seed and number only.

Tangrams: objects are parts. Parts that belong to the image are colored, the others are black. Hard: one tangram; each
image lacks another of four parts, so that no single part identifies an image. Medium: one tangram; each image has one
part of its own. Easy: four tangrams, each with a part of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from scene_specs.benchmarks.icca import Options
from scene_specs.benchmarks.icca.difficulty import (
    DIFFICULTIES,
    LEVELS,
    SIZE,
    builders_for,
    has_distinct_objects,
    pair_differences,
    similarity_of,
)
from scene_specs.benchmarks.icca.image_sources import SOURCES, frame_spec
from scene_specs.benchmarks.icca.referring_expressions import full_brevity, incremental, length, text_of
from scene_specs.benchmarks.icca.scene_graph import SceneGraph, graph_of, others_of
from scene_specs.benchmarks.kilogram import Options as KilogramOptions
from scene_specs.benchmarks.kilogram.annotations import Annotation
from scene_specs.benchmarks.kilogram.dataset import own_dataset
from scene_specs.benchmarks.kilogram.emit import objects_of
from scene_specs.benchmarks.kilogram.examples import COLORS, Example
from scene_specs.language.benchmark import Series
from scene_specs.language.errors import check_choice, spec_error
from scene_specs.language.rng import generator, pick, sample, shuffled

IMAGES: tuple[str, ...] = tuple(f"image-{k}" for k in range(SIZE))
MAX_CONTEXTS = 10**6
TANGRAM = "tangram"
_ATTEMPTS = 5000
_TANGRAM_ATTEMPTS = 1000
_LOOK = KilogramOptions(size=224, border=2.0, margin=12.0)
_HIDDEN = "black"
_MIN_PARTS: Mapping[str, int] = {"easy": 3, "medium": SIZE + 1, "hard": SIZE}


def generate(options: Options) -> Series:
    """Contexts by the options of `render-specs icca`."""
    specs = context_specs(
        options.contexts, options.difficulty, options.source, options.vary or "", options.seed, options.first
    )
    return Series(specs, options.contexts, "contexts")


def context_specs(
    count: int, difficulty: str, source: str, vary: str = "", seed: int = 0, first: int = 0
) -> Iterator[dict[str, Any]]:
    """Contexts first ... first + count - 1 as JSON data that EpisodeSpec takes; see `context_spec`."""
    if first < 0 or count < 0 or first + count > MAX_CONTEXTS:
        found = f"found contexts {first} to {first + count - 1}"
        raise spec_error(f"{found}; contexts are numbered from 0 to {MAX_CONTEXTS - 1}")
    for number in range(first, first + count):
        yield context_spec(number, difficulty, source, vary, seed)


def context_spec(number: int, difficulty: str, source: str, vary: str = "", seed: int = 0) -> dict[str, Any]:
    """Context `number` of a source and level as JSON data of a spec: four frames, their truth, their descriptions.

    vary: what the images differ in, `attributes`, `relations` or `parts` [default: the source's first]. Id:
    `icca/<source>/<difficulty>/<6 digits>`; of relations `icca/<source>-relations/...`. Raises SpecError for arguments
    out of range.
    """
    _check(number, difficulty, source, vary, seed)
    if source == TANGRAM:
        identity = f"icca/{source}/{difficulty}/{number:06d}"
        graphs, stage, frames = tangram_context(difficulty, identity, seed)
        return _context(identity, seed, stage, frames, graphs, [source, difficulty, "parts", number])
    own = SOURCES[source]
    vary = vary or own.vary[0]
    name = source if vary == own.vary[0] else f"{source}-{vary}"
    identity = f"icca/{name}/{difficulty}/{number:06d}"
    graphs = draw_graphs(source, difficulty, vary, identity, seed)
    frames = [frame_spec(source, graph, identity, seed, image) for graph, image in zip(graphs, IMAGES, strict=True)]
    return _context(identity, seed, {"stage": own.stage}, frames, graphs, [source, difficulty, vary, number])


def _check(number: int, difficulty: str, source: str, vary: str, seed: int) -> None:
    check_choice("source", source, (*SOURCES, TANGRAM))
    check_choice("difficulty", difficulty, DIFFICULTIES)
    if not (0 <= number < MAX_CONTEXTS and 0 <= seed < 2**63):
        raise spec_error(f"found number {number} and seed {seed}; allowed: from 0, below {MAX_CONTEXTS} and 2^63")
    allowed = ("parts",) if source == TANGRAM else SOURCES[source].vary
    if vary and vary not in allowed:
        raise spec_error(f"contexts of {source} can't differ in {vary!r}; allowed: {', '.join(allowed)}")


def draw_graphs(source: str, difficulty: str, vary: str, identity: str, seed: int) -> list[SceneGraph]:
    """Four images of a level, in a drawn order."""
    own, level = SOURCES[source], LEVELS[vary][difficulty]
    build = pick(generator(seed, identity, "structure"), builders_for(own, level))
    for attempt in range(_ATTEMPTS):
        rng = generator(seed, identity, f"attempt-{attempt}")
        graphs = build(own, rng)
        # Cheap conditions first.
        if not has_distinct_objects(graphs) or not all(map(own.looks_as_described, graphs)):
            continue
        if not level.allows(pair_differences(graphs)):
            continue
        found = similarity_of(graphs)
        if found is not None and level.accepts(found):
            return shuffled(rng, graphs)
    raise RuntimeError(f"context {identity}, seed {seed}: none of {_ATTEMPTS} attempts was {difficulty}")


def _context(
    identity: str, seed: int, stage: Mapping[str, Any], frames: Sequence[dict[str, Any]],
    graphs: Sequence[SceneGraph], facts: Sequence[Any]
) -> dict[str, Any]:  # fmt: skip
    """The complete spec. facts: source, difficulty, vary, number."""
    source, difficulty, vary, number = facts
    for frame, graph in zip(frames, graphs, strict=True):
        frame["truth"] = {**frame.get("truth", {}), "picture": graph.data()}
    return {
        "version": 1,
        "id": identity,
        "seed": seed,
        **stage,
        "frames": list(frames),
        "task": {
            "benchmark": "icca",
            "name": difficulty,
            "source": source,
            "vary": vary,
            "number": number,
            "options": [frame["name"] for frame in frames],
            **measured_truth(graphs),
        },
    }


def measured_truth(graphs: Sequence[SceneGraph]) -> dict[str, Any]:
    """The measured part of a context's `task`.

    `similarity`: `values` in each image, `differences` of each pair ("0-1", ...). `descriptions`, in the order of the
    images: `full_brevity` and `incremental`, each with `text`, `length` and `says` (a scene graph), and `single`:
    values that identify the image alone. Raises SpecError where two images show the same.
    """
    found = similarity_of(graphs)
    if found is None:
        raise spec_error("two of the four images show the same; no expression identifies either of them")
    descriptions = []
    for k, graph in enumerate(graphs):
        others = others_of(graphs, k)
        expressions = {"full_brevity": full_brevity(graph, others), "incremental": incremental(graph, others)}
        described: dict[str, Any] = {
            name: {"text": text_of(expression), "length": length(expression), "says": expression.data()}
            for name, expression in expressions.items()
        }
        descriptions.append({**described, "single": list(found.single[k])})
    pairs = [f"{a}-{b}" for a, b in combinations(range(SIZE), 2)]
    differences = dict(zip(pairs, found.differences, strict=True))
    return {"similarity": {"values": found.values, "differences": differences}, "descriptions": descriptions}


# Tangrams: an annotation of a tangram, and the names of its colored parts.
_Tangrams = list[tuple[Annotation, tuple[str, ...]]]


@lru_cache(maxsize=8)
def _annotations(min_parts: int) -> tuple[Annotation, ...]:
    """Annotations with at least this number of parts."""
    rows = own_dataset().annotations
    return tuple(item for name in sorted(rows) for item in rows[name] if item.parts >= min_parts)


def tangram_context(
    difficulty: str, identity: str, seed: int
) -> tuple[list[SceneGraph], dict[str, Any], list[dict[str, Any]]]:
    """Scene graphs, stage keys of the spec, and frames of a tangram context."""
    rng = generator(seed, identity, "tangrams")
    shown = shuffled(rng, _four_tangrams(rng) if difficulty == "easy" else _one_tangram(difficulty, rng))
    graphs = [_graph_of_parts(names) for _, names in shown]
    frames = [_tangram_frame(item, names, name) for (item, names), name in zip(shown, IMAGES, strict=True)]
    return graphs, {"stage": "tangram", "canvas": [_LOOK.size, _LOOK.size]}, frames


def _graph_of_parts(names: Sequence[str]) -> SceneGraph:
    return graph_of([{"part": name} for name in names])


def _one_tangram(difficulty: str, rng: np.random.Generator) -> _Tangrams:
    item = pick(rng, _annotations(_MIN_PARTS[difficulty]))
    parts = list(item.groups())
    odd = sample(rng, parts, SIZE)
    if difficulty == "hard":
        return [(item, tuple(name for name in parts if name != gone)) for gone in odd]
    return [(item, tuple(name for name in parts if name == own or name not in odd)) for own in odd]


def _four_tangrams(rng: np.random.Generator) -> _Tangrams:
    pool = _annotations(_MIN_PARTS["easy"])
    for _ in range(_TANGRAM_ATTEMPTS):
        first = pick(rng, pool)
        alike = [item for item in pool if item.parts == first.parts and item.tangram != first.tangram]
        chosen = [first, *sample(rng, alike, SIZE - 1)]
        if len({item.tangram for item in chosen}) < SIZE:
            continue
        found = similarity_of([_graph_of_parts(tuple(item.groups())) for item in chosen])
        if found and {*found.shortest} == {1} and 2 * min(found.differences) >= found.values:
            return [(item, tuple(item.groups())) for item in chosen]
    raise RuntimeError(f"none of {_TANGRAM_ATTEMPTS} draws of four tangrams had a part of its own for each")


def _tangram_frame(item: Annotation, names: Sequence[str], frame_name: str) -> dict[str, Any]:
    """Part j of the annotation has color j in all images; parts that are not in `names` are black."""
    parts = tuple(item.groups().items())
    example = Example(item, parts, tuple(range(len(parts))))
    color = {
        piece: COLORS[j] if name in names else _HIDDEN for j, (name, pieces) in enumerate(parts) for piece in pieces
    }
    objects = objects_of(own_dataset(), example, "part+color", _LOOK)
    for piece, spec in enumerate(objects, start=1):
        spec["color"] = color[piece]
    part_data = [{"name": name, "pieces": list(pieces)} for name, pieces in parts]
    truth = {"tangram": item.tangram, "annotation": item.number, "whole": item.whole, "parts": part_data}
    return {"name": frame_name, "antialias": True, "objects": objects, "truth": truth}


def graph_of_pieces(truth: Mapping[str, Any], objects: Sequence[Mapping[str, Any]]) -> SceneGraph:
    """The graph of a tangram from its pieces: the parts whose pieces are all colored.

    truth: of the frame, with `parts`. objects: each with name and color. Raises ValueError for parts of which only some
    pieces are black.
    """
    color = {item["name"]: item["color"] for item in objects}
    names = []
    for part in truth["parts"]:
        black = {color.get(f"piece-{piece}") == _HIDDEN for piece in part["pieces"]}
        if len(black) != 1:
            raise ValueError(f"part {part['name']!r}: some of its pieces are black, and some are not")
        if black == {False}:
            names.append(str(part["name"]))
    return _graph_of_parts(names)
