"""Checks that a layout can exist at all: pixels and distances against the space, locations against constraints.

Bounds hold for every camera and every draw, so whatever is reported here fails in the compiler, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

from scene_specs.checks.layout_checks import in_words, least_scale
from scene_specs.language.diagnostics import PathDiagnostic
from scene_specs.language.spec import AreaSpec, CameraSpec, ConstraintSpec, FrameSpec, ObjectSpec, object_name
from scene_specs.language.stage import Stage
from scene_specs.language.strict_json import Path

_ROUNDED = 1e-6
_WIDER = "widen the area, or lower the number"


def room_diagnostics(frame: FrameSpec, stage: Stage, area: AreaSpec, at: Path) -> Iterator[PathDiagnostic]:
    """Report constraints that no layout of the frame can satisfy."""
    count = frame.random_objects.count if frame.random_objects is not None else 0
    total = len(frame.objects) + (count[0] if isinstance(count, tuple) else count)
    free = total - sum(item.location is not None for item in frame.objects) if stage.places is None else 0
    diagonal = math.dist((area.x[0], area.y[0]), (area.x[1], area.y[1]))
    fit = f"the diagonal of the area, {diagonal:.4g}"
    stated_margin = False
    for index, constraint in enumerate(frame.constraints):
        path = (*at, "constraints", index)
        distance, margin = constraint.min_distance or 0.0, constraint.axis_margin
        stated_margin = stated_margin or margin is not None
        if total > 1 and distance > diagonal:
            yield PathDiagnostic((*path, "min_distance"), f"found {distance:g}; allowed: at most {fit}", _WIDER)
        if (total - 1) * (margin or 0.0) > diagonal:
            problem = f"found {margin:g} for {total} objects, {(total - 1) * (margin or 0.0):.4g} in a row"
            yield PathDiagnostic((*path, "axis_margin"), f"{problem}; allowed: at most {fit}", _WIDER)
    margin = stage.placement.axis_margin
    if not stated_margin and (free - 1) * margin > diagonal:
        problem = (
            f"no room for {free} objects without a location: {margin:g} apart, they need {(free - 1) * margin:.4g}"
        )
        hint = 'widen the area, use fewer objects, or add the constraint {"axis_margin": 0}'
        yield PathDiagnostic((*at, "objects" if frame.objects else "random_objects"), f"{problem} of {fit}", hint)
    if free > 0:
        yield from _sizes(frame, stage, fit, diagonal, at)
    if any(constraint.min_visible_pixels for constraint in frame.constraints):
        yield from _pixels(frame, stage, total, free, at)
    if frame.constraints and free < total > 1:
        yield from _locations(frame, stage, at)


def _sizes(frame: FrameSpec, stage: Stage, fit: str, diagonal: float, at: Path) -> Iterator[PathDiagnostic]:
    """Report the largest object if another one has no room beside it."""
    stated = [c.min_distance for c in frame.constraints if c.min_distance is not None]
    gap = max(stated) if stated else stage.placement.min_distance
    ranked = sorted(((least_scale(item, stage), k) for k, item in enumerate(frame.objects)), reverse=True)[:2]
    if len(ranked) < 2 or not gap or all(frame.objects[k].location is not None for _, k in ranked):
        return
    need = ranked[0][0] + ranked[1][0] + gap
    if need > diagonal >= gap:
        problem = f"no room: objects[{ranked[0][1]}] and objects[{ranked[1][1]}] need {need:.4g} of {fit}"
        yield PathDiagnostic((*at, "objects", ranked[0][1], "size"), problem, "lower the size, or widen the area")


def _pixels(frame: FrameSpec, stage: Stage, total: int, free: int, at: Path) -> Iterator[PathDiagnostic]:
    """Report visible pixels that are more than the image has: each pixel shows one object."""
    names = [object_name(item, k) for k, item in enumerate(frame.objects)]
    floors = [0] * len(names)
    rest, last = stage.placement.min_visible_pixels if free else 0, None
    for index, constraint in enumerate(frame.constraints):
        pixels = constraint.min_visible_pixels or 0
        floors = [
            max(f, pixels) if n in (constraint.objects or names) else f for n, f in zip(names, floors, strict=True)
        ]
        rest = max(rest, pixels) if constraint.objects is None else rest
        last = index if pixels else last
    need, most = sum(floors) + (total - len(names)) * rest, math.prod(stage.size)
    if last is not None and max(*floors, rest, 0) <= most < need:
        problem = (
            f"the visible pixels of all objects add up to {need}; allowed: at most {most}, the pixels of the image"
        )
        yield PathDiagnostic((*at, "constraints", last, "min_visible_pixels"), problem, "lower it")


def _locations(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Report constraints that contradict the specified locations."""
    fixed = {object_name(item, k): item for k, item in enumerate(frame.objects) if item.location is not None}
    stated = max((c.axis_margin or 0.0 for c in frame.constraints), default=0.0)
    margin = max(stage.placement.relation_threshold, stated)
    for index, constraint in enumerate(frame.constraints):
        path = (*at, "constraints", index)
        if constraint.relation is not None and constraint.subject in fixed and constraint.of in fixed:
            need = margin if constraint.margin is None else constraint.margin
            x, y = _apart(fixed[constraint.of], fixed[constraint.subject])
            most = _most(constraint, x, y, _backwards(frame, stage))
            if constraint.subject != constraint.of and most < need - _ROUNDED:
                problem = f"the locations contradict it: {in_words(constraint)} by {most:.3g}; allowed: above {need:g}"
                yield PathDiagnostic(path, problem, "move one of the two, or leave the constraint out")
        distance, gap = constraint.min_distance or 0.0, constraint.axis_margin or 0.0
        for (one, a), (two, b) in combinations(fixed.items(), 2) if distance or gap else ():
            apart = math.hypot(*_apart(a, b))
            near = ("min_distance", apart - least_scale(a, stage) - least_scale(b, stage), distance)
            for key, most, need in (near, ("axis_margin", apart / math.sqrt(2), gap)):
                if most < need - _ROUNDED:
                    problem = f"found {need:g}; the locations of {one} and {two} allow at most {max(most, 0.0):.3g}"
                    yield PathDiagnostic((*path, key), problem, "move them apart, or lower the number")


