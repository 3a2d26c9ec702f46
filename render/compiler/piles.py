"""Piles: objects that stand on, are in, lean on or touch others, put together before the layout places them.

The first object of a pile stands on the ground. The layout search places it, with the outline of its pile; the others
keep their places beside it. Each object takes the first of a bounded number of random places where it touches its
support and nothing else, and a pile holds only if the center of mass of all that stands on a face is over this face.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from diorama.render.compiler.attributes import Item, turned
from diorama.render.compiler.constraints import Demand, Distance, Rules, carriers_of, claims_of, difference
from diorama.render.compiler.visibility import frame_planes
from diorama.render.geometry import contact
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.contact import Body, depth_in, gap
from diorama.render.geometry.forms import area, form_of
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.language.vocabulary import FAR, NEAR, SUPPORT_MARGIN
from diorama.scene_specs.model.scene import SceneContact
from diorama.scene_specs.model.spec import FrameSpec
from diorama.scene_specs.rotation import Floats, Vec, rounded, rounded3
from diorama.scene_specs.shapes.convex_hull import convex_hull

# Places per object, and places in all, before a frame fails; how often a pile may start over.
_TRIES, _MOST, _RESTARTS = 40, 6000, 60
# Corners of the outline of a pile.
_CORNERS = 12
# Blender units between surfaces that no relation brings together.
_CLEAR = 0.01
# Degrees from the vertical at which objects lean: a range, and least more than the angle at which they would fall back.
_LEAN, _FALL = (12.0, 35.0), 4.0


@dataclass(frozen=True)
class Piles:
    """The piles of a frame.

    Attributes:
        items: the objects of the frame, in order; those that lean have their rotation.
        roots: numbers of the objects that the layout places.
        root: number of the first object of each object's pile.
        offsets: (n, 3) x, y relative to the first object, and z.
        bodies: body of each object, at its offset.
    """

    items: tuple[Item, ...]
    roots: tuple[int, ...]
    root: tuple[int, ...]
    offsets: Floats
    bodies: tuple[Body, ...]
    claims: tuple[SceneContact, ...]

    def members(self, root: int) -> list[int]:
        """Numbers of all objects of a pile."""
        return [k for k, own in enumerate(self.root) if own == root]

    def outer_items(self) -> list[Item]:
        """Return the first object of each pile, with the outline of its pile.

        An object beside the piles keeps its disc only if that contains it: the corners of a CLEVR cube stand out.
        """
        outer = []
        for root in self.roots:
            item, members = self.items[root], self.members(root)
            points = np.concatenate([self.bodies[k].outline for k in members])
            if len(members) > 1 or (item.hull is None and (points**2).sum(axis=1).max() > item.radius**2 + 1e-6):
                hull = _enclosing_polygon(points)
                item = replace(item, radius=max(math.sqrt(x * x + y * y) for x, y in hull), hull=hull)
            outer.append(item)
        return outer

    def rules(self, rules: Rules, right: tuple[float, float], front: tuple[float, float]) -> Rules:
        """Rules of the first objects that say the same as rules of all objects.

        Raises:
            CompileError: objects of one pile have a relation that they can't have.
        """
        along = [[x * axis[0] + y * axis[1] for x, y, _ in self.offsets.tolist()] for axis in (right, front)]
        place = {root: number for number, root in enumerate(self.roots)}
        demands = []
        for demand in rules.demands:
            apart = along[demand.axis][demand.high] - along[demand.axis][demand.low]
            low, high = self.root[demand.low], self.root[demand.high]
            if low != high:
                demands.append(Demand(demand.axis, place[low], place[high], demand.margin - apart, demand.label))
            elif not apart > demand.margin:
                raise CompileError(f"{demand.label}: the two are in one pile, and differ by {apart:.3f}")
        items, kept = self.outer_items(), list(self.roots)
        return replace(
            rules, names=tuple(item.name for item in items), fixed=rules.fixed[kept], scales=rules.scales[kept],
            radii=np.array([item.radius for item in items]), hulls=tuple(item.hull for item in items),
            demands=tuple(demands), distances=tuple(self._distances(place)),
        )  # fmt: skip

    def _distances(self, place: Mapping[int, int]) -> Iterator[Distance]:
        index = {item.name: k for k, item in enumerate(self.items)}
        for claim in self.claims:
            names = [name for name in (claim.subject, claim.of, claim.other) if name is not None]
            numbers = [index[name] for name in names]
            if claim.relation in ("near", "far", "between"):
                roots = tuple(place[self.root[k]] for k in numbers)
                yield Distance(roots, claim.label(), self._test(claim.relation, numbers))

    def _test(self, relation: str, numbers: list[int]) -> Distance.Test:
        shift = self.offsets[:, :2].tolist()

        def test(at: Sequence[tuple[float, float]]) -> bool:
            places = [(x + shift[k][0], y + shift[k][1]) for k, (x, y) in zip(numbers, at, strict=True)]
            if relation == "between":
                return contact.is_between(*places)
            (ax, ay), (bx, by) = at[0], at[1]
            moved = self.bodies[numbers[0]].outline + np.array([ax - bx, ay - by])
            apart = gap(moved, self.bodies[numbers[1]].outline)
            return apart < NEAR - contact.TOUCH if relation == "near" else apart > FAR + contact.TOUCH

        return test

    def planes(self, root: int, camera: Camera) -> Floats:
        """Planes of all objects of a pile, see `frame_planes`, by the location of the first."""
        rows = []
        for k in self.members(root):
            dx, dy, z = self.offsets[k].tolist()
            planes = frame_planes(self.items[k], z, camera)
            planes[:, 2] += planes[:, 0] * dx + planes[:, 1] * dy
            rows.append(planes)
        return np.concatenate(rows)

    def locations(self, firsts: Sequence[Vec]) -> tuple[Vec, ...]:
        """Locations of all objects from those of the first ones."""
        place = dict(zip(self.roots, firsts, strict=True))
        places = []
        for k, (dx, dy, z) in enumerate(self.offsets.tolist()):
            x, y, own = place[self.root[k]]
            places.append((x, y, own) if self.root[k] == k else rounded3((x + dx, y + dy, z)))
        return tuple(places)

    def check(self, locations: Sequence[Vec]) -> None:
        """Measure all stated relations in the layout.

        Raises:
            CompileError: one does not hold.
        """
        bodies = [replace(body, location=at) for body, at in zip(self.bodies, locations, strict=True)]
        table = contact.relations_of_bodies(bodies)
        wrong = [claim.label() for claim in self.claims if not claim.holds(table)]
        if wrong:
            raise CompileError(f"the locations break relations of the frame: {'; '.join(wrong)}")


def _enclosing_polygon(points: Floats) -> tuple[tuple[float, float], ...]:
    """Return a convex polygon of few corners around points: exact outlines of many would take the search longer."""
    turns = [k * math.tau / _CORNERS for k in range(_CORNERS)]
    reach = [float((points[:, 0] * math.cos(t) + points[:, 1] * math.sin(t)).max()) for t in turns]
    sine, cosine = math.sin(math.tau / _CORNERS), math.cos(math.tau / _CORNERS)
    corners = []
    for k, turn in enumerate(turns):
        aside = (reach[(k + 1) % _CORNERS] - reach[k] * cosine) / sine
        c, s = math.cos(turn), math.sin(turn)
        corners.append((reach[k] * c - aside * s, reach[k] * s + aside * c))
    return convex_hull(np.array(corners))


@dataclass
class _Builder:
    """Puts the piles of one frame together."""

    frame: FrameSpec
    items: list[Item]
    parents: dict[int, tuple[str, int]]
    generator: np.random.Generator
    refused: dict[str, int] = field(default_factory=dict)
    tried: int = 0
    still: dict[int, Body] = field(default_factory=dict)

    def build(self, root: int, searching: bool) -> dict[int, Body]:
        """Return the bodies of the pile of a root, about its origin. Raises CompileError."""
        order = [root]
        for k in order:
            order += [child for child, (_, parent) in self.parents.items() if parent == k]
        for _ in range(_RESTARTS):
            item = self.items[root]
            height = item.location[2] if item.location is not None else item.height
            bodies = {root: _body_at(item, (0.0, 0.0, height))}
            if not searching:
                return self._propose_each(order, bodies)
            if all(self._add(k, bodies) for k in order[1:]) and self._balanced(bodies):
                return bodies
        names = ", ".join(self.items[k].name for k in order)
        raise CompileError(f"no stable pile of {names} was found in {_RESTARTS} attempts", self.refused)

    def _propose_each(self, order: Sequence[int], bodies: dict[int, Body]) -> dict[int, Body]:
        """Give each object one place, even if it doesn't hold. Raises CompileError for what no other place changes."""
        for k in order[1:]:
            bodies[k] = self._propose(k, bodies) or self._body_of(k)
        return bodies

    def _propose(self, k: int, bodies: dict[int, Body]) -> Body | None:
        propose = {"on": self._put_on, "in": self._put_in, "leaning": self._lean, "touching": self._touch}
        return propose[self.parents[k][0]](k, bodies)

    def _given_place(self, k: int) -> tuple[float, ...] | None:
        return self.frame.objects[k].location if k < len(self.frame.objects) else None

    def _label(self, k: int) -> str:
        relation, parent = self.parents[k]
        return f"{self.items[k].name} {relation} {self.items[parent].name}"

    def _refuse(self, reason: str) -> None:
        self.refused[reason] = self.refused.get(reason, 0) + 1

    def _add(self, k: int, bodies: dict[int, Body]) -> bool:
        parent = self.parents[k][1]
        # A body may touch its support, and not overlap it; it must not touch others.
        overlap = -contact.TOUCH / 2
        for _ in range(_TRIES):
            self.tried += 1
            if self.tried > _MOST:
                raise CompileError(f"no pile was found in {_MOST} places of objects", self.refused)
            body = self._propose(k, bodies)
            if body is None:
                self._refuse(self._label(k))
            elif any(contact.closer(body, other, overlap if j == parent else _CLEAR) for j, other in bodies.items()):
                self._refuse(f"{self.items[k].name} would touch another object")
            else:
                bodies[k] = body
                return True
        return False

    def _place(self, k: int, bodies: dict[int, Body], outline: Floats) -> tuple[float, float]:
        """Location of an object whose center of mass is at random in the box of an outline, or its specified one."""
        stated = self._given_place(k)
        u, v = self.generator.random(2).tolist()
        if stated is not None:
            root = next(iter(bodies))
            at = self.items[root].location
            if at is None:
                raise CompileError(f"{self.items[k].name} has a location, but {self.items[root].name} has none")
            return stated[0] - at[0], stated[1] - at[1]
        low, high = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
        cx, cy, _ = self._body_of(k).center
        return low[0] + u * (high[0] - low[0]) - cx, low[1] + v * (high[1] - low[1]) - cy

    def _body_of(self, k: int) -> Body:
        """Return the body of an object at the origin, kept while its rotation is the same."""
        item, body = self.items[k], self.still.get(k)
        if body is None or body.rotation_deg != item.rotation_deg:
            body = self.still[k] = _body_at(item, (0.0, 0.0, 0.0))
        return body

    def _stand(self, k: int, at: tuple[float, float], floor: float) -> Body:
        stated = self._given_place(k)
        z = stated[2] if stated is not None and len(stated) == 3 else floor - self._body_of(k).low
        return _body_at(self.items[k], rounded3((*at, z)))

    def _put_on(self, k: int, bodies: dict[int, Body]) -> Body | None:
        support = bodies[self.parents[k][1]]
        if support.top is None:
            raise CompileError(f"{self._label(k)}: {support.name} has no flat, convex face at its top")
        body = self._stand(k, self._place(k, bodies, support.top), support.high)
        return body if depth_in(support.top, body.center[:2]) >= SUPPORT_MARGIN else None

    def _put_in(self, k: int, bodies: dict[int, Body]) -> Body | None:
        holder = bodies[self.parents[k][1]]
        if not holder.cavities:
            raise CompileError(f"{self._label(k)}: {holder.name} has no space inside; use a bowl, box or shelf")
        space = holder.cavities[int(self.generator.integers(len(holder.cavities)))]
        body = self._stand(k, self._place(k, bodies, space.outline), space.floor)
        fits = body.center[2] < space.end - _CLEAR and (not space.ceiling or body.high < space.end - _CLEAR)
        return body if fits and depth_in(space.outline, body.outline) >= _CLEAR else None

    def _touch(self, k: int, bodies: dict[int, Body]) -> Body | None:
        neighbor, item = bodies[self.parents[k][1]], self.items[k]
        body = self._stand(k, self._place(k, bodies, neighbor.outline), neighbor.low)
        if min(body.band[1], neighbor.band[1]) - max(body.band[0], neighbor.band[0]) < 0:
            raise CompileError(f"{self._label(k)}: their sides are widest at different heights, and can't touch")
        if self._given_place(k) is not None:
            return body if contact.beside(body, neighbor) else None
        angle = float(self.generator.random()) * math.tau
        x, y = math.cos(angle), math.sin(angle)
        own = _body_at(item, (0.0, 0.0, body.location[2]))
        outline = difference(neighbor.outline.tolist(), own.outline.tolist())
        # Outwards along the ray until the outlines only touch.
        inner, outer = 0.0, 2.0 * float(np.abs(outline).max()) + 1.0
        cx, cy = outline.mean(axis=0).tolist()
        for _ in range(60):
            middle = (inner + outer) / 2
            inside = depth_in(outline, (cx + x * middle, cy + y * middle)) > 0
            inner, outer = (middle, outer) if inside else (inner, middle)
        moved = _body_at(item, rounded3((cx + x * outer, cy + y * outer, body.location[2])))
        return moved if contact.beside(moved, neighbor) else None

    def _lean(self, k: int, bodies: dict[int, Body]) -> Body | None:
        support, item = bodies[self.parents[k][1]], self.items[k]
        sides = [support.side(number) for number in range(contact.SIDES)]
        flat = [len(face.outline) >= 3 and area(face.outline) >= 0.01 for face in sides]
        number = int(self.generator.integers(contact.SIDES))
        side = sides[number]
        if not any(flat):
            raise CompileError(f"{self._label(k)}: {support.name} has no flat, vertical face")
        if not flat[number]:
            return None
        stated = self._given_place(k)
        if stated is not None and len(stated) == 3:
            body = self._stand(k, self._place(k, bodies, support.outline), 0.0)
            return body if contact.leans_on(body, support) else None
        x, _, z = form_of(item.shape, item.outline).vertices.T
        least = math.degrees(math.atan2(float(np.ptp(x)), float(np.ptp(z)))) + _FALL
        low, high = max(least, _LEAN[0]), _LEAN[1]
        if low > high:
            raise CompileError(f"{self._label(k)}: {item.name} is too wide to lean; use a thin prism")
        u, v = self.generator.random(2).tolist()
        tilt, yaw = low + u * (high - low), math.degrees(math.atan2(-side.normal[1], -side.normal[0]))
        self.items[k] = item = replace(item, rotation_deg=rounded3((0.0, tilt, yaw % 360)), hull=None)
        body = _body_at(item, (0.0, 0.0, 0.0))
        px, py, _ = body.vertices.T
        reach = side.distance - float((px * side.normal[0] + py * side.normal[1]).min())
        ends = side.outline[:, 0]
        along = float(ends.min()) + (0.25 + 0.5 * v) * float(np.ptp(ends))
        nx, ny = side.normal
        at = (nx * reach - ny * along, ny * reach + nx * along, support.low - body.low)
        body = _body_at(item, rounded3(at))
        self.items[k] = replace(item, height=body.location[2])
        return body if contact.leans_on(body, support) else None

    def _balanced(self, bodies: dict[int, Body]) -> bool:
        """Whether the center of mass of all that a face carries is over it, for every face."""
        for k, body in bodies.items():
            if self.parents.get(k, ("",))[0] not in ("on", "in"):
                continue
            above = [k]
            for j in above:
                above += [c for c, (how, parent) in self.parents.items() if parent == j and how in ("on", "in")]
            mass = math.fsum(bodies[j].mass for j in above)
            x, y = (math.fsum(bodies[j].mass * bodies[j].center[axis] for j in above) / mass for axis in (0, 1))
            relation, parent = self.parents[k]
            face = bodies[parent].top if relation == "on" else None
            firm = len(above) == 1 if len(body.base) < 3 else depth_in(body.base, (x, y)) >= SUPPORT_MARGIN
            if not firm or (face is not None and depth_in(face, (x, y)) < SUPPORT_MARGIN):
                self._refuse(f"{self._label(k)}: center of mass within {SUPPORT_MARGIN:g} of the edge")
                return False
        return True


