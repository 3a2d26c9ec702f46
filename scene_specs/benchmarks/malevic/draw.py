"""Random scenes for a class of queries: contents first, many scenes at once, then positions.

The distribution is the published one: the number of objects is uniform from 5 to 9; colors, size classes, shapes and
positions are independent and uniform; a scene is rejected if objects overlap, if it has no query of the class, or if
the published code would not keep it (`kept`). Contents do not depend on positions, so scenes without the query are
rejected before positions are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.benchmarks.malevic import Options
from diorama.scene_specs.benchmarks.malevic.labels import askable, label_of
from diorama.scene_specs.benchmarks.malevic.layout import Canvas
from diorama.scene_specs.benchmarks.malevic.sets import Class, Set, opposite
from diorama.scene_specs.benchmarks.malevic.shapes import CANVAS, COLORS, SHAPES, Areas, Object, anchor, area_of
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.language.rng import generator

FEWEST, MOST = 5, 9
# Scenes per batch, and maximum number of batches: 8 million scenes, 1000 times what the rarest class needs.
_BATCH, _BATCHES = 512, 16384
_COLORS = tuple(COLORS)

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


class Drawn(NamedTuple):
    """A scene.

    Attributes:
        target: index of the object that the item asks about, of raw scenes 0.
    """

    objects: tuple[Object, ...]
    k: float
    target: int


class _Batch(NamedTuple):
    """Scenes without positions. counts: (S,). color, size, shape: (S, 9) indices. present: (S, 9) bool."""

    counts: Ints
    color: Ints
    size: Ints
    shape: Ints
    present: NDArray[np.bool_]

    def take(self, which: Ints) -> _Batch:
        """Return some of the scenes."""
        return _Batch._make(part[which] for part in self)


_canvas = lru_cache(maxsize=8)(Canvas)


def draw_scene(options: Options, episode: str, which: Set, wanted: Class | None, shape: str) -> Drawn:
    """Draw the scene of an item.

    Args:
        wanted: its class; None for a scene that may have any query.
        shape: that of all objects, if a set has one shape.

    Raises:
        UsageError: none is found (never observed with the published terms).
    """
    rng = generator(options.seed, episode, "scene")
    count = FEWEST + int(rng.random() * (MOST - FEWEST + 1)) if options.uniform_count else 0
    for _ in range(_BATCHES):
        batch = _map_contents(rng.random((_BATCH, 1 + 3 * MOST)), which, shape, count)
        targets = np.zeros(_BATCH, dtype=np.intp)
        if wanted is not None:
            batch, targets = _with_query(batch, which, wanted, options.areas)
        # The first scene without overlaps in the order of draws: groups with fewer objects get no preference.
        earliest: tuple[int, Drawn] | None = None
        for number, k in _scenes_with_k(batch, targets, which, wanted, options, rng):
            placed = _draw_places(batch.take(number), which, options, rng)
            if placed is not None and (earliest is None or number[placed[0]] < earliest[0]):
                row, objects = placed
                earliest = (int(number[row]), Drawn(objects, float(k[row]), int(targets[number[row]])))
        if earliest is not None:
            return earliest[1]
    sought = "with a query" if wanted is None else f"for a {wanted.color} {wanted.shape} that is {wanted.adjective}"
    raise UsageError(
        f"episode {episode}, seed {options.seed}: no scene {sought} in {_BATCHES * _BATCH:,} attempts; pass more "
        "--colors, --shapes or --rads"
    )


def _map_contents(u: Floats, which: Set, one_shape: str, count: int) -> _Batch:
    """Map uniform numbers to contents. count: of objects, 0 to draw it."""
    n = np.full(len(u), count) if count else FEWEST + (u[:, 0] * (MOST - FEWEST + 1)).astype(np.intp)
    numbers = (
        [_COLORS.index(color) for color in which.colors], range(len(which.rads)),
        [SHAPES.index(shape) for shape in which.shapes],
    )  # fmt: skip
    color, size, shape = (np.array(some, dtype=np.intp)[(part * len(some)).astype(np.intp)] for part, some in zip(
        np.split(u[:, 1:], 3, axis=1), numbers, strict=True))  # fmt: skip
    if which.one_shape:
        shape = np.full_like(shape, SHAPES.index(one_shape))
    return _Batch(n, color, size, shape, np.arange(MOST) < n[:, None])


def _with_query(batch: _Batch, which: Set, wanted: Class, areas: Areas) -> tuple[_Batch, Ints]:
    """Return the scenes that can have the query for some k, and the target of each.

    `labels.askable` tests the remaining rules for each scene.
    """
    shape_no, color_no = SHAPES.index(wanted.shape), _COLORS.index(wanted.color)
    named = batch.present & (batch.color == color_no) & (batch.shape == shape_no)
    targets = named.argmax(axis=1)
    rows = np.arange(len(targets))
    size = batch.size[rows, targets]
    good = (named.sum(axis=1) == 1) & (size > 0) & (size < len(which.rads) - 1)
    area = _canvas(areas, which.rads).areas[batch.shape, batch.size]
    own = area[rows, targets]
    peers = batch.present & (batch.shape == shape_no) if which.by_set else batch.present
    low = np.where(peers, area, area.max()).min(axis=1)
    high = np.where(peers, area, 0).max(axis=1)
    good &= low < high
    if which.by_set:
        good &= peers.sum(axis=1) >= 3
    if which.hardness and which.kind != "sup1":
        good &= (low < own) & (own < high)
    elif which.by_set:
        good &= np.where(batch.present, area, area.max()).min(axis=1) < own
        good &= own < np.where(batch.present, area, 0).max(axis=1)
    if which.kind == "sup1":
        end = high if (wanted.adjective == "biggest") == wanted.true else low
        good &= own == end
        for extreme in (low, high):
            good &= (peers & (area == extreme[:, None])).sum(axis=1) == 1
    chosen = np.flatnonzero(good)
    return batch.take(chosen), targets[chosen]


def _scenes_with_k(
    batch: _Batch, targets: Ints, which: Set, wanted: Class | None, options: Options, rng: np.random.Generator
) -> Iterator[tuple[Ints, Floats]]:
    """Yield indices of scenes whose k gives the sentence its truth value, and their k, grouped by number of objects."""
    mean, spread = which.reference_k, which.reference_sigma
    by_count: dict[int, list[tuple[int, float]]] = {}
    uniform = rng.random(len(targets)).tolist()
    last_only = options.kept == "last"
    order = _color_order(options.seed, which.name) if last_only and which.one_shape else ()
    chances = rng.random(len(targets)).tolist() if last_only and not order else []
    for number, u in enumerate(uniform):
        k = mean if options.variant == "static" else round(NormalDist(mean, spread).inv_cdf(max(u, 1e-300)), 6)
        objects = _objects_without_places(batch, number, which, options.areas)
        if not _has_query(which, objects, int(targets[number]), wanted, k):
            continue
        if last_only and not _last_has_query(which, objects, k, order or chances[number]):
            continue
        by_count.setdefault(len(objects), []).append((number, k))
    for count in sorted(by_count):
        pairs = by_count[count]
        yield np.array([number for number, _ in pairs], dtype=np.intp), np.array([k for _, k in pairs])


def _has_query(which: Set, objects: list[Object], target: int, wanted: Class | None, k: float) -> bool:
    if wanted is None:
        return any(askable(which, objects, item, k) for item in objects)
    item, adjective = objects[target], wanted.adjective if wanted.true else opposite(which, wanted.adjective)
    return label_of(which, objects, item, k).size == adjective and askable(which, objects, item, k)


@lru_cache
def _color_order(seed: int, name: str) -> tuple[str, ...]:
    """Return the colors in the order of candidates of SUP1 and POS1.

    The published code takes candidates in the order of a Python set of texts, which one run keeps: the first 25,000
    scenes of its SUP1 all fit green, red, white, blue, yellow.
    """
    return tuple(generator(seed, f"malevic/{name}", "order of candidates").permutation(_COLORS).tolist())


def _last_has_query(which: Set, objects: list[Object], k: float, last: tuple[str, ...] | float) -> bool:
    """Return whether the published code keeps a scene: it forgets the queries of all candidates but the last.

    Candidates are the objects alone in their color and shape. last: colors in the order of candidates, or a share of
    the candidates, 0 to 1: with 20 colors and shapes, the order in a set differs from scene to scene.
    """
    looks = [(item.color, item.shape) for item in objects]
    alone = [item for item, look in zip(objects, looks, strict=True) if looks.count(look) == 1]
    if isinstance(last, tuple):
        return askable(which, objects, max(alone, key=lambda item: last.index(item.color)), k)
    return askable(which, objects, alone[int(last * len(alone))], k)


def _objects_without_places(batch: _Batch, number: int, which: Set, areas: Areas) -> list[Object]:
    objects = []
    for k in range(int(batch.counts[number])):
        shape, radius = SHAPES[batch.shape[number, k]], which.rads[batch.size[number, k]]
        color = _COLORS[batch.color[number, k]]
        objects.append(Object(shape, color, radius, area_of(shape, radius, areas), 0.0, 0.0, False))
    return objects


def _draw_places(
    batch: _Batch, which: Set, options: Options, rng: np.random.Generator
) -> tuple[int, tuple[Object, ...]] | None:
    """Draw positions once for scenes with equal numbers of objects; return the first without overlaps, None if none."""
    n = int(batch.counts[0])
    canvas = _canvas(options.areas, which.rads)
    u = rng.random((len(batch.counts), n, 3))
    shape, size, color = batch.shape[:, :n], batch.size[:, :n], batch.color[:, :n]
    poses = (shape == SHAPES.index("triangle")) | (shape == SHAPES.index("rectangle"))
    turned = ((u[..., 2] < 0.5) & poses).astype(np.intp)
    corner = np.floor(u[..., :2] * (CANVAS - canvas.boxes[shape, size, turned]))
    gap = np.where(color[:, :, None] == color[:, None, :], options.gap, 0.0)
    clear = canvas.clear(shape, size, turned, corner[..., 0], corner[..., 1], gap)
    if not clear.any():
        return None
    row = int(clear.argmax())
    objects = []
    for s, c, z, t, (x, y) in zip(shape[row], color[row], size[row], turned[row], corner[row].tolist(), strict=True):
        word, radius = SHAPES[s], which.rads[z]
        dx, dy = anchor(word, radius, bool(t), options.areas)
        objects.append(Object(word, _COLORS[c], radius, area_of(word, radius, options.areas), y + dy, x + dx, bool(t)))
    return row, tuple(objects)