def _apart(a: ObjectSpec, b: ObjectSpec) -> tuple[float, float]:
    """Return the location of b relative to that of a, on the ground."""
    assert a.location is not None and b.location is not None
    return b.location[0] - a.location[0], b.location[1] - a.location[1]


def _backwards(frame: FrameSpec, stage: Stage) -> tuple[float, float]:
    """Return the angle of `behind` on the ground, and by how much jitter may change it, radians."""
    spec, base = (frame.views[0] if frame.views else frame.camera or CameraSpec()), stage.camera
    orbit = (spec.yaw_deg, spec.elevation_deg, spec.distance, spec.framing)
    if spec.location is None and (base.framing is not None or any(value is not None for value in orbit)):
        x, y, z = (b - a for a, b in zip(base.location, base.look_at, strict=True))
        steep = math.degrees(math.atan2(abs(z), math.hypot(x, y))) if spec.elevation_deg is None else spec.elevation_deg
        yaw = math.atan2(y, x) if spec.yaw_deg is None else math.radians(spec.yaw_deg) + math.pi / 2
        return yaw, math.pi if abs(steep) > 89 else 0.0
    location, aim = spec.location or base.location, spec.look_at or base.look_at
    flat = math.hypot(aim[0] - location[0], aim[1] - location[1])
    default = base.jitter if spec.location is None else 0.0
    jitter = math.sqrt(2) * (default if spec.jitter is None else spec.jitter)
    turn = math.asin(jitter / flat) if jitter < flat and flat > 1e-3 else math.pi
    return math.atan2(aim[1] - location[1], aim[0] - location[0]), turn


def _most(constraint: ConstraintSpec, x: float, y: float, backwards: tuple[float, float]) -> float:
    """Return by how much a relation can hold at most, for the location of the subject relative to the other object."""
    angle, turn = backwards
    quarters = {"behind": 0, "left": 1, "front": 2, "right": 3}[constraint.relation or "left"]
    off = abs(math.remainder(math.atan2(y, x) - angle - quarters * math.pi / 2, math.tau))
    return math.hypot(x, y) * math.cos(max(0.0, off - turn))
