"""Layouts that no search can find: relations in a circle, places outside the area, two objects in one place.

Each check is certain for any camera the frame may get, so a spec that passes may still fail in the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scene_specs.language.diagnostics import PathDiagnostic, preview_json
from scene_specs.language.spec import AreaSpec, ConstraintSpec, FrameSpec, ObjectSpec, object_name
from scene_specs.language.stage import Stage
from scene_specs.language.strict_json import Path
from scene_specs.language.vocabulary import OPPOSITE, SHAPES

# Meshes have rounded edges: touching, or a hair less, is not yet overlapping.
_TOUCH = 1e-3


def layout_issues(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """The issues of a frame's places and relations."""
    area = frame.area or stage.placement.area
    empty = [axis for axis in ("x", "y") if not getattr(area, axis)[0] < getattr(area, axis)[1]]
    for axis in empty:
        yield PathDiagnostic(
            (*at, "area", axis), f"found {preview_json(getattr(area, axis))}; allowed: [least, greatest]"
        )
    if not empty:
        yield from _outside(frame, area, at)
        yield from _relation_issues(frame, stage, area, at)
    yield from _overlaps(frame, stage, at)


def _outside(frame: FrameSpec, area: AreaSpec, at: Path) -> Iterator[PathDiagnostic]:
    for index, item in enumerate(frame.objects):
        if item.location is None:
            continue
        for axis, value, (least, greatest) in zip("xy", item.location[:2], (area.x, area.y), strict=True):
            if not least <= value <= greatest:
                problem = f"found {axis} = {value:g}, outside the area; allowed: {least:g} to {greatest:g}"
                hint = "give the frame an area that holds it"
                yield PathDiagnostic((*at, "objects", index, "location", "xy".index(axis)), problem, hint)


@dataclass(frozen=True)
class _Body:
    """An object of which the place and the least size are known.

    upright: its cross-section is known at every height. grounded: stands on the ground. guessed: `scale` is the least
    the stage draws; a larger one on the ground would only overlap more of what stands there too.
    """

    index: int
    name: str
    place: tuple[float, float, float]
    scale: float
    upright: bool
    grounded: bool
    guessed: bool


def _body(item: ObjectSpec, index: int, stage: Stage) -> _Body | None:
    if item.location is None or (item.shape is not None and item.shape not in SHAPES) or stage.pixels == "center":
        # What is flat may lie over what is flat.
        return None
    sizes = stage.size_names()
    if isinstance(item.size, str):
        scale = sizes.get(item.size, 0.0)
    else:
        scale = item.size or min((sizes[name] for name in stage.defaults.sizes if name in sizes), default=0.0)
    if not scale:
        return None
    x, y = item.location[:2]
    z = item.location[2] if len(item.location) == 3 else scale
    tilt = item.rotation_deg[:2] if isinstance(item.rotation_deg, tuple) else (0.0, 0.0)
    guessed = item.size is None
    upright = item.shape in ("cube", "cylinder") and not any(tilt) and not guessed
    grounded = len(item.location) == 2
    return _Body(index, object_name(item, index), (x, y, z), scale, upright, grounded, guessed)


