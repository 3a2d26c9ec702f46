"""Check on the final meshes that compiled piles stand.

    python -m tools check-contacts [--piles 2000] [--tamper 200] [--removals 0] [--seed 0]

Compiles random frames of `render-specs clevr --stacks`, and intersects the edges of their meshes with triangles: of
bodies that are up to 0.001 larger all around to find what touches, and of bodies that are as much smaller to find what
overlaps. It uses nothing of the compiler's geometry except the files of meshes. Reported are: objects that sink into
the ground (z = 0) or another one or float, by more than 0.002; objects that, with all that stands on them, have no
carrier under their center of mass; contacts that no relation states; stated relations that do not hold; and every
difference between measured relations and those of the annotation, except distances within 0.002 of a limit.
With `--removals N`, it checks instead what would fall if an object were taken away, for about N objects: by the
relations of the annotation, and by a simulation with MuJoCo (the extra `physics`), in which an object has fallen if it
is lower by more than 0.05. Not asked are those of docs/questions.md. At most 3 % may differ.

`--tamper` changes so many scenes or annotations by the seed, and every change must be found. Exit code 1 if anything is
reported or a change was not found.
"""

from __future__ import annotations

import math
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, permutations

import numpy as np
import trimesh
from numpy.typing import NDArray

from diorama.render.compiler import compile_episode
from diorama.render.geometry.contact import contact_relations
from diorama.render.geometry.meshes import load_mesh
from diorama.render.geometry.outlines import outline_mesh
from diorama.render.uses.rerender.settle import simulate
from diorama.scene_specs.benchmarks.clevr import Options
from diorama.scene_specs.benchmarks.clevr.random_scenes import clevr_spec
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import SceneFrame, SceneObject
from diorama.scene_specs.model.spec import EpisodeSpec, OutlineSpec
from diorama.scene_specs.tasks.questions.view import falling
from tools.programs import positive

Floats = NDArray[np.float64]
Table = Mapping[str, Mapping[str, list[str]]]
Relations = dict[str, set[tuple[str, str]]]
BOUND = 0.002
# As docs/shapes.md states them, Blender units and degrees.
LIMITS, BETWEEN, LEANING = {"near": 0.5, "far": 2.5}, 0.35, (12, 35)
# Blender units by which what falls gets lower, seconds of a simulation, and share of removals that may differ.
FALL, _SIMULATED, MOST_DIFFERENT = 0.05, 2.0, 0.03
TOUCHING = ("on", "in", "leaning", "touching")
_TURNS = np.radians(np.arange(360))
DIRECTIONS = np.stack([np.cos(_TURNS), np.sin(_TURNS)])


@lru_cache(maxsize=64)
def _mesh(shape: str, outline: OutlineSpec | None) -> trimesh.Trimesh:
    raw = load_mesh(shape) if outline is None else outline_mesh(outline)
    return trimesh.Trimesh(raw.vertices, raw.triangles, process=True)


class Measured:
    """An object's mesh in the world, placed by trimesh."""

    def __init__(self, item: SceneObject) -> None:
        mesh = _mesh(item.shape, item.outline)
        x, y, z = np.radians(item.rotation_deg).tolist()
        turn = trimesh.transformations.euler_matrix(x, y, z, "sxyz")[:3, :3]  # type: ignore[no-untyped-call]
        self.at = np.array(item.location)
        self.points: Floats = mesh.vertices @ turn.T * item.scale + self.at
        self.outwards: Floats = mesh.vertex_normals @ turn.T * (BOUND / 2)
        self.center: Floats = turn @ mesh.center_mass * item.scale + self.at
        self.mass = mesh.volume * item.scale**3
        self.triangles, self.edges = mesh.faces, mesh.edges_unique
        self.low, self.high = float(self.points[:, 2].min()), float(self.points[:, 2].max())

    @cached_property
    def reach(self) -> Floats:
        """How far it reaches along each of DIRECTIONS."""
        return reach(self.points)

    @cached_property
    def tilt(self) -> float:
        """Degrees between its longest axis and the vertical."""
        x, y, z = np.linalg.svd(self.points - self.points.mean(axis=0), full_matrices=False)[2][0]
        return math.degrees(math.atan2(math.hypot(x, y), abs(z)))


