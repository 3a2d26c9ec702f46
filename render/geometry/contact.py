"""Bodies in the world, which can touch others, and the relations of those that do.

Everything is computed from meshes with explicit sums, so the same Scene has the same relations on every machine.
Upright bodies are sets of convex prisms, which contain their meshes; a tilted body is one prism.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import numpy as np

from diorama.render.geometry.forms import FLAT, Cavity, Form, Prism, form_of, hull
from diorama.scene_specs.language.vocabulary import BETWEEN, FAR, NEAR
from diorama.scene_specs.model.scene import SceneObject
from diorama.scene_specs.rotation import Floats, Vec, transform

# Blender units by which surfaces that touch may miss each other.
TOUCH = 2e-3
# Degrees from which a body is tilted.
_UPRIGHT = 1e-3
# Directions in which a body may have a vertical face.
SIDES = 4


@dataclass(frozen=True)
class Body:
    """An object with a scale, a rotation and a location; all lengths in the world, Blender units."""

    name: str
    form: Form
    scale: float
    rotation_deg: Vec
    location: Vec

    @property
    def upright(self) -> bool:
        """Whether it is only turned about Z, so that its faces are horizontal and vertical."""
        return self.form.round or max(abs(math.remainder(turn, 360)) for turn in self.rotation_deg[:2]) < _UPRIGHT

    @cached_property
    def vertices(self) -> Floats:
        """Of the mesh, (V, 3)."""
        return transform(self.form.vertices, self.rotation_deg, self.scale, self.location)

    @cached_property
    def center(self) -> Vec:
        """Center of mass."""
        x, y, z = transform(np.array([self.form.center]), self.rotation_deg, self.scale, self.location)[0].tolist()
        return (x, y, z)

    @property
    def mass(self) -> float:
        """Its volume: all bodies have one density."""
        return float(self.form.volume * self.scale**3)

    @cached_property
    def low(self) -> float:
        """Lowest z."""
        return self._z(self.form.low) if self.upright else float(self.vertices[:, 2].min())

    @cached_property
    def high(self) -> float:
        """Highest z."""
        return self._z(self.form.high) if self.upright else float(self.vertices[:, 2].max())

    @cached_property
    def outline(self) -> Floats:
        """Convex outline seen from above."""
        return self._to_world(self.form.outline) if self.upright else hull(self.vertices[:, :2])

    @cached_property
    def base(self) -> Floats:
        """Convex outline of the lowest points: a polygon, a line or a point."""
        x, y, z = self.vertices.T
        lowest = z < self.low + FLAT
        return self._to_world(self.form.base) if self.upright else hull(np.stack([x, y], axis=1)[lowest])

    @cached_property
    def top(self) -> Floats | None:
        """Outline of the flat face on which others can stand."""
        return self._to_world(self.form.top) if self.upright and self.form.top is not None else None

    @cached_property
    def parts(self) -> tuple[Prism, ...]:
        """Prisms that contain it."""
        if not self.upright:
            return (Prism(self.outline, self.low, self.high),)
        return tuple(Prism(self._to_world(p.outline), self._z(p.low), self._z(p.high)) for p in self.form.parts)

    @cached_property
    def cavities(self) -> tuple[Cavity, ...]:
        """Spaces inside, of an upright body."""
        kept = self.form.cavities if self.upright else ()
        return tuple(Cavity(self._to_world(c.outline), self._z(c.floor), self._z(c.end), c.ceiling) for c in kept)

    @cached_property
    def band(self) -> tuple[float, float]:
        """Lowest and highest z at which all corners of its outline are on its surface."""
        low, high = self.form.band if self.upright else (math.inf, -math.inf)
        return (self._z(low), self._z(high))

    def _z(self, z: float) -> float:
        return z * self.scale + self.location[2]

    def _to_world(self, points: Floats) -> Floats:
        turn = math.radians(0.0 if self.form.round else self.rotation_deg[2])
        c, s = math.cos(turn) * self.scale, math.sin(turn) * self.scale
        x, y = points.T
        return np.stack([x * c - y * s + self.location[0], x * s + y * c + self.location[1]], axis=1)

    def side(self, number: int) -> Side:
        """One of the four vertical faces; without area where it has none."""
        angle = math.radians(self.rotation_deg[2]) + number * math.pi / 2
        normal = (math.cos(angle), math.sin(angle))
        x, y, z = self.vertices.T
        reach = x * normal[0] + y * normal[1]
        face = reach > reach.max() - FLAT * self.scale
        along = y[face] * normal[0] - x[face] * normal[1]
        return Side(normal, float(reach.max()), hull(np.stack([along, z[face]], axis=1)))


@dataclass(frozen=True)
class Side:
    """A vertical face: its normal, the distance of its plane from the origin, and its outline (along, z)."""

    normal: tuple[float, float]
    distance: float
    outline: Floats


def body_of(item: SceneObject) -> Body:
    """Return the body of an object of a Scene. Raises AssetError for a mesh that can't be read."""
    return Body(item.name, form_of(item.shape, item.outline), item.scale, item.rotation_deg, item.location)