def _overlaps(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    bodies = [body for k, item in enumerate(frame.objects) if (body := _body(item, k, stage)) is not None]
    for number, second in enumerate(bodies):
        for first in bodies[:number]:
            if _overlap(first, second):
                places = f"{preview_json(second.place[: len(frame.objects[second.index].location or ())])}"
                problem = (
                    f"found {places}, where object {preview_json(first.name)} (objects[{first.index}]) stands already"
                )
                yield PathDiagnostic(
                    (*at, "objects", second.index, "location"), problem, "two objects can't share a place"
                )
                break


def _overlap(a: _Body, b: _Body) -> bool:
    """Whether two bodies certainly overlap. Shapes hold the sphere of radius `scale`; upright ones the cylinder."""
    if any(one.guessed and one.grounded and not other.grounded for one, other in ((a, b), (b, a))):
        return False
    reach = a.scale + b.scale - _TOUCH
    if math.dist(a.place, b.place) < reach:
        return True
    # Edges are rounded by 5 %; inside 0.9 of height and radius a cylinder is whole.
    flat = math.dist(a.place[:2], b.place[:2])
    return a.upright and b.upright and max(flat, abs(a.place[2] - b.place[2])) < 0.9 * reach


@dataclass(frozen=True)
class _Edge:
    """`low` comes before `high` along an axis (rightwards, or backwards) by `margin`."""

    low: str
    high: str
    margin: float
    constraint: int


def _edges(constraints: Sequence[ConstraintSpec], names: Sequence[str], margin: float, axis: str) -> Iterator[_Edge]:
    """Edges along the axis that `axis` (right or behind) points to; those with unknown names are left to others."""
    for index, c in enumerate(constraints):
        subject, of = c.subject, c.of
        if subject is None or of is None or subject == of or subject not in names or of not in names:
            continue
        gap = margin if c.margin is None else c.margin
        if c.relation == axis:
            yield _Edge(of, subject, gap, index)
        elif c.relation == OPPOSITE[axis]:
            yield _Edge(subject, of, gap, index)


def _relation_issues(frame: FrameSpec, stage: Stage, area: AreaSpec, at: Path) -> Iterator[PathDiagnostic]:
    names = [object_name(item, index) for index, item in enumerate(frame.objects)]
    room = math.dist((area.x[0], area.y[0]), (area.x[1], area.y[1]))
    for axis in ("right", "behind"):
        kept: dict[str, list[_Edge]] = {}
        circle = False
        for edge in _edges(frame.constraints, names, stage.placement.relation_threshold, axis):
            way = _way(kept, edge.high, edge.low)
            if way is None:
                kept.setdefault(edge.low, []).append(edge)
                continue
            circle = True
            chain = ", ".join(_said(frame.constraints[e.constraint]) for e in (*way, edge))
            path = (*at, "constraints", edge.constraint)
            yield PathDiagnostic(path, f"contradictory relations: {chain}", "leave one of them out")
        if not circle:
            yield from _too_long(kept, names, room, axis, at)


def _said(constraint: ConstraintSpec) -> str:
    """A relation in words."""
    words = {"left": "left of", "right": "right of", "front": "in front of", "behind": "behind"}
    return f"{constraint.subject} {words[constraint.relation or 'left']} {constraint.of}"


def _way(edges: dict[str, list[_Edge]], start: str, goal: str) -> list[_Edge] | None:
    """A way from one name to another along edges, None if there is none."""
    came: dict[str, _Edge | None] = {start: None}
    queue = [start]
    for name in queue:
        if name == goal:
            break
        for edge in edges.get(name, ()):
            if edge.high not in came:
                came[edge.high] = edge
                queue.append(edge.high)
    if goal not in came:
        return None
    way: list[_Edge] = []
    while (last := came[goal]) is not None:
        way.append(last)
        goal = last.low
    return way[::-1]


def _too_long(
    edges: dict[str, list[_Edge]], names: Sequence[str], room: float, axis: str, at: Path
) -> Iterator[PathDiagnostic]:
    """A chain of relations that needs more room than the diagonal of the area, the most any direction has."""
    reach = dict.fromkeys(names, 0.0)
    last: _Edge | None = None
    # No circles are left, so a way has fewer edges than there are names.
    for _ in names:
        changed = False
        for edge in (edge for name in names for edge in edges.get(name, ())):
            if reach[edge.low] + edge.margin > reach[edge.high]:
                reach[edge.high] = reach[edge.low] + edge.margin
                changed = True
                last = edge if reach[edge.high] > room else last
        if not changed:
            break
    if last is not None:
        need = f"objects in a row towards {axis} need {max(reach.values()):g}; the area's diagonal is {room:g}"
        yield PathDiagnostic(
            (*at, "constraints", last.constraint), f"no room: {need}", "widen the area or lower the margins"
        )
