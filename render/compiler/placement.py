"""Locations of the objects that a frame leaves open: a bounded search over many layouts at once.

A layout places one object after the other, first those with the most relations, then the largest. Each takes the first
of `tries` candidates that satisfies all rules. A layout in which an object has no such candidate is discarded.

Candidates are uniform over the area. Where margins and relations leave only strips of it, candidates are drawn from
these strips: the same distribution with fewer rejections.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from diorama.render.compiler.attributes import Item
from diorama.render.compiler.constraints import Distance, Rules
from diorama.render.compiler.visibility import VisibilityCounter, frame_planes
from diorama.scene_specs.rotation import Floats

if TYPE_CHECKING:
    from diorama.render.compiler.piles import Piles

Bools = NDArray[np.bool_]
Number = TypeVar("Number", float, Floats)
# Values along right and front, or along x and y.
Pair = tuple[Floats, Floats]
# Labels of rules, each with the candidates (B, T) that satisfy it.
Verdicts = list[tuple[str, Bools]]


@dataclass(frozen=True)
class Ground2:
    """The area (x0, x1), (y0, y1), and unit vectors on the ground to the right and the front of the camera."""

    x: tuple[float, float]
    y: tuple[float, float]
    right: tuple[float, float]
    front: tuple[float, float]

    def along(self, axis: int, x: Number, y: Number) -> Number:
        """Return the coordinate along right (axis 0) or front (axis 1)."""
        direction = self.right if axis == 0 else self.front
        return x * direction[0] + y * direction[1]

    def extent(self, axis: int) -> tuple[float, float]:
        """Return the smallest and largest coordinate of the area along an axis."""
        ends = [self.along(axis, x, y) for x in self.x for y in self.y]
        return (min(ends), max(ends))


@dataclass(frozen=True)
class Strips:
    """Free intervals of B layouts: start and length, (B, G) each."""

    start: Floats
    length: Floats

    @property
    def total(self) -> Floats:
        """Length of all intervals, (B,)."""
        # Summed in sequence: the order in np.sum depends on the processor.
        return np.cumsum(self.length, axis=1)[:, -1]

    def at(self, u: Floats) -> Floats:
        """Return the coordinates (B, T) at shares (B, T) in [0, 1) of the total length."""
        ends = np.cumsum(self.length, axis=1)
        reach: Floats = u * ends[:, -1:]
        passed = (reach[:, :, None] >= ends[:, None, :]).sum(axis=2)
        which = np.minimum(passed, self.length.shape[1] - 1)
        start: Floats = np.take_along_axis(self.start - (ends - self.length), which, axis=1)
        return start + reach


def free_strips(low: Floats, high: Floats, taken: Floats, margin: float) -> Strips:
    """Return the part of [low, high] (B,) that is at least `margin` away from all of `taken` (B, P)."""
    if margin <= 0 or not taken.shape[1]:
        return Strips(low[:, None], np.maximum(high - low, 0.0)[:, None])
    ordered = np.sort(taken, axis=1)
    start = np.concatenate([low[:, None], np.maximum(ordered + margin, low[:, None])], axis=1)
    end = np.concatenate([np.minimum(ordered - margin, high[:, None]), high[:, None]], axis=1)
    return Strips(start, np.maximum(end - start, 0.0))


def candidates(ground: Ground2, strips: Sequence[Strips], u: Floats) -> Pair:
    """Return candidates x, y (B, T), to 6 decimals, from uniform numbers u (B, T, 2)."""
    x = ground.x[0] + u[:, :, 0] * (ground.x[1] - ground.x[0])
    y = ground.y[0] + u[:, :, 1] * (ground.y[1] - ground.y[0])
    full = (ground.x[1] - ground.x[0]) * (ground.y[1] - ground.y[0])
    narrow = (strips[0].total * strips[1].total < full)[:, None]
    if narrow.any():
        across, deep = strips[0].at(u[:, :, 0]), strips[1].at(u[:, :, 1])
        x = np.where(narrow, across * ground.right[0] + deep * ground.front[0], x)
        y = np.where(narrow, across * ground.right[1] + deep * ground.front[1], y)
    return np.round(x, 6) + 0.0, np.round(y, 6) + 0.0


@dataclass
class Tally:
    """Rejected candidates of a batch of layouts.

    Attributes:
        live: numbers of the layouts that go on.
        refused: constraint -> (B,) counts.
    """

    size: int
    live: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    refused: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    def add(self, label: str, which: Bools, counts: NDArray[np.int64] | int) -> None:
        """Add the rejections of some of the live layouts."""
        self.refused.setdefault(label, np.zeros(self.size, dtype=np.int64))[self.live[which]] += counts


def placing_order(rules: Rules, least: Pair, free: Sequence[int]) -> list[int]:
    """Decide the order in which objects are placed.

    In a chain of demands the middle comes first, then the middles of the halves: placed from one end, each object would
    leave a random share of the remaining range to its successors, and the last ones nothing. Then follow objects with
    the most relations, then the largest.
    """
    bound = [sum(k in (demand.low, demand.high) for demand in rules.demands) for k in range(len(rules.names))]
    chains = [np.isfinite(table) for table in least]
    waiting = np.isin(np.arange(len(bound)), free)
    order: list[int] = []
    while len(order) < len(free):
        middle = np.zeros(len(bound), dtype=np.int64)
        for after in chains if rules.demands else ():
            placed = after & ~waiting[:, None]
            # Pairs with a placed object between them no longer share a range.
            parted = (after[:, ~waiting].astype(np.int64) @ placed[~waiting].astype(np.int64)) > 0
            close = after & ~parted & waiting[:, None] & waiting[None, :]
            middle += np.minimum(close.sum(axis=0), close.sum(axis=1))
        left = [k for k in free if waiting[k]]
        chosen = min(left, key=lambda k: (-middle[k], -bound[k], -rules.scales[k], k))
        order.append(chosen)
        waiting[chosen] = False
    return order


@dataclass
class Search:
    """The search for the locations of objects.

    Attributes:
        grounds: the area of each object; all share the camera's directions.
        tries: candidates per object.
        piles: the piles whose first objects are `items`; None if `items` are all objects.
    """

    items: Sequence[Item]
    rules: Rules
    grounds: Sequence[Ground2]
    visibility: VisibilityCounter
    tries: int
    piles: Piles | None

    def __post_init__(self) -> None:
        items, rules, piles, camera = self.items, self.rules, self.piles, self.visibility.camera
        self.least = (rules.least(0), rules.least(1))
        free = [k for k, item in enumerate(items) if item.location is None]
        self.fixed = [k for k, item in enumerate(items) if item.location is not None]
        self.order = placing_order(rules, self.least, free)
        self.planes = {
            k: frame_planes(items[k], items[k].height, camera)
            if piles is None
            else piles.planes(piles.roots[k], camera)
            for k in (free if rules.in_frame else ())
        }

    def batch(self, u: Floats) -> tuple[Floats, Bools, Tally]:
        """Make layouts from uniform numbers u (B, open objects, tries, 2).

        Returns:
            x, y (B, n, 2), success (B,), and rejections.
        """
        size = len(u)
        places = np.zeros((size, len(self.items), 2))
        for k in self.fixed:
            location = self.items[k].location
            assert location is not None
            places[:, k] = location[:2]
        alive = np.ones(size, dtype=bool)
        tally = Tally(size)
        placed = list(self.fixed)
        for step, k in enumerate(self.order):
            live = tally.live = np.flatnonzero(alive)
            if not len(live):
                break
            places[live, k], alive[live] = self._place(k, placed, places[live], u[live, step], tally)
            placed.append(k)
        return places, alive, tally

    def _allowed_range(self, axis: int, k: int, placed: list[int], along: Floats) -> Pair:
        """Return the range that relations leave for object k along an axis: smallest and largest coordinate, (B,) each.

        It keeps the longest chain of demands to each placed object, and room towards the edge of the area for chains of
        objects that are not yet placed.
        """
        low, high = self.grounds[k].extent(axis)
        if not self.rules.demands:
            return np.full(len(along), low), np.full(len(along), high)
        least = self.least[axis]
        later = [j for j in range(len(self.items)) if j not in placed]
        low += max(0.0, float(least[later, k].max()))
        high -= max(0.0, float(least[k, later].max()))
        lows, highs = np.full(len(along), low), np.full(len(along), high)
        if placed:
            lows = np.maximum(lows, (along + least[placed, k]).max(axis=1))
            highs = np.minimum(highs, (along - least[k, placed]).min(axis=1))
        return lows, highs

    def _place(self, k: int, placed: list[int], places: Floats, u: Floats, tally: Tally) -> tuple[Floats, Bools]:
        """Location of object k in each layout (B, 2), and whether one was found (B,)."""
        x, y = places[:, placed, 0], places[:, placed, 1]
        ground = self.grounds[k]
        along = (ground.along(0, x, y), ground.along(1, x, y))
        ranges = [self._allowed_range(axis, k, placed, along[axis]) for axis in (0, 1)]
        strips = [free_strips(*ranges[axis], along[axis], self.rules.margin(axis)) for axis in (0, 1)]
        cx, cy = candidates(ground, strips, u)
        verdicts = self._verdicts(k, placed, (x, y), along, (cx, cy))
        good = np.ones(cx.shape, dtype=bool)
        for _, passed in verdicts:
            good &= passed
        first = good.argmax(axis=1)
        rows = np.arange(len(first))
        ok: Bools = good[rows, first]
        if not ok.all():
            self._count_rejections(k, ~ok, ranges, strips, verdicts, tally)
        return np.stack([cx[rows, first], cy[rows, first]], axis=1), ok

    def _verdicts(self, k: int, placed: list[int], others: Pair, along: Pair, at: Pair) -> Verdicts:
        """Rules of object k with the placed objects, each with the candidates (B, T) that satisfy it."""
        rules, (cx, cy), ground = self.rules, at, self.grounds[k]
        inside = (cx >= ground.x[0]) & (cx <= ground.x[1]) & (cy >= ground.y[0]) & (cy <= ground.y[1])
        verdicts = [("area", inside)]
        mine = (ground.along(0, cx, cy), ground.along(1, cx, cy))
        for demand in rules.demands:
            if demand.low == k and demand.high in placed:
                gap = along[demand.axis][:, placed.index(demand.high), None] - mine[demand.axis]
            elif demand.high == k and demand.low in placed:
                gap = mine[demand.axis] - along[demand.axis][:, placed.index(demand.low), None]
            else:
                continue
            verdicts.append((demand.label, gap > demand.margin))
        if k in self.planes:
            seen = np.ones(cx.shape, dtype=bool)
            for a, b, c in self.planes[k].tolist():
                seen &= cx * a + cy * b + c >= 1e-9
            verdicts.append(("in_frame", seen))
        if placed:
            if rules.axis_margin > 0:
                apart = np.ones(cx.shape, dtype=bool)
                for axis in (0, 1):
                    gaps = np.abs(mine[axis][:, :, None] - along[axis][:, None, :])
                    apart &= (gaps >= rules.margin(axis)).all(axis=2)
                verdicts.append((rules.margin_label, apart))
            dx, dy = cx[:, :, None] - others[0][:, None, :], cy[:, :, None] - others[1][:, None, :]
            reach = rules.radii[placed] + rules.radii[k] + rules.min_distance
            free = dx * dx + dy * dy >= reach * reach
            for column, j in enumerate(placed):
                # Outlines matter only where the discs are too close.
                if (rules.hulls[j] or rules.hulls[k]) and not free[:, :, column].all():
                    gap = rules.gap(j, k, dx[:, :, column], dy[:, :, column])
                    free[:, :, column] |= gap >= rules.min_distance
            verdicts.append((rules.distance_label, free.all(axis=2)))
        for distance in rules.distances:
            if k in distance.objects and all(j == k or j in placed for j in distance.objects):
                verdicts.append((distance.label, self._satisfying(distance, k, placed, others, at)))
        return verdicts

    def _satisfying(self, distance: Distance, k: int, placed: list[int], others: Pair, at: Pair) -> Bools:
        """Which candidates (B, T) of object k satisfy a demand on the locations of several objects."""
        passed = np.zeros(at[0].shape, dtype=bool)
        columns = [at if j == k else [axis[:, [placed.index(j)]] for axis in others] for j in distance.objects]
        places = [[np.broadcast_to(axis, passed.shape) for axis in pair] for pair in columns]
        for b, t in np.ndindex(passed.shape):
            passed[b, t] = distance.test([(float(x[b, t]), float(y[b, t])) for x, y in places])
        return passed

    def _count_rejections(
        self, k: int, failed: Bools, ranges: list[Pair], strips: Sequence[Strips], verdicts: Verdicts, tally: Tally
    ) -> None:
        """Count the rejections of object k in the failed layouts; a candidate counts for each rule that it breaks."""
        for axis in (0, 1):
            # Without a range there were no candidates: the rules that emptied it count instead.
            squeezed = failed & (ranges[axis][1] < ranges[axis][0])
            crowded = failed & ~squeezed & (ranges[axis][1] > ranges[axis][0]) & (strips[axis].total <= 0)
            failed = failed & ~squeezed & ~crowded
            for demand in self.rules.demands:
                if demand.axis == axis and k in (demand.low, demand.high) and squeezed.any():
                    tally.add(demand.label, squeezed, self.tries)
            if crowded.any():
                tally.add(self.rules.margin_label, crowded, self.tries)
        for labels, passed in self._blamable_verdicts(k, verdicts):
            counts = (~passed[failed]).sum(axis=1)
            if counts.any():
                for label in labels:
                    tally.add(label, failed, counts)

    def _blamable_verdicts(self, k: int, verdicts: Verdicts) -> Iterator[tuple[list[str], Bools]]:
        """Verdicts with the labels of the constraints that a user can relax.

        Only candidates drawn from strips can fall outside the area: the constraints that cut the strips rejected them.
        """
        cutting = [demand.label for demand in self.rules.demands if k in (demand.low, demand.high)]
        if self.rules.axis_margin > 0:
            cutting.append(self.rules.margin_label)
        for label, passed in verdicts:
            yield (cutting or [label]) if label == "area" else [label], passed