def depth_in(outline: Floats, points: Floats | Sequence[float]) -> float:
    """Least distance of points (N, 2), or of one, from the border of a counter-clockwise outline.

    It is negative outside the edges' lines.
    """
    if len(outline) < 3:
        return -math.inf
    a, b = outline, np.roll(outline, -1, axis=0)
    ex, ey = b[:, 0] - a[:, 0], b[:, 1] - a[:, 1]
    x, y = np.reshape(points, (-1, 2, 1)).swapaxes(0, 1)
    return float(((ex * (y - a[:, 1]) - ey * (x - a[:, 0])) / np.sqrt(ex * ex + ey * ey)).min())


def gap(first: Floats, second: Floats) -> float:
    """Distance between two convex outlines; where they overlap, minus the way to separate them along an edge."""
    best = -math.inf
    for a, b in ((first, second), (second, first)):
        if len(a) < 2:
            continue
        edge = np.roll(a, -1, axis=0) - a
        normal = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / np.sqrt(edge[:, :1] ** 2 + edge[:, 1:] ** 2)
        reach = b[:, 0] * normal[:, :1] + b[:, 1] * normal[:, 1:]
        best = max(best, float((reach.min(axis=1) - (a[:, 0] * normal[:, 0] + a[:, 1] * normal[:, 1])).max()))
    if best <= 0:
        return best
    return math.sqrt(min(_nearest_squared(first, second), _nearest_squared(second, first)))


def _nearest_squared(points: Floats, outline: Floats) -> float:
    """Squared distance of the nearest of some points from the border of an outline."""
    a, edge = outline[None], (np.roll(outline, -1, axis=0) - outline)[None]
    away = points[:, None] - a
    length2 = np.maximum(edge[..., 0] ** 2 + edge[..., 1] ** 2, 1e-18)
    share = np.clip((away[..., 0] * edge[..., 0] + away[..., 1] * edge[..., 1]) / length2, 0.0, 1.0)
    x, y = away[..., 0] - share * edge[..., 0], away[..., 1] - share * edge[..., 1]
    return float((x * x + y * y).min())


def closer(first: Body, second: Body, distance: float) -> bool:
    """Whether prisms of two bodies are nearer than a distance, both upwards and seen from above."""
    if _boxes_apart(first.outline, second.outline, distance):
        return False
    for a in first.parts:
        for b in second.parts:
            level = max(a.low, b.low) - min(a.high, b.high) < distance
            if level and not _boxes_apart(a.outline, b.outline, distance) and gap(a.outline, b.outline) < distance:
                return True
    return False


def _boxes_apart(a: Floats, b: Floats, distance: float) -> bool:
    """Whether the boxes of two outlines are so far apart."""
    return bool((np.maximum(a.min(axis=0) - b.max(axis=0), b.min(axis=0) - a.max(axis=0)) >= distance).any())


def rests_on(body: Body, support: Body) -> bool:
    """Whether a body stands on the top of another one, with its center of mass over it."""
    if support.top is None or abs(body.low - support.high) > TOUCH:
        return False
    return depth_in(support.top, body.center[:2]) >= 0


def floor_of(body: Body, holder: Body) -> Cavity | None:
    """Return the space of a holder in which a body is: its center of mass, and all of its outline."""
    for space in holder.cavities:
        level = space.floor - TOUCH <= body.low and body.center[2] <= space.end
        over = level and depth_in(space.outline, body.center[:2]) >= 0
        if over and depth_in(space.outline, body.outline) >= -TOUCH:
            return space
    return None


