"""The layout of a frame: given places checked against what the frame states, free ones searched for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from render.compiler.attributes import Item
from render.compiler.constraints import Rules
from render.compiler.placement import Floats, Ground2, Search
from render.compiler.pointer import Placer, placer_of, quadrants
from render.compiler.rng import Keys
from render.compiler.visibility import VisibilityCounter, frame_planes
from render.geometry.camera import Camera
from render.geometry.rotation import Vec
from scene_specs.language.spec import FrameSpec
from scene_specs.language.stage import Stage

# Layouts tried side by side: few at first, as one of the first mostly succeeds.
_BATCHES = (4, 8, 16, 32)


class Failure(Protocol):
    """Makes the frame's CompileError of a problem and of constraint -> refused tries."""

    def __call__(self, problem: str, broke: dict[str, int] | None = None) -> Exception: ...


@dataclass(frozen=True)
class Layout:
    """Locations of all objects; pointer: with its place and turn, if there is one; restarts: layouts given up before;
    refused: constraint -> tries it refused in those.
    """

    locations: tuple[Vec, ...]
    restarts: int
    refused: dict[str, int]
    pointer: Item | None = None


def _given(items: Sequence[Item]) -> list[tuple[int, Vec]]:
    return [(k, item.location) for k, item in enumerate(items) if item.location is not None]


def _broken_pairs(rules: Rules, given: Sequence[tuple[int, Vec]], ground: Ground2) -> Iterator[str]:
    place = {k: (x, y) for k, (x, y, _) in given}

    def along(axis: int, k: int) -> float:
        return float(ground.along(axis, np.float64(place[k][0]), np.float64(place[k][1])))  # type: ignore[arg-type]

    for demand in rules.demands:
        if demand.low in place and demand.high in place:
            gap = along(demand.axis, demand.high) - along(demand.axis, demand.low)
            if not gap > demand.margin:
                yield f"{demand.label}: they differ by {gap:.3f}"
    pairs = [(i, j) for i in place for j in place if i < j]
    for i, j in pairs:
        both = f"of {rules.names[i]} and {rules.names[j]}"
        gap = min(abs(along(axis, i) - along(axis, j)) for axis in (0, 1))
        if rules.margin_stated and gap < rules.axis_margin:
            yield f"{rules.margin_label} {both}: {gap:.3f}"
        dx, dy = place[i][0] - place[j][0], place[i][1] - place[j][1]
        room = float(rules.room(j, i, np.float64(dx), np.float64(dy)))  # type: ignore[arg-type]
        if rules.distance_stated and room < rules.min_distance:
            yield f"{rules.distance_label} {both}: {room:.3f}"


def _broken_sight(
    rules: Rules, items: Sequence[Item], given: Sequence[tuple[int, Vec]], sight: VisibilityCounter
) -> Iterator[str]:
    if rules.frame_stated:
        for k, (x, y, z) in given:
            if any(a * x + b * y + c < 0 for a, b, c in frame_planes(items[k], z, sight.camera).tolist()):
                yield f"in_frame of {rules.names[k]}"
    if any(rules.visible_stated[k] and rules.visible[k] for k, _ in given):
        # What the free ones will hide comes on top, so the given ones alone must leave enough.
        for k, pixels in sight.visible(given).items():
            if rules.visible_stated[k] and pixels < rules.visible[k]:
                yield f"{rules.visible_label(k)}: {pixels} visible"


def _check_demands(rules: Rules, fail: Failure) -> None:
    for axis in (0, 1):
        diagonal = np.diagonal(rules.least(axis))
        if (diagonal >= 0).any():
            wrong = {rules.names[k] for k in np.flatnonzero(diagonal >= 0)}
            cycle = [
                d.label for d in rules.demands if d.axis == axis and {rules.names[d.low], rules.names[d.high]} <= wrong
            ]
            raise fail(f"relations that contradict each other: {'; '.join(cycle)}")


def _floors(rules: Rules, given: Sequence[tuple[int, Vec]], sight: VisibilityCounter) -> list[int]:
    """Least visible pixels of each object.

    Where nothing is stated of an object with a given place, the free ones may not push it below the stage's number,
    but what the given ones hide of it is the author's choice.
    """
    floors = list(rules.visible)
    open_ones = [k for k, _ in given if floors[k] and not rules.visible_stated[k]]
    if open_ones:
        shown = sight.visible(given)
        for k in open_ones:
            floors[k] = min(floors[k], shown[k])
    return floors


