"""The layout of a frame: check the specified locations against its constraints, search for the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from diorama.render.compiler.attributes import Item
from diorama.render.compiler.constraints import Rules, rules_of
from diorama.render.compiler.observers import with_poses
from diorama.render.compiler.piles import Piles, build_piles
from diorama.render.compiler.placement import Ground2, Search
from diorama.render.compiler.pointer import Placer, quadrants
from diorama.render.compiler.visibility import VisibilityCounter, is_in_frame
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.ground import is_between
from diorama.render.geometry.observer import place_of
from diorama.scene_specs.errors import CompileError, counted
from diorama.scene_specs.language.rng import Keys
from diorama.scene_specs.model.spec import FrameSpec
from diorama.scene_specs.model.stage import Stage
from diorama.scene_specs.rotation import Floats, Vec

# Layouts computed together: few at first, because one of the first usually succeeds.
_BATCHES = (4, 8, 16, 32)
# How often piles are put together; each time with a share of the restarts of the layout.
_PILES = 16
_QUARTERS = (
    ". With a pointer, the first of three objects is always in the left quarter, the second in the rear one and the "
    "third in the right one: list them in another order, or specify `area`"
)


@dataclass(frozen=True)
class Layout:
    """Where the objects of a frame stand.

    Attributes:
        locations: location of each object, Blender units.
        pointer: the placed and turned pointer; None in a frame without one.
        items: all objects with the poses of observers; in piles, those that lean with their rotation.
    """

    locations: tuple[Vec, ...]
    pointer: Item | None
    items: tuple[Item, ...]


def _broken_pairs(rules: Rules, fixed: Sequence[tuple[int, Vec]], ground: Ground2) -> Iterator[str]:
    place = {k: (x, y) for k, (x, y, _) in fixed}
    along = [{k: ground.along(axis, *at) for k, at in place.items()} for axis in (0, 1)]
    for demand in rules.demands:
        if demand.low in place and demand.high in place:
            gap = along[demand.axis][demand.high] - along[demand.axis][demand.low]
            if not gap > demand.margin:
                yield f"{demand.label}: they differ by {gap:.3f}"
    for distance in rules.distances:
        if {*distance.objects} <= place.keys() and not distance.test([place[k] for k in distance.objects]):
            yield distance.label
    for i, j in combinations(sorted(place), 2):
        both = f"of {rules.names[i]} and {rules.names[j]}"
        gap = min(abs(known[i] - known[j]) for known in along)
        if rules.margin_stated and gap < rules.axis_margin:
            yield f"{rules.margin_label} {both}: {gap:.3f}"
        dx, dy = place[i][0] - place[j][0], place[i][1] - place[j][1]
        apart = float(rules.gap(j, i, np.float64(dx), np.float64(dy)))  # type: ignore[arg-type]
        if rules.distance_stated and apart < rules.min_distance:
            yield f"{rules.distance_label} {both}: {apart:.3f}"


def _broken_visibility(
    rules: Rules, items: Sequence[Item], fixed: Sequence[tuple[int, Vec]], visibility: VisibilityCounter
) -> Iterator[str]:
    if rules.frame_stated:
        for k, location in fixed:
            if not is_in_frame(items[k], location, visibility.camera):
                yield f"in_frame of {rules.names[k]}"
    if any(rules.visible_stated[k] and rules.visible[k] for k, _ in fixed):
        # Other objects will hide more of them, so these alone must leave enough visible.
        for k, pixels in visibility.visible(fixed).items():
            if rules.visible_stated[k] and pixels < rules.visible[k]:
                yield f"{rules.visible_label(k)}: {pixels} visible"


def _check_demands(rules: Rules) -> None:
    for axis in (0, 1):
        wrong = {*np.flatnonzero(np.diagonal(rules.least(axis)) >= 0).tolist()}
        if wrong:
            cycle = [d.label for d in rules.demands if d.axis == axis and {d.low, d.high} <= wrong]
            raise CompileError(f"relations contradict each other: {'; '.join(cycle)}")


def _pixel_floors(rules: Rules, fixed: Sequence[tuple[int, Vec]], visibility: VisibilityCounter) -> list[int]:
    """Minimum visible pixels of each object.

    An object with a specified location, without its own constraint, may show less than the stage's minimum if other
    specified objects hide it. The objects that the layout places may not hide more.
    """
    floors = list(rules.visible)
    unstated = [k for k, _ in fixed if floors[k] and not rules.visible_stated[k]]
    shown = visibility.visible(fixed) if unstated else {}
    for k in unstated:
        floors[k] = min(floors[k], shown[k])
    return floors


def _check_ground(layout: Layout, items: Sequence[Item], rules: Rules, camera: Camera, stage: Stage) -> None:
    """Refuse a camera below or behind the ground, where objects that must be visible are not."""
    if stage.ground is None or camera.orthographic:
        return
    for k, (item, (x, y, z)) in enumerate(zip(items, layout.locations, strict=True)):
        demanded = rules.visible[k] and (item.location is None or rules.visible_stated[k])
        if demanded and is_between(stage.ground, camera.location, (x, y, z + item.reach)):
            problem = f"the ground is between the camera and {rules.names[k]}; raise the camera or bring it nearer"
            raise CompileError(f"{rules.visible_label(k)}: {problem}, or allow 0 visible pixels")


def _locations(items: Sequence[Item], places: Floats) -> tuple[Vec, ...]:
    return tuple(item.location or (x, y, item.height) for item, (x, y) in zip(items, places.tolist(), strict=True))


def _poses(
    items: Sequence[Item], locations: Sequence[Vec], rules: Rules, camera: Camera
) -> tuple[dict[int, Item], list[str]]:
    """Return the observers that get a pose in a layout, by number, and the rules that they break in it."""
    waiting = [k for k, item in enumerate(items) if item.looks_at is not None]
    if not waiting:
        return {}, []
    posed = with_poses(items, dict(enumerate(locations)))
    failed = [f"gaze of {posed[k].name}" for k in waiting if posed[k].looks_at is not None]
    if rules.in_frame:
        outside = [k for k in waiting if not is_in_frame(posed[k], locations[k], camera)]
        failed += ["in_frame" for k in outside if rules.frame_stated or items[k].location is None]
    return {k: posed[k] for k in waiting}, failed


def _broken_gazes(items: Sequence[Item], fixed: Sequence[tuple[int, Vec]]) -> Iterator[str]:
    places = {items[k].name: place for k, place in fixed}
    for item in (items[k] for k, _ in fixed):
        if item.looks_at is not None and place_of(item.looks_at, places) is not None:
            yield f"gaze of {item.name}: what it looks at is too steeply above or below its eyes"


def _find_layout(
    search: Search, stage: Stage, keys: Keys, floors: Sequence[int], placer: Placer | None, quarters: bool
) -> Layout:
    items, rules, limit = search.items, search.rules, stage.placement.restarts + 1
    all_items = items if search.piles is None else search.piles.items
    names = [item.name for item in all_items]
    generator = keys.generator("placement")
    refused: dict[str, int] = {}
    tried = batch = 0
    while tried < limit:
        size = min(_BATCHES[min(batch, len(_BATCHES) - 1)], limit - tried)
        batch += 1
        # Drawn layout by layout, so that the numbers do not depend on the batch size.
        places, alive, tally = search.batch(generator.random((size, len(search.order), search.tries, 2)))
        for row in range(size):
            if alive[row]:
                locations = _locations(items, places[row])
                if search.piles is not None:
                    locations = search.piles.locations(locations)
                posed, failed = _poses(items, locations, rules, search.visibility.camera)
                searched = any(floors) and not failed
                hidden = search.visibility.hidden(locations, floors, posed) if searched else []
                pointer = placer.place(locations, floors, refused) if placer is not None and not hidden else None
                if not failed and not hidden and (placer is None or pointer is not None):
                    return Layout(locations, pointer, tuple(posed.get(k, item) for k, item in enumerate(all_items)))
                for label in [*failed, *(f"min_visible_pixels {floors[k]} of {names[k]}" for k in hidden)]:
                    refused[label] = refused.get(label, 0) + 1
            for label, counts in tally.refused.items():
                if counts[row]:
                    refused[label] = refused.get(label, 0) + int(counts[row])
        tried += size
    if not search.order and placer is not None:
        raise CompileError("no location for the pointer among the specified objects", refused)
    objects = counted(len(names), "object")
    problem = f"no valid layout of {objects} in {limit} attempts with {search.tries} locations per object"
    raise CompileError(problem + _QUARTERS * quarters, refused)


def lay_out(
    frame: FrameSpec, items: Sequence[Item], camera: Camera, stage: Stage, keys: Keys, piles: Piles | None = None
) -> Layout:
    """Find locations for all objects of a frame.

    Args:
        camera: the first view's, at the stage's own size.
        piles: what the objects are put together to, None if none touch.

    Raises:
        CompileError: specified locations break a constraint, relations contradict each other, or the search found
            nothing.
    """
    area = frame.area or stage.placement.area
    directions = camera.directions()
    right, front = directions["right"], directions["front"]
    ground = Ground2(area.x, area.y, (right[0], right[1]), (front[0], front[1]))
    visibility = VisibilityCounter(items, camera, stage.ground)
    fixed = [(k, item.location) for k, item in enumerate(items) if item.location is not None]
    items = visibility.items = with_poses(items, dict(fixed))
    rules = outer_rules = rules_of(frame, items, stage.placement)
    outer: Sequence[Item] = items
    if piles is not None:
        outer, outer_rules = piles.outer_items(), piles.rules(rules, ground.right, ground.front)
    _check_demands(outer_rules)
    fixed_outer = [(k, item.location) for k, item in enumerate(outer) if item.location is not None]
    broken = [*_broken_pairs(outer_rules, fixed_outer, ground), *_broken_gazes(items, fixed)]
    broken += _broken_visibility(rules, items, fixed, visibility)
    if broken:
        raise CompileError(f"the specified locations break constraints of the frame: {'; '.join(broken)}")
    grounds = [ground] * len(outer)
    pointer_ground = ground
    areas = quadrants(frame, items, stage.pointer)
    if areas is not None:
        *grounds, pointer_ground = [replace(ground, x=x, y=y) for x, y in areas]
        rules = outer_rules = replace(rules, front_margin=False)
    placer = None
    if frame.pointer is not None:
        placer = Placer(frame.pointer, stage, pointer_ground, rules, visibility, keys)
    search = Search(outer, outer_rules, grounds, visibility, stage.placement.tries, piles)
    layout = _find_layout(search, stage, keys, _pixel_floors(rules, fixed, visibility), placer, areas is not None)
    if piles is not None:
        piles.check(layout.locations)
    _check_ground(layout, items, rules, camera, stage)
    return layout


def lay_out_piles(frame: FrameSpec, items: Sequence[Item], camera: Camera, stage: Stage, keys: Keys) -> Layout:
    """Put together the piles of a frame and find locations for them; start over with other piles a few times.

    Raises:
        CompileError: no pile or no layout was found.
    """
    generator = keys.generator("contacts")
    once = stage.placement.model_copy(update={"restarts": stage.placement.restarts // _PILES})
    limited = stage.model_copy(update={"placement": once})
    for attempt in range(_PILES):
        piles = build_piles(frame, items, generator, turn=attempt > 0)
        again = replace(keys, frame=f"{keys.frame}#{attempt}") if attempt else keys
        try:
            return lay_out(frame, piles.items, camera, limited, again, piles)
        except CompileError:
            if attempt == _PILES - 1:
                raise
    raise AssertionError("unreachable")
