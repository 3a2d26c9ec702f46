"""Contexts: four images of a chosen similarity as specs. Each depends on its seed and number only.

Tangrams: objects are parts. Parts that belong to the image are colored, the others are black. Hard: one tangram; each
image lacks another of four parts, so that no single part identifies an image. Medium: one tangram; each image has one
part of its own. In both, all images have the same number of black pieces. Easy: four tangrams, each with a part of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from diorama.scene_specs.benchmarks.icca import Options
from diorama.scene_specs.benchmarks.icca.difficulty import (
    LEVELS,
    SIZE,
    arrangements,
    builders_for,
    pair_differences,
    similarity_of,
)
from diorama.scene_specs.benchmarks.icca.image_sources import SOURCES, draw_layout, frame_spec
from diorama.scene_specs.benchmarks.icca.layout import SceneGraph, graph_of, others_of, relations_at
from diorama.scene_specs.benchmarks.icca.referring_expressions import full_brevity, incremental, text_of
from diorama.scene_specs.benchmarks.icca.truth import Part
from diorama.scene_specs.benchmarks.kilogram import Options as KilogramOptions
from diorama.scene_specs.benchmarks.kilogram.annotations import Annotation
from diorama.scene_specs.benchmarks.kilogram.dataset import own_dataset
from diorama.scene_specs.benchmarks.kilogram.emit import objects_of
from diorama.scene_specs.benchmarks.kilogram.examples import Example
from diorama.scene_specs.errors import SpecError, UsageError, spec_error
from diorama.scene_specs.language.rng import generator, pick, sample, shuffled
from diorama.scene_specs.model.spec import EpisodeData, FrameData
from diorama.scene_specs.tasks.benchmark import Series

IMAGES: tuple[str, ...] = tuple(f"image-{k}" for k in range(SIZE))
MAX_CONTEXTS = 10**6
TANGRAM = "tangram"
# Of a context whose images have their objects in the same places, as all have since version 0.2.
SHARED = "shared"
# The rarest level needs 560 attempts on average.
_ATTEMPTS = 50_000
_TANGRAM_ATTEMPTS = 1000
_LOOK = KilogramOptions(size=224, border=2.0, margin=12.0)
_HIDDEN = "black"
_MIN_PARTS: Mapping[str, int] = {"easy": 3, "medium": SIZE + 1, "hard": SIZE}


def generate(options: Options) -> Series:
    """Contexts by the options of `render-specs icca`. Raises UsageError for options that contradict each other."""
    first, last = options.first, options.first + options.contexts - 1
    if last >= MAX_CONTEXTS:
        raise UsageError(f"found contexts {first} to {last}; contexts are numbered from 0 to {MAX_CONTEXTS - 1}")
    allowed = _variable_properties(options.source)
    if options.vary not in (None, *allowed):
        problem = f"contexts of {options.source} can't differ in {options.vary!r}"
        raise UsageError(f"{problem}; allowed: {', '.join(allowed)}")
    return Series((context_spec(number, options) for number in range(first, last + 1)), options.contexts, "contexts")


def _variable_properties(source: str) -> tuple[str, ...]:
    """Return what images of a source can differ in, the default first."""
    return ("parts",) if source == TANGRAM else SOURCES[source].vary


def context_spec(number: int, options: Options) -> EpisodeData:
    """Context `number` as JSON data of a spec: four frames, their truth, their descriptions.

    Id: `icca/<source>/<difficulty>/<6 digits>`; of relations `icca/<source>-relations/...`.
    """
    source, difficulty, seed = options.source, options.difficulty, options.seed
    usual = _variable_properties(source)[0]
    vary = options.vary or usual
    identity = f"icca/{source if vary == usual else f'{source}-{vary}'}/{difficulty}/{number:06d}"
    if source == TANGRAM:
        stage: EpisodeData = {"stage": "tangram", "canvas": [_LOOK.size, _LOOK.size]}
        graphs, frames = tangram_context(difficulty, identity, seed)
    else:
        stage = {"stage": SOURCES[source].stage}
        graphs, frames = draw_images(source, difficulty, vary, identity, seed)
    for frame, graph in zip(frames, graphs, strict=True):
        frame["truth"] = {**frame.get("truth", {}), "picture": graph.data()}
    return {
        "version": 1,
        "id": identity,
        "seed": seed,
        **stage,
        "frames": frames,
        "task": {
            "benchmark": "icca",
            "name": difficulty,
            "source": source,
            "vary": vary,
            "number": number,
            "options": [*IMAGES],
            **({} if source == TANGRAM else {"layout": SHARED}),
            **measured_truth(graphs),
        },
    }


def draw_images(
    source: str, difficulty: str, vary: str, identity: str, seed: int
) -> tuple[list[SceneGraph], list[FrameData]]:
    """Scene graphs and frames of four images of a level, in a drawn order."""
    own, level = SOURCES[source], LEVELS[vary][difficulty]
    build = pick(generator(seed, identity, "structure"), builders_for(own, level))
    for attempt in range(_ATTEMPTS):
        rng = generator(seed, identity, f"attempt-{attempt}")
        graphs = build(own, rng)
        related = vary == "relations"
        # Cheap conditions first. No image may show two equal objects.
        distinct = all(len({*graph.objects}) == len(graph.objects) for graph in graphs)
        if not distinct or not all(map(own.looks_as_described, graphs)):
            continue
        if not related and not level.allows(pair_differences(graphs)):
            continue
        lines, swaps = arrangements(difficulty, rng) if related else ([], None)
        layout = draw_layout(own, [[dict(item) for item in graph.objects] for graph in graphs], lines, swaps, rng)
        if layout is None:
            continue
        camera, places = layout
        if related and own.ground is not None:
            standing = (relations_at(own.ground, camera, np.array([place[:2] for place in spots])) for spots in places)
            graphs = [replace(graph, relations=relations) for graph, relations in zip(graphs, standing, strict=True)]
        similarity = similarity_of(graphs) if level.allows(pair_differences(graphs)) else None
        if similarity is not None and level.accepts(similarity):
            order = shuffled(rng, range(SIZE))
            frames = [
                frame_spec(source, graphs[k], places[k], camera, identity, seed, name)
                for k, name in zip(order, IMAGES, strict=True)
            ]
            return [graphs[k] for k in order], frames
    raise _not_found(identity, _ATTEMPTS)


def _not_found(identity: str, attempts: int) -> SpecError:
    return spec_error(f"not found in {attempts:,} attempts", "choose another --seed or --first", episode=identity)


def measured_truth(graphs: Sequence[SceneGraph]) -> dict[str, Any]:
    """Return the measured part of a context's `task`.

    `similarity`: `values` in each image, `differences` of each pair ("0-1", ...). `descriptions`, in the order of the
    images: `full_brevity` and `incremental`, each with `text`, `length` and `says` (a scene graph), and `single`:
    values that identify the image alone. Raises SpecError where two images show the same.
    """
    similarity = similarity_of(graphs)
    if similarity is None:
        raise spec_error("two of the four images show the same; no expression identifies either of them")
    descriptions = []
    for k, graph in enumerate(graphs):
        others = others_of(graphs, k)
        described: dict[str, Any] = {}
        for name, describe in (("full_brevity", full_brevity), ("incremental", incremental)):
            says = describe(graph, others)
            described[name] = {"text": text_of(says), "length": len(says.atoms()), "says": says.data()}
        descriptions.append({**described, "single": list(similarity.single[k])})
    differences = dict(zip([f"{a}-{b}" for a, b in combinations(range(SIZE), 2)], similarity.differences, strict=True))
    return {"similarity": {"values": similarity.values, "differences": differences}, "descriptions": descriptions}


# Tangrams: an annotation of a tangram, and the names of its colored parts.
_Tangrams = list[tuple[Annotation, tuple[str, ...]]]


@lru_cache(maxsize=8)
def _annotations(min_parts: int) -> tuple[Annotation, ...]:
    """Annotations with at least this number of parts."""
    rows = own_dataset().annotations
    return tuple(item for name in sorted(rows) for item in rows[name] if item.parts >= min_parts)


def tangram_context(difficulty: str, identity: str, seed: int) -> tuple[list[SceneGraph], list[FrameData]]:
    """Scene graphs and frames of a tangram context."""
    rng = generator(seed, identity, "tangrams")
    shown = shuffled(rng, _four_tangrams(rng, identity) if difficulty == "easy" else _one_tangram(difficulty, rng))
    graphs = [_graph_of_parts(names) for _, names in shown]
    return graphs, [_tangram_frame(item, names, name) for (item, names), name in zip(shown, IMAGES, strict=True)]


def _graph_of_parts(names: Sequence[str]) -> SceneGraph:
    return graph_of([{"part": name} for name in names])


def _alike(item: Annotation) -> list[str]:
    """Return the largest group of parts with the same number of pieces."""
    sizes = {name: len(pieces) for name, pieces in item.groups().items()}
    return max(([name for name in sizes if sizes[name] == size] for size in sizes.values()), key=len)


def _one_tangram(difficulty: str, rng: np.random.Generator) -> _Tangrams:
    # The number of black pieces must not tell images apart.
    choices = [(item, _alike(item)) for item in _annotations(_MIN_PARTS[difficulty]) if len(_alike(item)) >= SIZE]
    item, alike = pick(rng, choices)
    parts = list(item.groups())
    odd = sample(rng, alike, SIZE)
    if difficulty == "hard":
        return [(item, tuple(name for name in parts if name != gone)) for gone in odd]
    return [(item, tuple(name for name in parts if name == own or name not in odd)) for own in odd]


def _four_tangrams(rng: np.random.Generator, identity: str) -> _Tangrams:
    pool = _annotations(_MIN_PARTS["easy"])
    for _ in range(_TANGRAM_ATTEMPTS):
        first = pick(rng, pool)
        alike = [item for item in pool if item.parts == first.parts and item.tangram != first.tangram]
        chosen = [first, *sample(rng, alike, SIZE - 1)]
        if len({item.tangram for item in chosen}) < SIZE:
            continue
        similarity = similarity_of([_graph_of_parts(tuple(item.groups())) for item in chosen])
        if similarity and {*similarity.shortest} == {1} and 2 * min(similarity.differences) >= similarity.values:
            return [(item, tuple(item.groups())) for item in chosen]
    raise _not_found(identity, _TANGRAM_ATTEMPTS)


def _tangram_frame(item: Annotation, names: Sequence[str], frame_name: str) -> FrameData:
    """Part j of the annotation has color j in all images; parts that are not in `names` are black."""
    parts = tuple(item.groups().items())
    objects = objects_of(own_dataset(), Example(item, parts, tuple(range(len(parts)))), "part+color", _LOOK)
    for piece in (piece for name, pieces in parts if name not in names for piece in pieces):
        objects[piece - 1]["color"] = _HIDDEN
    part_data = [{"name": name, "pieces": list(pieces)} for name, pieces in parts]
    truth = {"tangram": item.tangram, "annotation": item.number, "whole": item.whole, "parts": part_data}
    return {"name": frame_name, "antialias": True, "objects": objects, "truth": truth}


def graph_of_shown_parts(parts: Sequence[Part], color: Mapping[str, object]) -> SceneGraph:
    """Return the graph of a tangram from its pieces: the parts whose pieces are all colored.

    Args:
        parts: of the tangram.
        color: name of a piece -> its color.

    Raises:
        ValueError: for parts of which only some pieces are black.
    """
    names = []
    for part in parts:
        black = {color.get(f"piece-{piece}") == _HIDDEN for piece in part.pieces}
        if len(black) != 1:
            raise ValueError(f"part {part.name!r}: some of its pieces are black, and some are not")
        if black == {False}:
            names.append(part.name)
    return _graph_of_parts(names)