def reach(points: Floats) -> Floats:
    """How far points reach along each of DIRECTIONS, seen from above; -inf without points."""
    return np.asarray((points[:, :2] @ DIRECTIONS).max(axis=0, initial=-np.inf))


def separation(one: Measured, other: Measured) -> float:
    """Distance of two bodies seen from above; negative where they overlap."""
    turns = _TURNS[np.argmin(one.reach + np.roll(other.reach, 180))] + np.radians(np.linspace(-1, 1, 401))
    ways = np.stack([np.cos(turns), np.sin(turns)])
    return float(((other.points[:, :2] @ ways).min(axis=0) - (one.points[:, :2] @ ways).max(axis=0)).max())


def crossings(lines: Floats, triangles: Floats) -> Floats:
    """Return where line segments (E, 2, 3) pierce triangles (T, 3, 3)."""
    low, high = lines.min(axis=1), lines.max(axis=1)
    under, over = triangles.min(axis=1), triangles.max(axis=1)
    some = ((high >= under.min(axis=0)) & (low <= over.max(axis=0))).all(axis=1)
    lines, low, high = lines[some], low[some], high[some]
    if not len(lines):
        return np.empty((0, 3))
    some = ((over >= low.min(axis=0)) & (under <= high.max(axis=0))).all(axis=1)
    triangles, under, over = triangles[some], under[some], over[some]
    line, triangle = np.nonzero((low[:, None, 2] <= over[None, :, 2]) & (high[:, None, 2] >= under[None, :, 2]))
    for axis in (0, 1):
        near = (low[line, axis] <= over[triangle, axis]) & (high[line, axis] >= under[triangle, axis])
        line, triangle = line[near], triangle[near]
    start, along = lines[line, 0], lines[line, 1] - lines[line, 0]
    corner, first, second = (triangles[triangle, k] - (k > 0) * triangles[triangle, 0] for k in range(3))
    across, away = np.cross(along, second), start - corner
    size = (first * across).sum(axis=1)
    size[np.abs(size) < 1e-15] = np.inf
    aside = np.cross(away, first)
    u, v, share = ((a * b).sum(axis=1) / size for a, b in ((away, across), (along, aside), (second, aside)))
    hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (share >= 0) & (share <= 1) & np.isfinite(size)
    return np.asarray(start[hit] + share[hit, None] * along[hit])


def meeting(one: Measured, other: Measured, grow: float) -> Floats:
    """Return where the surfaces of two bodies cross, each grown by a share of BOUND / 2."""
    a, b = one.points + grow * one.outwards, other.points + grow * other.outwards
    return np.concatenate([crossings(a[one.edges], b[other.triangles]), crossings(b[other.edges], a[one.triangles])])


def is_inside(one: Measured, other: Measured) -> bool:
    """Whether a body, smaller by BOUND / 2, starts inside another: a ray crosses its surface an odd number of times."""
    start = one.points[0] - one.outwards[0]
    ray = np.stack([start, start + np.array([0.0123, 0.0457, 100.0])])[None]
    return len(crossings(ray, (other.points - other.outwards)[other.triangles])) % 2 == 1