def _body_at(item: Item, location: Vec) -> Body:
    return Body(item.name, form_of(item.shape, item.outline), item.scale, item.rotation_deg, location)


def build_piles(
    frame: FrameSpec, items: Sequence[Item], generator: np.random.Generator, turn: bool = False, searching: bool = True
) -> Piles:
    """Put together what touches in a frame.

    Args:
        turn: sample the rotations that the frame does not state again.
        searching: False: only find out what no search would put together; the piles don't hold.

    Raises:
        CompileError: relations contradict each other, an object can't carry another one, or no pile was found.
        AssetError: a mesh can't be read.
    """
    parents = carriers_of(frame, [item.name for item in items])
    if turn:
        stated = [spec.rotation_deg is not None for spec in frame.objects]
        items = [
            item if k < len(stated) and stated[k] else turned(item, float(yaw))
            for k, (item, yaw) in enumerate(zip(items, generator.random(len(items)) * 360, strict=True))
        ]
    builder = _Builder(frame, list(items), parents, generator)
    for k in {**parents, **{parent: ("", 0) for _, parent in parents.values()}}:
        if not form_of(items[k].shape, items[k].outline).closed:
            raise CompileError(f"{items[k].name}: its mesh is open, so it has no center of mass; use another model")
    root = list(range(len(items)))
    for k in range(len(items)):
        seen = [k]
        while seen[-1] in parents:
            seen.append(parents[seen[-1]][1])
            if seen[-1] in seen[:-1]:
                raise CompileError(f"a cycle of supports: {', '.join(items[j].name for j in seen)}")
        root[k] = seen[-1]
    bodies: dict[int, Body] = {}
    for k in sorted({*root}):
        bodies |= builder.build(k, searching)
    offsets = np.array([bodies[k].location for k in range(len(items))])
    placed = []
    for k, item in enumerate(builder.items):
        first = items[root[k]].location
        if root[k] != k and first is not None:
            x, y, z = bodies[k].location
            item = replace(item, location=rounded3((first[0] + x, first[1] + y, z)))
        placed.append(replace(item, height=rounded(bodies[k].location[2])) if root[k] != k else item)
    every = tuple(bodies[k] for k in range(len(items)))
    return Piles(tuple(placed), tuple(sorted({*root})), tuple(root), offsets, every, claims_of(frame))
