"""Checks that a layout can exist: distances and pixels against the space, specified locations against constraints.

Bounds hold for every camera and every draw, so whatever is reported here fails in the compiler, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

from diorama.scene_specs.checks.layout_checks import in_words, least_scale
from diorama.scene_specs.language.diagnostics import PathDiagnostic
from diorama.scene_specs.language.spec import AreaSpec, CameraSpec, FrameSpec, ObjectSpec, object_name
from diorama.scene_specs.language.stage import Stage
from diorama.scene_specs.language.strict_json import Path

_ROUNDED = 1e-6


def room_diagnostics(frame: FrameSpec, stage: Stage, area: AreaSpec, at: Path) -> Iterator[PathDiagnostic]:
    """Report what no layout of the frame can satisfy."""
    base = stage.placement
    total = len(frame.objects) + (frame.random_objects.bounds[0] if frame.random_objects is not None else 0)
    free = total - sum(item.location is not None for item in frame.objects) if stage.places is None else 0
    diagonal = math.dist((area.x[0], area.y[0]), (area.x[1], area.y[1]))
    gap = max((c.min_distance for c in frame.constraints if c.min_distance is not None), default=base.min_distance)
    beside = 0 < gap <= diagonal and free == total > 1
    sizes = sorted(least_scale(item, stage) for item in frame.objects)[-2:] if beside else [-gap]
    needs: list[tuple[float, Path]] = [(gap + sum(sizes), ("objects",))]
    margins: list[tuple[float, Path]] = [((free - 1) * base.axis_margin, ("objects",))]
    pixels: list[Path] = []
    for index, constraint in enumerate(frame.constraints):
        for key, times, found in (("min_distance", min(total - 1, 1), needs), ("axis_margin", total - 1, margins)):
            if (value := getattr(constraint, key)) is not None:
                found.append((times * value, ("constraints", index, key)))
        if constraint.min_visible_pixels:
            pixels.append((*at, "constraints", index, "min_visible_pixels"))
    # What the frame states replaces the margin of the stage.
    short = {place: need for need, place in (max(margins[1:] or margins), max(needs)) if need > diagonal}
    for place, need in short.items():
        problem = f"no room: {total} objects need {need:.4g}; the area's diagonal is {diagonal:.4g}"
        yield PathDiagnostic((*at, *place), problem, "widen the area, lower the numbers, or use fewer objects")
    shown, most = _pixels(frame, total) if pixels else [0], math.prod(stage.size)
    if max(shown, default=0) <= most < sum(shown):
        problem = f"the visible pixels of all objects add up to {sum(shown)}; the image has {most}"
        yield PathDiagnostic(pixels[-1], problem, "lower one of the numbers")
    if frame.constraints and free < total > 1:
        yield from _locations(frame, stage, at)


def _pixels(frame: FrameSpec, total: int) -> list[int]:
    """Return the least visible pixels of each object; no pixel shows two."""
    floors = dict.fromkeys((object_name(item, k) for k, item in enumerate(frame.objects)), 0)
    floors |= {f"object-{k}": 0 for k in range(len(floors), total)}
    for constraint in frame.constraints:
        for name in constraint.objects or floors:
            floors[name] = max(floors.get(name, 0), constraint.min_visible_pixels or 0)
    return list(floors.values())


def _locations(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Report constraints that contradict the specified locations."""
    fixed = {object_name(item, k): item for k, item in enumerate(frame.objects) if item.location is not None}
    margin = max(stage.placement.relation_threshold, *(c.axis_margin or 0.0 for c in frame.constraints))
    for index, constraint in enumerate(frame.constraints):
        path = (*at, "constraints", index)
        if constraint.relation is not None and constraint.subject in fixed and constraint.of in fixed:
            need = margin if constraint.margin is None else constraint.margin
            most = _most(constraint.relation, fixed[constraint.of], fixed[constraint.subject], _behind(frame, stage))
            if constraint.subject != constraint.of and most < need - _ROUNDED:
                problem = f"the locations contradict it: {in_words(constraint)} by {most:.3g}; allowed: above {need:g}"
                yield PathDiagnostic(path, problem, "move one of the two, or leave the constraint out")
        need_distance, need_gap = constraint.min_distance, constraint.axis_margin
        for (one, a), (two, b) in combinations(fixed.items(), 2) if need_distance or need_gap else ():
            apart = math.hypot(*_apart(a, b))
            near = ("min_distance", apart - least_scale(a, stage) - least_scale(b, stage), need_distance)
            for key, most, least in (near, ("axis_margin", apart / math.sqrt(2), need_gap)):
                if least is not None and most < least - _ROUNDED:
                    problem = f"found {least:g}; the locations of {one} and {two} allow at most {max(most, 0.0):.3g}"
                    yield PathDiagnostic((*path, key), problem, "move them apart, or lower the number")


def _apart(a: ObjectSpec, b: ObjectSpec) -> tuple[float, float]:
    """Return the location of b relative to that of a, on the ground."""
    assert a.location is not None and b.location is not None
    return b.location[0] - a.location[0], b.location[1] - a.location[1]


def _behind(frame: FrameSpec, stage: Stage) -> tuple[float, float]:
    """Return the angle of `behind` on the ground, and by how much it may differ, radians: jitter turns the camera."""
    if stage.pixels == "center":
        return 0.0, math.pi  # directions of flat stages don't follow the camera, and are not checked
    spec, base = (frame.views[0] if frame.views else frame.camera or CameraSpec()), stage.camera
    orbit = (spec.yaw_deg, spec.elevation_deg, spec.distance, spec.framing, base.framing)
    if spec.location is None and any(value is not None for value in orbit):
        known = spec.yaw_deg is not None and abs(spec.elevation_deg or 0.0) < 89
        return math.radians((spec.yaw_deg or 0.0) + 90), 0.0 if known else math.pi
    location, aim = spec.location or base.location, spec.look_at or base.look_at
    x, y = aim[0] - location[0], aim[1] - location[1]
    default = base.jitter if spec.location is None else 0.0
    jitter = math.sqrt(2) * (default if spec.jitter is None else spec.jitter)
    return math.atan2(y, x), math.asin(jitter / math.hypot(x, y)) if jitter + 1e-3 < math.hypot(x, y) else math.pi


def _most(relation: str, of: ObjectSpec, subject: ObjectSpec, behind: tuple[float, float]) -> float:
    """Return by how much a relation of two objects with locations can hold at most."""
    x, y = _apart(of, subject)
    quarters = ("behind", "left", "front", "right").index(relation)
    off = abs(math.remainder(math.atan2(y, x) - behind[0] - quarters * math.pi / 2, math.tau))
    return math.hypot(x, y) * math.cos(max(0.0, off - behind[1]))