@dataclass
class Contacts:
    """What touches in a frame: points of each pair; what overlaps; and the points that carry each body."""

    bodies: dict[str, Measured]

    def __post_init__(self) -> None:
        self.points: dict[frozenset[str], Floats] = {}
        self.overlaps: list[str] = []
        self.grounded = {name: body.points[body.points[:, 2] < BOUND] for name, body in self.bodies.items()}
        for (one, a), (other, b) in combinations(self.bodies.items(), 2):
            if (a.reach + np.roll(b.reach, 180) < -BOUND).any() or max(a.low, b.low) > min(a.high, b.high) + BOUND:
                continue
            points = meeting(a, b, 1)
            if len(points):
                self.points[frozenset((one, other))] = points
            if is_inside(a, b) or is_inside(b, a) or (len(points) and len(meeting(a, b, -1))):
                self.overlaps.append(f"{one} and {other} overlap")

    def carrying(self, name: str, carrier: str) -> Floats:
        """Points of the lowest part of a body that touch another one."""
        points = self.points.get(frozenset((name, carrier)), np.empty((0, 3)))
        return points[points[:, 2] <= self.bodies[name].low + 2 * BOUND]

    def holds(self, relation: str, name: str, of: str) -> bool:
        """Whether a relation of two bodies holds, as docs/shapes.md defines it."""
        body, other = self.bodies[name], self.bodies[of]
        if relation in LIMITS:
            apart, limit = -float((body.reach + np.roll(other.reach, 180)).min()), LIMITS[relation]
            apart = separation(body, other) if abs(apart - limit) < 0.02 else apart
            return apart <= limit if relation == "near" else apart >= limit
        if relation == "in":
            inside = bool((body.reach <= other.reach + BOUND).all()) and body.low > other.low + BOUND
            return inside and body.center[2] < other.high
        points = self.points.get(frozenset((name, of)), np.empty((0, 3)))
        if relation == "on":
            base = self.carrying(name, of)
            over = bool((body.center[:2] @ DIRECTIONS <= reach(base) + BOUND).all())
            return over and abs(body.low - other.high) <= 2 * BOUND
        if relation == "leaning":
            ground = self.grounded[name]
            falls = len(ground) > 0 and bool((body.center[:2] @ DIRECTIONS > reach(ground) + BOUND).any())
            high = len(points) > 0 and points[:, 2].min() > body.center[2]
            return falls and high and LEANING[0] - 0.01 <= body.tilt <= LEANING[1] + 0.01
        return len(points) > 0

    def relations(self) -> Relations:
        """Return relation -> pairs of a subject and an object, or of a subject and "a | b"."""
        found: Relations = {
            relation: {pair for pair in permutations(self.bodies, 2) if self.holds(relation, *pair)}
            for relation in (*TOUCHING, *LIMITS)
        }
        below = {name: {of for one, of in found["on"] if one == name} for name in self.bodies}
        for _ in self.bodies:
            below = {name: direct.union(*(below[of] for of in direct)) for name, direct in below.items()}
        found["under"] = {(of, name) for name, under in below.items() for of in under}
        found["between"] = set()
        for one, other in combinations(self.bodies, 2):
            start = self.bodies[one].at[:2]
            line = self.bodies[other].at[:2] - start
            for name in self.bodies.keys() - {one, other}:
                away, length = self.bodies[name].at[:2] - start, math.hypot(*line)
                share, aside = away @ line / length**2, (line[0] * away[1] - line[1] * away[0]) / length
                if 0.25 <= share <= 0.75 and abs(aside) <= BETWEEN:
                    found["between"].add((name, f"{one} | {other}"))
        return found

    def unsupported(self, leaning: set[tuple[str, str]]) -> Iterator[str]:
        """Report bodies that float, and those whose load, with all that they carry, is not over what carries them."""
        carriers = {name: [of for of in self.bodies if len(self.carrying(name, of))] for name in self.bodies}
        for name, body in self.bodies.items():
            if body.low < -BOUND:
                yield f"{name} sinks into the ground by {-body.low:.4f}"
            points = [self.grounded[name], *(self.carrying(name, of) for of in carriers[name])]
            points += [self.points[frozenset(pair)] for pair in leaning if pair[0] == name]
            load = [name]
            for one in load:
                load += [above for above, under in carriers.items() if one in under and above not in load]
            mass = sum(self.bodies[one].mass for one in load)
            center = np.sum([self.bodies[one].mass * self.bodies[one].center for one in load], axis=0) / mass
            if not any(map(len, points)):
                yield f"{name} floats"
            elif (center[:2] @ DIRECTIONS > reach(np.concatenate(points)) + BOUND).any():
                yield f"{name}: the center of mass of {', '.join(load)} is not over what carries it"