def leans_on(body: Body, support: Body) -> bool:
    """Whether the highest edge of a tilted body touches a vertical face of an upright one."""
    if body.upright or not support.upright:
        return False
    return any(_touches_side(body, support.side(k)) for k in range(SIDES))


def _touches_side(body: Body, side: Side) -> bool:
    x, y, z = body.vertices.T
    reach = x * side.normal[0] + y * side.normal[1]
    touching = reach < reach.min() + FLAT
    if abs(reach.min() - side.distance) > TOUCH or len(side.outline) < 3:
        return False
    along = (y * side.normal[0] - x * side.normal[1])[touching]
    middle = (float(along.min() + along.max()) / 2, float(z[touching].mean()))
    return float(z[touching].min()) > body.low + TOUCH and depth_in(side.outline, middle) >= 0


def beside(first: Body, second: Body) -> bool:
    """Whether two upright bodies touch with their sides."""
    low, high = max(first.band[0], second.band[0]), min(first.band[1], second.band[1])
    return high - low > -1e-6 and abs(gap(first.outline, second.outline)) <= TOUCH


def contact_relations(objects: Sequence[SceneObject]) -> dict[str, dict[str, list[str]]]:
    """Return the relations of objects, see `relations_of_bodies`. Raises AssetError for a mesh that can't be read."""
    return relations_of_bodies([body_of(item) for item in objects])


def relations_of_bodies(bodies: Sequence[Body]) -> dict[str, dict[str, list[str]]]:
    """Return relation -> name of A -> names of all B in this relation to it, in the order of the objects.

    `on`, `in`, `leaning`; `under`: B carries A, directly or through others that stand on it; `touching`; `near` and
    `far`, by the distance of outlines; and `between`, whose keys are pairs of names, "A | B".
    """
    names = [body.name for body in bodies]
    table: dict[str, dict[str, list[str]]] = {
        name: {own: [] for own in names} for name in ("on", "in", "under", "leaning", "touching", "near", "far")
    }
    pairs = [*permutations(range(len(bodies)), 2)]
    standing: list[list[int]] = [[] for _ in bodies]
    carried = set()
    apart = {}
    for a, b in combinations(range(len(bodies)), 2):
        apart[a, b] = apart[b, a] = gap(bodies[a].outline, bodies[b].outline)
    for a, b in pairs:
        holder, body = bodies[a], bodies[b]
        space, rests, leans = floor_of(body, holder), rests_on(body, holder), leans_on(body, holder)
        if rests:
            standing[b].append(a)
        if rests or leans or (space is not None and abs(body.low - space.floor) <= TOUCH):
            carried |= {(a, b), (b, a)}
        near, far = apart[a, b] <= NEAR, apart[a, b] >= FAR
        holds = {"on": rests, "in": space is not None, "leaning": leans, "near": near, "far": far}
        for relation, true in holds.items():
            if true:
                table[relation][names[a]].append(names[b])
    for a, b in pairs:
        close = apart[a, b] <= TOUCH and bodies[a].upright and bodies[b].upright
        if b in _bodies_below(a, standing):
            table["under"][names[a]].append(names[b])
        if (a, b) in carried or (close and beside(bodies[a], bodies[b])):
            table["touching"][names[a]].append(names[b])
    table["between"] = {}
    for a, b in combinations(range(len(bodies)), 2):
        ends = (bodies[a].location, bodies[b].location)
        inside = [names[k] for k in range(len(bodies)) if k not in (a, b) and is_between(bodies[k].location, *ends)]
        if inside:
            table["between"][f"{names[a]} | {names[b]}"] = inside
    return table


def _bodies_below(index: int, carried: Sequence[Sequence[int]]) -> list[int]:
    below = list(carried[index])
    for k in below:
        below += [j for j in carried[k] if j not in below]
    return below


def is_between(point: Sequence[float], start: Sequence[float], end: Sequence[float]) -> bool:
    """Whether a location is within BETWEEN of the middle half of the line between two others, seen from above."""
    dx, dy, px, py = end[0] - start[0], end[1] - start[1], point[0] - start[0], point[1] - start[1]
    length = math.sqrt(dx * dx + dy * dy)
    if length < 1e-9:
        return False
    along, aside = (px * dx + py * dy) / length, (px * dy - py * dx) / length
    return 0.25 * length <= along <= 0.75 * length and abs(aside) <= BETWEEN
