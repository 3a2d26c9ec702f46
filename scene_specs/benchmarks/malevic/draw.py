"""Drawing a scene for a class: what is in it first, many at once, then where it lies. Nothing is drawn as a picture.

The law is the published one: number of objects uniform from 5 to 9, colors, classes, shapes and places independent and
uniform, the whole scene given up where objects overlap or it has no query of the class. As what is in a scene does not
depend on where it lies, scenes without the query are given up before any place is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scene_specs.benchmarks.malevic.labels import K_MEAN, K_SD, askable, label_of
from scene_specs.benchmarks.malevic.layout import Canvas
from scene_specs.benchmarks.malevic.sets import Class, Set
from scene_specs.benchmarks.malevic.shapes import CANVAS, CLASSES, COLORS, SHAPES, Areas, Thing, anchor, area_of
from scene_specs.language.rng import generator

FEWEST, MOST = 5, 9
# Scenes drawn side by side, and how often at the most: 8 million scenes, a thousand times what the rarest class needs.
_BATCH, _BATCHES = 512, 16384
_COLORS = tuple(COLORS)

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """static: k is 0.29 in every scene. areas: of circles. uniform_count: each number of objects as often, instead of
    as often as scenes of so many objects happen not to overlap. gap: least distance, in canvas units, of two objects of
    one color; less than 4.6 and they may run together in a picture of 224 x 224; 0 as published.
    """

    static: bool = False
    areas: Areas = "published"
    uniform_count: bool = False
    gap: float = 5.0


@dataclass(frozen=True)
class Drawn:
    """A scene. asked: number of the object that the item is about."""

    things: tuple[Thing, ...]
    k: float
    asked: int


@dataclass(frozen=True)
class _Batch:
    """count (S,); color, size, shape (S, 9): numbers in their lists; there (S, 9): which objects there are."""

    count: Ints
    color: Ints
    size: Ints
    shape: Ints
    there: NDArray[np.bool_]

    def take(self, which: Ints) -> _Batch:
        """Some of the scenes."""
        return _Batch(self.count[which], self.color[which], self.size[which], self.shape[which], self.there[which])


@lru_cache(maxsize=2)
def _canvas(areas: Areas) -> Canvas:
    return Canvas(areas)


@lru_cache(maxsize=2)
def _area_table(areas: Areas) -> Ints:
    return np.array([[area_of(shape, radius, areas) for radius in CLASSES] for shape in SHAPES], dtype=np.intp)


def draw_scene(seed: int, episode: str, which: Set, wanted: Class, options: Options) -> Drawn:
    """The scene of an item; the same for the same arguments. Raises RuntimeError where none was found (never seen)."""
    rng = generator(seed, episode, "scene")
    count = 0
    if options.uniform_count:
        count = FEWEST + int(rng.random() * (MOST - FEWEST + 1))
    for _ in range(_BATCHES):
        batch = _contents(rng.random((_BATCH, 1 + 3 * MOST)), which, wanted, count)
        batch, asked = _with_query(batch, which, wanted, options.areas)
        # The first that lies clear, in the order drawn: scenes of fewer objects must not come before others.
        found: tuple[int, Drawn] | None = None
        for number, k in _vague(batch, asked, which, wanted, options, rng):
            placed = _place(batch.take(number), options, rng)
            if placed is not None and (found is None or number[placed[0]] < found[0]):
                row, things = placed
                found = (int(number[row]), Drawn(things, float(k[row]), int(asked[number[row]])))
        if found is not None:
            return found[1]
    raise RuntimeError(f"episode {episode}, seed {seed}: no scene of class {wanted} in {_BATCHES * _BATCH} tries")


def _contents(u: Floats, which: Set, wanted: Class, count: int) -> _Batch:
    """Numbers of lists from uniform numbers; count: of objects, 0 to draw it."""
    n = np.full(len(u), count) if count else FEWEST + (u[:, 0] * (MOST - FEWEST + 1)).astype(np.intp)
    color, size, shape = ((part * len(words)).astype(np.intp) for part, words in zip(
        np.split(u[:, 1:], 3, axis=1), (_COLORS, CLASSES, SHAPES), strict=True))  # fmt: skip
    if which.one_shape:
        shape = np.full_like(shape, SHAPES.index(wanted.shape))
    return _Batch(n, color, size, shape, np.arange(MOST) < n[:, None])


def _with_query(batch: _Batch, which: Set, wanted: Class, areas: Areas) -> tuple[_Batch, Ints]:
    """The scenes that may ask for the class whatever k is, and the object each asks about.

    What is left to be tested is done object by object, by the rules in words (`labels.askable`).
    """
    shape_no, color_no = SHAPES.index(wanted.shape), _COLORS.index(wanted.color)
    named = batch.there & (batch.color == color_no) & (batch.shape == shape_no)
    asked = named.argmax(axis=1)
    rows = np.arange(len(asked))
    size = batch.size[rows, asked]
    good = (named.sum(axis=1) == 1) & (size > 0) & (size < len(CLASSES) - 1)
    area = _area_table(areas)[batch.shape, batch.size]
    own = area[rows, asked]
    peers = batch.there & (batch.shape == shape_no) if which.by_set else batch.there
    low = np.where(peers, area, area.max()).min(axis=1)
    high = np.where(peers, area, 0).max(axis=1)
    good &= low < high
    if which.by_set:
        good &= peers.sum(axis=1) >= 3
    if which.hardness:
        good &= (low < own) & (own < high)
    elif which.by_set:
        good &= np.where(batch.there, area, area.max()).min(axis=1) < own
        good &= own < np.where(batch.there, area, 0).max(axis=1)
    if which.kind == "sup1":
        end = high if (wanted.adjective == "biggest") == wanted.true else low
        good &= own == end
        for extreme in (low, high):
            good &= (peers & (area == extreme[:, None])).sum(axis=1) == 1
    chosen = np.flatnonzero(good)
    return batch.take(chosen), asked[chosen]


def _vague(
    batch: _Batch, asked: Ints, which: Set, wanted: Class, options: Options, rng: np.random.Generator
) -> Iterator[tuple[Ints, Floats]]:
    """The scenes, as numbers in the batch, whose k makes the sentence what it should be, in groups of as many objects;
    and their k.
    """
    adjective = wanted.adjective if wanted.true else _other(wanted.adjective)
    by_count: dict[int, list[tuple[int, float]]] = {}
    uniform = rng.random(len(asked)).tolist()
    for number, u in enumerate(uniform):
        k = K_MEAN if options.static else round(NormalDist(K_MEAN, K_SD).inv_cdf(max(u, 1e-300)), 6)
        things = _unplaced(batch, number, options.areas)
        thing = things[int(asked[number])]
        if label_of(which, things, thing, k).size == adjective and askable(which, things, thing, k):
            by_count.setdefault(len(things), []).append((number, k))
    for count in sorted(by_count):
        pairs = by_count[count]
        yield np.array([number for number, _ in pairs], dtype=np.intp), np.array([k for _, k in pairs])


def _other(adjective: str) -> str:
    return {"big": "small", "small": "big", "biggest": "smallest", "smallest": "biggest"}[adjective]


def _unplaced(batch: _Batch, number: int, areas: Areas) -> list[Thing]:
    things = []
    for k in range(int(batch.count[number])):
        shape, radius = SHAPES[batch.shape[number, k]], CLASSES[batch.size[number, k]]
        color = _COLORS[batch.color[number, k]]
        things.append(Thing(shape, color, radius, 0.0, 0.0, False, area_of(shape, radius, areas)))
    return things


def _place(batch: _Batch, options: Options, rng: np.random.Generator) -> tuple[int, tuple[Thing, ...]] | None:
    """The first of some scenes of as many objects whose places, drawn once each, do not overlap; None if all do."""
    n = int(batch.count[0])
    canvas = _canvas(options.areas)
    u = rng.random((len(batch.count), n, 3))
    shape, size, color = batch.shape[:, :n], batch.size[:, :n], batch.color[:, :n]
    poses = (shape == SHAPES.index("triangle")) | (shape == SHAPES.index("rectangle"))
    turned = ((u[..., 2] < 0.5) & poses).astype(np.intp)
    boxes = canvas.boxes[shape, size, turned]
    corner = np.floor(u[..., :2] * (CANVAS - boxes))
    gap = np.where(color[:, :, None] == color[:, None, :], options.gap, 0.0)
    clear = canvas.clear(shape, size, turned, corner[..., 0], corner[..., 1], gap)
    if not clear.any():
        return None
    row = int(clear.argmax())
    things = []
    for s, c, z, t, (x, y) in zip(shape[row], color[row], size[row], turned[row], corner[row].tolist(), strict=True):
        word, radius = SHAPES[s], CLASSES[z]
        dx, dy = anchor(word, radius, bool(t), options.areas)
        area = area_of(word, radius, options.areas)
        things.append(Thing(word, _COLORS[c], radius, y + dy, x + dx, bool(t), area))
    return row, tuple(things)