def _locations(items: Sequence[Item], places: Floats) -> tuple[Vec, ...]:
    return tuple(item.location or (x, y, item.height) for item, (x, y) in zip(items, places.tolist(), strict=True))


def _search(
    search: Search, stage: Stage, keys: Keys, floors: Sequence[int], placer: Placer | None, fail: Failure
) -> Layout:
    items, rules, limit = search.items, search.rules, stage.placement.restarts + 1
    generator = keys.generator("placement")
    refused: dict[str, int] = {}
    tried = batch = 0
    while tried < limit:
        size = min(_BATCHES[min(batch, len(_BATCHES) - 1)], limit - tried)
        batch += 1
        # Drawn layout by layout, so the numbers do not depend on how many are tried side by side.
        places, alive, tally = search.batch(generator.random((size, len(search.order), search.tries, 2)))
        for row in range(size):
            if alive[row]:
                locations = _locations(items, places[row])
                shown = search.sight.visible(list(enumerate(locations))) if any(floors) else {}
                hidden = [k for k, pixels in shown.items() if pixels < floors[k]]
                pointer = placer.place(locations, floors, refused) if placer is not None and not hidden else None
                if not hidden and (placer is None or pointer is not None):
                    return Layout(locations, tried + row, refused, pointer)
                for k in hidden:
                    refused[rules.visible_label(k)] = refused.get(rules.visible_label(k), 0) + 1
            for label, counts in tally.refused.items():
                if counts[row]:
                    refused[label] = refused.get(label, 0) + int(counts[row])
        tried += size
    raise fail(f"no layout of {len(items)} objects in {limit} layouts of {search.tries} tries an object", refused)


def lay_out(
    frame: FrameSpec, items: Sequence[Item], rules: Rules, camera: Camera, stage: Stage, keys: Keys, fail: Failure
) -> Layout:
    """Places of all objects of a frame; `camera` is the deciding one at the stage's own size.

    Raises what `fail` makes of it: a stated constraint that given places break, relations that contradict each other,
    or a search that ended without a layout.
    """
    area = frame.area or stage.placement.area
    directions = camera.directions()
    right, front = directions["right"], directions["front"]
    ground = Ground2(area.x, area.y, (right[0], right[1]), (front[0], front[1]))
    sight = VisibilityCounter(items, camera, stage.ground)
    given = _given(items)
    _check_demands(rules, fail)
    broken = [*_broken_pairs(rules, given, ground), *_broken_sight(rules, items, given, sight)]
    if broken:
        raise fail(f"the given places break what the frame states: {'; '.join(broken)}")
    grounds = [ground] * len(items)
    hand_ground = ground
    fourfold = quadrants(frame, items, stage.pointer)
    if fourfold is not None:
        *grounds, hand_ground = [replace(ground, x=x[:2], y=y[:2]) for x, y in fourfold]
        rules = replace(rules, front_margin=False)
    placer = None
    if frame.pointer is not None:
        tries, draws = stage.placement.tries, keys.generator("pointer")
        placer = placer_of(frame.pointer, stage.pointer, rules.names, hand_ground, rules, sight, tries, draws, fail)
    if len(given) == len(items):
        return _beside_given(tuple(place for _, place in given), placer, stage, _floors(rules, given, sight), fail)
    search = Search(items, rules, grounds, sight, stage.placement.tries)
    return _search(search, stage, keys, _floors(rules, given, sight), placer, fail)


def _beside_given(
    locations: tuple[Vec, ...], placer: Placer | None, stage: Stage, floors: Sequence[int], fail: Failure
) -> Layout:
    """All objects have their places; only the pointer may still need one."""
    refused: dict[str, int] = {}
    if placer is None:
        return Layout(locations, 0, refused)
    for restart in range(stage.placement.restarts + 1):
        pointer = placer.place(locations, floors, refused)
        if pointer is not None:
            return Layout(locations, restart, refused, pointer)
    raise fail("no place for the pointer beside the given objects", refused)
