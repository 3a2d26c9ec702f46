"""Checks for layouts that cannot exist.

Cyclic relations, locations outside the area, objects that overlap; distances and pixels against the space, specified
locations against constraints; relations of contact without a ground, or that leave an object in the air. Each check
holds for every camera and every draw, so whatever is reported here fails in the compiler, too. A spec that passes can
still fail in the layout search.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from diorama.scene_specs.files.strict_json import Path
from diorama.scene_specs.language.diagnostics import PathDiagnostic, preview_json, unexpected
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.language.registry import shapes
from diorama.scene_specs.language.vocabulary import CONTACTS, OPPOSITE, RELATIONS, SHAPES, SUPPORTED
from diorama.scene_specs.model.spec import AreaSpec, CameraSpec, ConstraintSpec, FrameSpec, ObjectSpec, object_name
from diorama.scene_specs.model.stage import Stage, flat_heights, is_outline, orbits

# Meshes have rounded edges, so objects that touch do not overlap yet.
_TOUCH = 1e-3
# The scale of an object whose size has an unknown name: it overlaps only what is at the same location.
_UNKNOWN = 2e-3
_ROUNDED = 1e-6


def layout_diagnostics(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Report problems of a frame's locations and constraints."""
    area = frame.area or stage.placement.area
    empty = [axis for axis in ("x", "y") if not getattr(area, axis)[0] < getattr(area, axis)[1]]
    for axis in empty:
        yield unexpected((*at, "area", axis), getattr(area, axis), "[least, greatest]")
    if not empty:
        yield from _outside_diagnostics(frame, area, at)
        yield from _relation_diagnostics(frame, stage, area, at)
    yield from _overlap_diagnostics(frame, stage, at)
    yield from _one_plane(frame, stage, at)
    yield from _no_room(frame, stage, area, at)


def _outside_diagnostics(frame: FrameSpec, area: AreaSpec, at: Path) -> Iterator[PathDiagnostic]:
    placed = [(("objects", k), item.location) for k, item in enumerate(frame.objects)]
    placed += [(("observers", k), person.location) for k, person in enumerate(frame.observers)]
    for where, location in placed:
        if location is None:
            continue
        for axis, value, (least, greatest) in zip("xy", location[:2], (area.x, area.y), strict=True):
            if not least <= value <= greatest:
                problem = f"found {axis} = {value:g}, outside the area; allowed: {least:g} to {greatest:g}"
                hint = "give the frame an area that holds it"
                yield PathDiagnostic((*at, *where, "location", "xy".index(axis)), problem, hint)