def diagnostics(frame: SceneFrame, table: Table) -> Iterator[str]:
    """Report what is wrong with a frame, and with the table of its relations in the annotation."""
    contacts = Contacts({item.name: Measured(item) for item in frame.objects})
    yield from contacts.overlaps
    found = contacts.relations()
    yield from contacts.unsupported(found["leaning"])
    for relation, pairs in found.items():
        listed = {(name, of) for of, names in table[relation].items() for name in names}
        for name, of in sorted(pairs ^ listed):
            limit = LIMITS.get(relation)
            if limit and abs(separation(contacts.bodies[name], contacts.bodies[of]) - limit) <= BOUND:
                continue
            yield f"{name} {relation} {of}: {'only measured' if (name, of) in pairs else 'only in the annotation'}"
    stated = set()
    for claim in frame.contacts:
        stated.add(frozenset((claim.subject, claim.of)))
        ends = [claim.of] if claim.other is None else [" | ".join(e) for e in permutations((claim.of, claim.other))]
        if not any((claim.subject, end) in found[claim.relation] for end in ends):
            yield f"{claim.label()} does not hold"
    for pair in sorted(map(sorted, contacts.points.keys() - stated)):
        yield f"{' and '.join(pair)} touch, which no relation states"


def tampered(frame: SceneFrame, table: Table, rng: np.random.Generator) -> tuple[str, SceneFrame, Table]:
    """Change one thing of a frame or its table that makes it wrong; return what, the frame and the table."""
    claim = frame.contacts[int(rng.integers(len(frame.contacts)))]
    relation, subject, of = claim.relation, claim.subject, claim.of
    kinds = ("float", "sink", "push away", "grow", "support sinks", "other relation", "entry left out", "entry added")
    kind = kinds[int(rng.integers(8))]
    moves = {"float": (0, 0, 0.01), "sink": (0, 0, -0.01), "push away": (3.0, 0, 0), "support sinks": (0, 0, -0.02)}
    objects = {item.name: item for item in frame.objects}
    if kind in moves:
        item = objects[of if kind == "support sinks" else subject]
        place = tuple(a + b for a, b in zip(item.location, moves[kind], strict=True))
        objects[item.name] = item.model_copy(update={"location": place})
    elif kind == "grow":
        objects[subject] = objects[subject].model_copy(update={"scale": objects[subject].scale * 1.05})
    elif kind == "entry left out":
        table = {**table, relation: {**table[relation], of: [name for name in table[relation][of] if name != subject]}}
    else:
        wrong = [other for other in ("on", "in", "leaning", "far") if subject not in table[other][of]]
        other = wrong[int(rng.integers(len(wrong)))]
        if kind == "entry added":
            table = {**table, other: {**table[other], of: [*table[other][of], subject]}}
        else:
            changed = claim.model_copy(update={"relation": other})
            frame = frame.model_copy(update={"contacts": tuple(changed if c is claim else c for c in frame.contacts)})
    return f"{kind}: {claim.label()}", frame.model_copy(update={"objects": tuple(objects.values())}), table


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the tool."""
    parser.add_argument("--piles", type=positive, default=2000)
    parser.add_argument("--tamper", type=int, default=200)
    parser.add_argument("--removals", type=positive, default=0, help="questions to compare with a simulation instead")
    parser.add_argument("--seed", type=int, default=0)


def removal(frame: SceneFrame, name: str, table: Table) -> tuple[set[str], set[str]]:
    """Return what falls in a simulation without an object, and what falls by the relations of the annotation."""
    left = [item for item in frame.objects if item.name != name]
    after = simulate(left, {item.name: (0.0, 0.0, 0.0) for item in left}, _SIMULATED).objects
    fell = {one.name for one, now in zip(left, after, strict=True) if one.location[2] - now.location[2] > FALL}
    return fell, falling(table)[name]


def difference(fell: set[str], graph: set[str]) -> str:
    """Name the kind of a difference between a simulation and the relations; "" if there is none."""
    if graph - fell:
        return "stays in the simulation"
    return "" if fell == graph else "hit by what falls" if graph else "lost a neighbor or a counterweight"


def check_removals(options: Namespace) -> int:
    """Compare what would fall without each object with a simulation; 1 if more than MOST_DIFFERENT differ."""
    counts: Counter[str] = Counter()
    for spec, frame in _frames(options, Counter()):
        table = contact_relations(frame.objects)
        for item in frame.objects:
            fell, graph = removal(frame, item.name, table)
            if table["in"][item.name] or (table["leaning"][item.name] and table["on"][item.name]):
                counts["not asked" + ("" if fell == graph else ", differ")] += 1
                continue
            counts.update(["questions"] + ["something falls"] * bool(graph))
            if kind := difference(fell, graph):
                counts.update(["differ", f"differ: {kind}"])
                print(f"{spec.id}: without {item.name}: {kind}: {', '.join(sorted(fell ^ graph))}", flush=True)
        if counts["questions"] >= options.removals:
            break
    for name, number in sorted(counts.items()):
        print(f"{name:48} {number:6,}")
    return int(counts["differ"] > MOST_DIFFERENT * counts["questions"])


def _frames(options: Namespace, counts: Counter[str]) -> Iterator[tuple[EpisodeSpec, SceneFrame]]:
    """Compile random frames of piles; refused ones are printed and counted."""
    settings = settings_for("draft", 320, 240)
    for index in range(options.piles):
        spec = clevr_spec(Options(count=1, stacks=True, objects=(3, 12), seed=options.seed), index)
        start = time.process_time()
        try:
            frame = compile_episode(spec, settings).frames[0]
        except CompileError as error:
            counts["refused"] += 1
            print(f"refused: {error}")
            continue
        finally:
            counts["compiling, ms"] += round(1000 * (time.process_time() - start))
        yield spec, frame


def main(options: Namespace) -> int:
    """Run the check; 1 if something is wrong or a change was not found."""
    if options.removals:
        return check_removals(options)
    rng = np.random.default_rng(options.seed)
    counts: Counter[str] = Counter()
    for spec, frame in _frames(options, counts):
        counts["objects"] += len(frame.objects)
        table = contact_relations(frame.objects)
        start = time.process_time()
        for problem in diagnostics(frame, table):
            counts["wrong"] += 1
            print(f"{spec.id}: {problem}", flush=True)
        counts["checking, ms"] += round(1000 * (time.process_time() - start))
        if counts["changed"] < options.tamper and frame.contacts:
            counts["changed"] += 1
            what, broken, changed = tampered(frame, table, rng)
            if not list(diagnostics(broken, changed)):
                counts["missed"] += 1
                print(f"{spec.id}: not found: {what}", flush=True)
    compiling, checking = (counts[f"{what}, ms"] / options.piles / 1000 for what in ("compiling", "checking"))
    print(
        f"{options.piles} frames, {counts['objects']} objects, {counts['refused']} refused "
        f"({counts['refused'] / options.piles:.2%}), {counts['wrong']} wrong; CPU seconds per frame: "
        f"{compiling:.3f} to compile, {checking:.3f} to check; "
        f"{counts['missed']} of {counts['changed']} changes not found"
    )
    return int(counts["wrong"] > 0 or counts["missed"] > 0)
