"""The rules of a frame: of its layout, as arrays over its objects, and which object carries which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diorama.render.compiler.attributes import Item
from diorama.render.geometry.observer import clear_sides, front_of
from diorama.scene_specs.checks.layout_checks import supports
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.language.vocabulary import CONTACTS, RELATIONS, name_or_none
from diorama.scene_specs.model.scene import SceneContact
from diorama.scene_specs.model.spec import ConstraintSpec, FrameSpec
from diorama.scene_specs.model.stage import StagePlacement
from diorama.scene_specs.rotation import Floats, Vec
from diorama.scene_specs.shapes.convex_hull import convex_hull

# Cosine of 40 degrees; see `clear_sides`. Annotations are less strict, as an eye is not above the middle of a person.
_CLEARLY = 0.766
Outline = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Demand:
    """A demand that object `high` is more than `margin` further along an axis (0 right, 1 front) than object `low`."""

    axis: int
    low: int
    high: int
    margin: float
    label: str


@dataclass(frozen=True)
class Distance:
    """A demand on the locations of two or three objects.

    Attributes:
        objects: numbers; one object may occur twice.
        test: whether x, y of the objects satisfy it.
    """

    Test = Callable[[Sequence[tuple[float, float]]], bool]
    objects: tuple[int, ...]
    label: str
    test: Test


@dataclass(frozen=True)
class Rules:
    """The rules of a layout of n objects.

    `min_distance`, `axis_margin` and `in_frame` hold for objects that the layout places; for all objects where the
    frame states them (`*_stated`).

    Attributes:
        fixed: (n,) which objects have specified locations.
        scales: (n,) Blender units.
        radii: (n,) radius of the footprint, Blender units.
        hulls: outlines of the footprints, None for a disc.
        visible: minimum visible pixels of each object.
        visible_stated: whether the frame states this minimum.
        front_margin: whether `axis_margin` holds along front, too; in the quadrants of a pointer it does not.
    """

    names: tuple[str, ...]
    fixed: NDArray[np.bool_]
    scales: Floats
    radii: Floats
    hulls: tuple[tuple[tuple[float, float], ...] | None, ...]
    min_distance: float
    axis_margin: float
    in_frame: bool
    distance_stated: bool
    margin_stated: bool
    frame_stated: bool
    visible: tuple[int, ...]
    visible_stated: tuple[bool, ...]
    demands: tuple[Demand, ...]
    front_margin: bool = True
    distances: tuple[Distance, ...] = ()

    def margin(self, axis: int) -> float:
        """Return the minimum difference along right (axis 0) or front (axis 1)."""
        return self.axis_margin if axis == 0 or self.front_margin else 0.0

    @property
    def distance_label(self) -> str:
        """Name of the rule in messages."""
        return f"min_distance {self.min_distance:g}"

    @property
    def margin_label(self) -> str:
        """Name of the rule in messages."""
        return f"axis_margin {self.axis_margin:g}"

    def visible_label(self, index: int) -> str:
        """Name the rule for messages."""
        return f"min_visible_pixels {self.visible[index]} of {self.names[index]}"

    def gap(self, first: int, second: int, dx: Floats, dy: Floats) -> Floats:
        """Return the distance between the footprints of two objects.

        Args:
            dx: x of the second location minus that of the first.
            dy: y of the second location minus that of the first.
        """
        discs = np.sqrt(dx * dx + dy * dy) - self.radii[first] - self.radii[second]
        if self.hulls[first] is None and self.hulls[second] is None:
            return np.asarray(discs)
        disc_radii = sum(float(self.radii[k]) for k in (first, second) if self.hulls[k] is None)
        outline = _apart(self.hulls[first], self.hulls[second])
        return np.asarray(np.maximum(discs, clearance(dx, dy, outline) - disc_radii))

    def least(self, axis: int) -> Floats:
        """Compute how much further along the axis object j (column) must be than i (row), including chains of demands.

        Returns:
            (n, n), -inf without a demand. A diagonal element of 0 or more means that the demands contradict each other.
        """
        table = np.full((len(self.names), len(self.names)), -np.inf)
        for demand in self.demands:
            if demand.axis == axis:
                table[demand.low, demand.high] = max(table[demand.low, demand.high], demand.margin)
        for k in range(len(table)):
            table = np.maximum(table, table[:, k : k + 1] + table[k : k + 1, :])
        return table


def difference(first: Outline | None, second: Outline | None) -> Floats:
    """Return the Minkowski difference of two convex outlines, (N, 2), counter-clockwise. None stands for a point.

    The outlines overlap where the origin of the second, relative to that of the first, lies in it.
    """
    a = np.array(first or [(0.0, 0.0)])
    b = np.array(second or [(0.0, 0.0)])
    sums = (a[:, None, :] - b[None, :, :]).reshape(-1, 2)
    return np.array(convex_hull(sums))


# The layouts of a frame ask again and again.
_apart = lru_cache(maxsize=256)(difference)


def clearance(x: Floats, y: Floats, outline: Floats) -> Floats:
    """Return the distance of points x, y from a convex, counter-clockwise outline (N, 2); negative inside."""
    ends = np.roll(outline, -1, axis=0)
    nearest = np.full(np.shape(x), np.inf)
    inside = np.ones(np.shape(x), dtype=bool)
    for (ax, ay), (bx, by) in zip(outline.tolist(), ends.tolist(), strict=True):
        ex, ey = bx - ax, by - ay
        length2 = max(ex * ex + ey * ey, 1e-18)
        px, py = x - ax, y - ay
        share = np.clip((px * ex + py * ey) / length2, 0.0, 1.0)
        qx, qy = px - share * ex, py - share * ey
        nearest = np.minimum(nearest, qx * qx + qy * qy)
        inside &= ex * py - ey * px >= 0
    distance = np.sqrt(nearest)
    return np.where(inside & (len(outline) > 2), -distance, distance)


def _side_demand(
    spec: ConstraintSpec, items: Sequence[Item], rules: tuple[float, float, float], aims: Mapping[str, str | Vec]
) -> Demand | Distance:
    """Return a demand of a side.

    Args:
        rules: relation threshold, axis margin of objects that the layout places, and axis margin stated for all or 0.
        aims: what observers look at, by name.
    """
    assert spec.subject is not None and spec.of is not None
    names = [item.name for item in items]
    subject, of = names.index(spec.subject), names.index(spec.of)
    # The margin of the stage does not apply where both locations are specified.
    threshold, drawn, stated = rules
    fixed = items[subject].location is not None and items[of].location is not None
    margin = max(threshold, stated if fixed else drawn) if spec.margin is None else spec.margin
    label = f"{spec.subject} {spec.relation} of {spec.of} by {margin:g}"
    if spec.seen_from is not None:
        return _seen_demand(spec, items, aims.get(spec.seen_from), margin, label)
    upward = spec.relation in ("right", "front")
    low, high = (of, subject) if upward else (subject, of)
    return Demand(0 if spec.relation in ("left", "right") else 1, low, high, margin, label)


def _seen_demand(
    spec: ConstraintSpec, items: Sequence[Item], aim: str | Vec | None, margin: float, label: str
) -> Distance:
    """Return a demand of a side that the camera does not see, but an observer or the other object itself.

    Args:
        aim: what the observer looks at; None for an object with a front of its own.
    """
    numbers = {item.name: k for k, item in enumerate(items)}
    viewer = items[numbers[spec.seen_from or ""]]
    front = front_of(viewer.shape, viewer.rotation_deg, viewer.front_deg)
    if front is None:
        raise CompileError(f"{label}, seen from {viewer.name}: it is tilted, so that its sides are not clear")

    def test(places: Sequence[tuple[float, float]]) -> bool:
        subject, of, eye, target = places
        goal = aim if isinstance(aim, tuple) else target
        # From the middle of the person, where an eye is only known with the pose.
        ahead = front if aim is None else (goal[0] - eye[0], goal[1] - eye[1])
        seer = None if spec.seen_from == spec.of else eye
        return spec.relation in clear_sides(subject, of, ahead, seer, margin, _CLEARLY)

    named = [spec.subject, spec.of, spec.seen_from, name_or_none(aim) or spec.of]
    return Distance(tuple(numbers[name or ""] for name in named), f"{label}, seen from {viewer.name}", test)


def rules_of(frame: FrameSpec, items: Sequence[Item], placement: StagePlacement) -> Rules:
    """Return the rules of a frame."""
    names = tuple(item.name for item in items)
    fixed = [item.location is not None for item in items]
    stated = frame.constraints
    distances = [c.min_distance for c in stated if c.min_distance is not None]
    margins = [c.axis_margin for c in stated if c.axis_margin is not None]
    frames = [c.in_frame for c in stated if c.in_frame is not None]
    axis_margin = max(margins, default=placement.axis_margin)
    visible: dict[int, int] = {}
    for constraint in stated:
        pixels = constraint.min_visible_pixels
        if pixels is not None:
            for name in names if constraint.objects is None else constraint.objects:
                k = names.index(name)
                visible[k] = max(visible.get(k, pixels), pixels)
    margins_of = (placement.relation_threshold, axis_margin, max(margins, default=0.0))
    aims = {person.name: person.looks_at for person in frame.observers}
    sides = [_side_demand(c, items, margins_of, aims) for c in stated if c.relation in RELATIONS]
    return Rules(
        names=names,
        fixed=np.array(fixed, dtype=bool),
        scales=np.array([item.scale for item in items], dtype=np.float64),
        radii=np.array([item.radius for item in items], dtype=np.float64),
        hulls=tuple(item.hull for item in items),
        min_distance=max(distances, default=placement.min_distance),
        axis_margin=axis_margin,
        in_frame=any(frames) if frames else placement.in_frame,
        distance_stated=bool(distances),
        margin_stated=bool(margins),
        frame_stated=any(frames),
        visible=tuple(visible.get(k, placement.min_visible_pixels) for k in range(len(names))),
        visible_stated=tuple(k in visible for k in range(len(names))),
        demands=tuple(side for side in sides if isinstance(side, Demand)),
        distances=tuple(side for side in sides if isinstance(side, Distance)),
    )


def claims_of(frame: FrameSpec) -> tuple[SceneContact, ...]:
    """Return the relations of contact and distance that a frame states."""
    stated = (c for c in frame.constraints if c.relation in CONTACTS)
    keys = ("relation", "subject", "of", "other")
    return tuple(SceneContact.model_validate({key: getattr(c, key) for key in keys}) for c in stated)


def carriers_of(frame: FrameSpec, names: Sequence[str]) -> dict[int, tuple[str, int]]:
    """Object -> relation and number of what carries it; objects beside another one follow it, if nothing does."""
    index = {name: k for k, name in enumerate(names)}
    carriers = {index[name]: (relation, index[of]) for name, (relation, of) in supports(frame.constraints).items()}
    for c in frame.constraints:
        if c.relation == "touching":
            assert c.subject is not None and c.of is not None
            subject, parent = index[c.subject], index[c.of]
            if subject in carriers and parent not in carriers:
                subject, parent = parent, subject
            carrier = carriers.setdefault(subject, ("touching", parent))[1]
            if carrier != parent and carriers.get(parent, ("", -1))[1] != subject:
                problem = "both stand on or beside others, and no place is left where they touch"
                raise CompileError(f"{c.subject} touching {c.of}: {problem}; leave one relation out")
    return carriers