def _one_plane(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Report flat objects at the z of another one: where they overlap, one or the other is seen at random."""
    seen: dict[float, int] = {}
    for index, height in flat_heights(frame, stage).items():
        item = frame.objects[index]
        other = seen.setdefault(round(height, 6), index)
        if other == index:
            continue
        # One of the two has a z in the spec; layers differ from each other.
        at_fault = index if item.location is not None and len(item.location) == 3 else other
        neighbor = other if at_fault == index else index
        name = object_name(frame.objects[neighbor], neighbor)
        problem = f"found z = {height:g}, the plane of {name}; allowed: flat objects in different planes"
        hint = "leave z out, so that each object is nearer than the one before, or give another z"
        yield PathDiagnostic((*at, "objects", at_fault, "location", 2), problem, hint)


class _Body(NamedTuple):
    """An object whose location and minimum size are known.

    upright: its cross-section is known at every height. grounded: it stands on the ground. guessed: `scale` is the
    smallest that the stage draws; a larger one on the ground would only overlap more.
    """

    number: int
    name: str
    location: tuple[float, float, float]
    scale: float
    upright: bool
    grounded: bool
    guessed: bool


def _least_scale(item: ObjectSpec, stage: Stage) -> float:
    """Return the least scale of an object: the radius of a sphere that every shape contains. 0 if it is unknown."""
    if stage.pixels == "center" or is_outline(item.plain_shape):
        return 0.0
    if item.shape is not None and item.shape not in SHAPES and (is_model(item.shape) or item.shape in shapes()):
        return 0.0
    sizes = stage.size_names()
    match item.size:
        case int() | float() as scale:
            return scale
        case str() as word:
            return sizes.get(word, _UNKNOWN)
    return min((sizes[name] for name in stage.defaults.sizes if name in sizes), default=0.0)


def _body_of(item: ObjectSpec, index: int, stage: Stage) -> _Body | None:
    if item.location is None or not (scale := _least_scale(item, stage)):
        # Flat objects may cover each other.
        return None
    x, y = item.location[:2]
    z = item.location[2] if len(item.location) == 3 else scale
    tilt = item.rotation_deg[:2] if isinstance(item.rotation_deg, tuple) else (0.0, 0.0)
    guessed = item.size is None
    upright = item.shape in ("cube", "cylinder") and not any(tilt) and not guessed
    grounded = len(item.location) == 2
    return _Body(index, object_name(item, index), (x, y, z), scale, upright, grounded, guessed)


def _overlap_diagnostics(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    bodies = [body for k, item in enumerate(frame.objects) if (body := _body_of(item, k, stage)) is not None]
    for number, second in enumerate(bodies):
        for first in bodies[:number]:
            near = abs(first.location[0] - second.location[0]) < first.scale + second.scale
            if near and _bodies_overlap(first, second):
                path = (*at, "objects", second.number, "location")
                other = f"object {preview_json(first.name)} (objects[{first.number}])"
                problem = f"found {preview_json(frame.objects[second.number].location)}, which overlaps {other}"
                yield PathDiagnostic(path, problem, "move one of the two")
                break


def _bodies_overlap(a: _Body, b: _Body) -> bool:
    """Return whether two bodies certainly overlap: every shape contains the sphere of radius `scale`, upright ones the
    cylinder.
    """
    if a.grounded != b.grounded and (a if a.grounded else b).guessed:
        return False
    reach = a.scale + b.scale - _TOUCH
    if math.dist(a.location, b.location) < reach:
        return True
    # Edges are rounded by 5 %, so a cylinder is solid within 0.9 of its height and radius.
    flat = math.dist(a.location[:2], b.location[:2])
    return a.upright and b.upright and max(flat, abs(a.location[2] - b.location[2])) < 0.9 * reach


class _Edge(NamedTuple):
    """A constraint: `low` comes before `high` along an axis (rightwards or backwards) by at least `margin`."""

    low: str
    high: str
    margin: float
    constraint: int


def _edges(constraints: Sequence[ConstraintSpec], names: Sequence[str], margin: float, axis: str) -> Iterator[_Edge]:
    """Yield the edges along `axis` (right or behind). Other checks report unknown names."""
    for index, c in enumerate(constraints):
        ends = [name for name in (c.of, c.subject) if name is not None and name in names]
        if len({*ends}) == 2 and c.relation in (axis, OPPOSITE[axis]) and c.seen_from is None:
            low, high = ends if c.relation == axis else ends[::-1]
            yield _Edge(low, high, margin if c.margin is None else c.margin, index)


def _relation_diagnostics(frame: FrameSpec, stage: Stage, area: AreaSpec, at: Path) -> Iterator[PathDiagnostic]:
    names = [object_name(item, index) for index, item in enumerate(frame.objects)]
    room = math.dist((area.x[0], area.y[0]), (area.x[1], area.y[1]))
    for axis in ("right", "behind"):
        kept: dict[str, list[_Edge]] = {}
        cyclic = False
        for edge in _edges(frame.constraints, names, stage.placement.relation_threshold, axis):
            path = _shortest_path(kept, edge.high, edge.low)
            if path is None:
                kept.setdefault(edge.low, []).append(edge)
                continue
            cyclic = True
            chain = ", ".join(_in_words(frame.constraints[e.constraint]) for e in (*path, edge))
            location = (*at, "constraints", edge.constraint)
            yield PathDiagnostic(location, f"contradictory relations: {chain}", "leave one of them out")
        if not cyclic:
            yield from _too_long(kept, names, room, axis, at)


def _in_words(constraint: ConstraintSpec) -> str:
    words = {"left": "left of", "right": "right of", "front": "in front of", "behind": "behind"}
    return f"{constraint.subject} {words[constraint.relation or 'left']} {constraint.of}"


def _shortest_path(edges: dict[str, list[_Edge]], start: str, goal: str) -> list[_Edge] | None:
    """Return the shortest path from one name to another along edges, None if there is none."""
    paths: dict[str, list[_Edge]] = {start: []}
    queue = [start]
    for name in queue:
        for edge in edges.get(name, ()):
            if edge.high not in paths:
                paths[edge.high] = [*paths[name], edge]
                queue.append(edge.high)
    return paths.get(goal)


def _too_long(
    edges: dict[str, list[_Edge]], names: Sequence[str], room: float, axis: str, at: Path
) -> Iterator[PathDiagnostic]:
    """Report a chain of relations that is longer than the diagonal of the area, the longest distance in it."""
    reach = dict.fromkeys(names, 0.0)
    last: _Edge | None = None
    # There are no cycles, so a path has fewer edges than there are names.
    for edge in [edge for name in names for edge in edges.get(name, ())] * len(names):
        if reach[edge.low] + edge.margin > reach[edge.high]:
            reach[edge.high] = reach[edge.low] + edge.margin
            last = edge if reach[edge.high] > room else last
    if last is not None:
        need = f"objects in a row towards {axis} need {max(reach.values()):g}; the area's diagonal is {room:g}"
        path = (*at, "constraints", last.constraint)
        yield PathDiagnostic(path, f"no room: {need}", "widen the area or lower the margins")


def _no_room(frame: FrameSpec, stage: Stage, area: AreaSpec, at: Path) -> Iterator[PathDiagnostic]:
    """Report what no layout of the frame can satisfy."""
    base = stage.placement
    total = len(frame.objects) + (frame.random_objects.bounds[0] if frame.random_objects is not None else 0)
    free = total - sum(item.location is not None for item in frame.objects) if stage.places is None else 0
    diagonal = math.dist((area.x[0], area.y[0]), (area.x[1], area.y[1]))
    gap = max((c.min_distance for c in frame.constraints if c.min_distance is not None), default=base.min_distance)
    needs: list[tuple[float, Path]] = [(0.0, ("objects",))]
    if frame.objects and 0 < gap <= diagonal and free == total > 1:
        sizes = sorted((_least_scale(item, stage), index) for index, item in enumerate(frame.objects))[-2:]
        needs = [(gap + sum(size for size, _ in sizes), ("objects", sizes[-1][1]))]
    margins: list[tuple[float, Path]] = [((free - 1) * base.axis_margin, ("objects",))]
    pixels: list[Path] = []
    for index, constraint in enumerate(frame.constraints):
        for key, times, listed in (("min_distance", min(total - 1, 1), needs), ("axis_margin", total - 1, margins)):
            if (value := getattr(constraint, key)) is not None:
                listed.append((times * value, ("constraints", index, key)))
        if constraint.min_visible_pixels:
            pixels.append((*at, "constraints", index, "min_visible_pixels"))
    # What the frame states replaces the margin of the stage.
    short = {place: need for need, place in (max(margins[1:] or margins), max(needs)) if need > diagonal}
    for place, need in short.items():
        problem = f"no room: {total} objects need {need:.4g}; the area's diagonal is {diagonal:.4g}"
        yield PathDiagnostic((*at, *place), problem, "widen the area, lower the numbers, or use fewer objects")
    shown, most = _least_pixels(frame, total) if pixels else [0], math.prod(stage.size)
    if max(shown, default=0) <= most < sum(shown):
        problem = f"the visible pixels of all objects add up to {sum(shown)}; the image has {most}"
        yield PathDiagnostic(pixels[-1], problem, "lower one of the numbers")
    if frame.constraints and free < total > 1:
        yield from _location_diagnostics(frame, stage, at)


def _least_pixels(frame: FrameSpec, total: int) -> list[int]:
    """Return the least visible pixels of each object; no pixel shows two."""
    floors = dict.fromkeys((object_name(item, k) for k, item in enumerate(frame.objects)), 0)
    floors |= {f"object-{k}": 0 for k in range(len(floors), total)}
    for constraint in frame.constraints:
        for name in constraint.objects or floors:
            floors[name] = max(floors.get(name, 0), constraint.min_visible_pixels or 0)
    return list(floors.values())


def _location_diagnostics(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Report constraints that contradict the specified locations."""
    fixed = {object_name(item, k): item for k, item in enumerate(frame.objects) if item.location is not None}
    margin = max(stage.placement.relation_threshold, *(c.axis_margin or 0.0 for c in frame.constraints))
    for index, constraint in enumerate(frame.constraints):
        path = (*at, "constraints", index)
        known = fixed if constraint.seen_from is None else {}
        if constraint.relation in RELATIONS and constraint.subject in known and constraint.of in known:
            need = margin if constraint.margin is None else constraint.margin
            most = _most_of(constraint.relation, fixed[constraint.of], fixed[constraint.subject], _behind(frame, stage))
            if constraint.subject != constraint.of and most < need - _ROUNDED:
                problem = f"the locations contradict it: {_in_words(constraint)} by {most:.3g}; allowed: above {need:g}"
                yield PathDiagnostic(path, problem, "move one of the two, or leave the constraint out")
        need_distance, need_gap = constraint.min_distance, constraint.axis_margin
        for (name, a), (other, b) in combinations(fixed.items(), 2) if need_distance or need_gap else ():
            apart = math.hypot(*_relative_location(a, b))
            near = ("min_distance", apart - _least_scale(a, stage) - _least_scale(b, stage), need_distance)
            for key, most, least in (near, ("axis_margin", apart / math.sqrt(2), need_gap)):
                if least is not None and most < least - _ROUNDED:
                    problem = f"found {least:g}; the locations of {name} and {other} allow at most {max(most, 0.0):.3g}"
                    yield PathDiagnostic((*path, key), problem, "move them apart, or lower the number")


def _relative_location(a: ObjectSpec, b: ObjectSpec) -> tuple[float, float]:
    """Return the location of b relative to that of a, on the ground."""
    assert a.location is not None and b.location is not None
    return b.location[0] - a.location[0], b.location[1] - a.location[1]


def _behind(frame: FrameSpec, stage: Stage) -> tuple[float, float]:
    """Return the angle of `behind` on the ground, and by how much it may differ, radians: jitter turns the camera."""
    if stage.pixels == "center":
        return 0.0, math.pi  # directions of flat stages don't follow the camera, and are not checked
    spec, base = (frame.views[0] if frame.views else frame.camera or CameraSpec()), stage.camera
    if orbits(spec, stage):
        known = spec.yaw_deg is not None and abs(spec.elevation_deg or 0.0) < 89
        return math.radians((spec.yaw_deg or 0.0) + 90), 0.0 if known else math.pi
    location, aim = spec.location or base.location, spec.look_at or base.look_at
    x, y = aim[0] - location[0], aim[1] - location[1]
    default = base.jitter if spec.location is None else 0.0
    jitter = math.sqrt(2) * (default if spec.jitter is None else spec.jitter)
    return math.atan2(y, x), math.asin(jitter / math.hypot(x, y)) if jitter + 1e-3 < math.hypot(x, y) else math.pi


def _most_of(relation: str, of: ObjectSpec, subject: ObjectSpec, behind: tuple[float, float]) -> float:
    """Return by how much a relation of two objects with locations can hold at most."""
    x, y = _relative_location(of, subject)
    quarters = ("behind", "left", "front", "right").index(relation)
    off = abs(math.remainder(math.atan2(y, x) - behind[0] - quarters * math.pi / 2, math.tau))
    return math.hypot(x, y) * math.cos(max(0.0, off - behind[1]))


def contact_diagnostics(frame: FrameSpec, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    """Report relations of contact and distance that no layout satisfies."""
    carriers: dict[str, str] = {}
    for index, constraint in enumerate(frame.constraints):
        path, relation = (*at, "constraints", index), constraint.relation
        if (constraint.other is not None) != (relation == "between"):
            yield PathDiagnostic(path, "between has other, a second object; allowed: both, or neither")
        if relation not in CONTACTS:
            continue
        if constraint.margin is not None:
            problem = f"given for relation {preview_json(relation)}; allowed: only for left, right, front and behind"
            yield PathDiagnostic((*path, "margin"), problem)
        if stage is not None and (stage.ground is None or stage.places is not None):
            problem = f"found {preview_json(relation)}; stage {stage.name!r} has no ground to stand on"
            yield PathDiagnostic((*path, "relation"), problem)
        if frame.pointer is not None:
            yield PathDiagnostic((*path, "relation"), f"found {preview_json(relation)} in a frame with a pointer")
        if relation not in SUPPORTED or constraint.subject is None or constraint.of is None:
            continue
        chain = [constraint.of]
        while chain[-1] in carriers and len(chain) <= len(carriers):
            chain.append(carriers[chain[-1]])
        if constraint.subject in carriers:
            problem = f"{constraint.subject} has two supports, {carriers[constraint.subject]} and {constraint.of}"
            yield PathDiagnostic(path, problem, "state one of them")
        elif constraint.subject in chain:
            cycle = " on ".join([constraint.subject, *chain[: chain.index(constraint.subject) + 1]])
            yield PathDiagnostic(path, f"contradictory relations: {cycle}", "leave one of them out")
        else:
            carriers[constraint.subject] = constraint.of
    yield from _raised_diagnostics(frame, at)


def _raised_diagnostics(frame: FrameSpec, at: Path) -> Iterator[PathDiagnostic]:
    """Report objects that would float: beside an object that stands on another one, or leaning on it."""
    carriers = {name: of for name, (_, of) in supports(frame.constraints).items()}
    for index, constraint in enumerate(frame.constraints):
        subject, of, relation = constraint.subject, constraint.of, constraint.relation
        if subject is None or of is None or relation not in ("touching", "leaning"):
            continue
        if relation == "touching" and (carriers.get(subject) == of or carriers.get(of) == subject):
            continue
        for name in (subject, of) if relation == "touching" else (of,):
            if name in carriers:
                problem = f"{carriers[name]} carries {name}, so {of if name == subject else subject} would float"
                hint = f"use {relation} for objects that stand on the ground"
                yield PathDiagnostic((*at, "constraints", index), problem, hint)
                break


def supports(constraints: Iterable[ConstraintSpec]) -> dict[str, tuple[str, str]]:
    """Return object -> how and by which object it is carried: as stated, or on what is stated to be under it."""
    carriers: dict[str, tuple[str, str]] = {}
    for c in sorted(constraints, key=lambda c: c.relation == "under"):
        if c.subject is not None and c.of is not None and c.relation in (*SUPPORTED, "under"):
            above, below = (c.of, c.subject) if c.relation == "under" else (c.subject, c.of)
            carriers.setdefault(above, ("on" if c.relation == "under" else c.relation, below))
    return carriers
