"""Check on the final meshes that compiled piles stand.

    python -m tools check-contacts [--piles 2000] [--tamper 200] [--seed 0]

Compiles random frames of `render-specs clevr --stacks`, and measures distances of points of each mesh from the
triangles of others; it uses nothing of the compiler's geometry except the files of meshes. Reported are: objects that
sink into the ground (z = 0) or another one or float, by more than 0.002; objects whose center of mass no contact
carries; stated relations that do not hold, and contacts that none states or that the annotation lacks. `--tamper`
changes so many scenes by the seed, and every change must be found. Exit code 1 if anything is.
"""

from __future__ import annotations

import math
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import trimesh
from numpy.typing import NDArray

from diorama.render.compiler import compile_episode
from diorama.render.geometry.contact import contact_relations
from diorama.render.geometry.meshes import load_mesh
from diorama.render.geometry.outlines import outline_mesh
from diorama.render.model.errors import CompileError
from diorama.render.model.profiles import settings_for
from diorama.scene_specs.benchmarks.clevr import Options
from diorama.scene_specs.benchmarks.clevr.random_scenes import clevr_spec
from diorama.scene_specs.language.scene import SceneFrame, SceneObject
from tools.programs import positive

Floats = NDArray[np.float64]
BOUND = 0.002
# Blender units between sampled points of an edge, and by which a center of mass may be beside what carries it.
SPACING, BESIDE = 0.03, 0.02


@dataclass(frozen=True)
class Measured:
    """An object's mesh in the world, with points on its edges."""

    name: str
    faces: Floats
    points: Floats
    center: Floats

    @property
    def bounds(self) -> Floats:
        """Lowest and highest corner."""
        return np.array([self.points.min(axis=0), self.points.max(axis=0)])


def measure(item: SceneObject) -> Measured:
    """Return an object's mesh, placed by trimesh."""
    raw = outline_mesh(item.outline) if item.outline is not None else load_mesh(item.shape)
    mesh = trimesh.Trimesh(raw.vertices * item.scale, raw.triangles, process=True)
    x, y, z = np.radians(item.rotation_deg).tolist()
    mesh.apply_transform(trimesh.transformations.euler_matrix(x, y, z, "sxyz"))  # type: ignore[no-untyped-call]
    mesh.apply_translation(item.location)
    points = [mesh.vertices]
    ends = mesh.vertices[mesh.edges_unique]
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    for steps in np.unique(np.ceil(lengths / SPACING)).astype(int).tolist():
        chosen = ends[np.ceil(lengths / SPACING) == steps]
        points += [chosen[:, 0] + (chosen[:, 1] - chosen[:, 0]) * (k / steps) for k in range(1, steps)]
    return Measured(item.name, np.array(mesh.triangles), np.concatenate(points), np.array(mesh.center_mass))


def distances(points: Floats, faces: Floats) -> Floats:
    """Distance of each point (P, 3) from the nearest of some triangles (T, 3, 3)."""
    best = np.full(len(points), np.inf)
    corners = (faces[:, 0], faces[:, 1], faces[:, 2])
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    size = np.linalg.norm(normal, axis=1)
    normal, corners = normal[size > 1e-14] / size[size > 1e-14, None], tuple(c[size > 1e-14] for c in corners)
    for start in range(0, len(points), 256):
        some = points[start : start + 256, None]
        inside, nearest = np.ones((len(some), len(normal)), dtype=bool), np.full((len(some), len(normal)), np.inf)
        for a, b in zip(corners, (*corners[1:], corners[0]), strict=True):
            edge, away = (b - a)[None], some - a[None]
            inside &= (np.cross(normal, b - a)[None] * away).sum(axis=2) >= 0
            share = np.clip((away * edge).sum(axis=2) / (edge * edge).sum(axis=2), 0, 1)[..., None]
            nearest = np.minimum(nearest, np.linalg.norm(away - share * edge, axis=2))
        flat = np.abs(((some - corners[0][None]) * normal[None]).sum(axis=2))
        best[start : start + 256] = np.where(inside, flat, nearest).min(axis=1)
    return best


def is_inside(points: Floats, faces: Floats) -> NDArray[np.bool_]:
    """Whether points (P, 3) are inside a closed mesh (T, 3, 3), by the solid angles of its triangles."""
    a, b, c = (faces[None, :, k] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=2) for side in (a, b, c))
    volume = (a * np.cross(b, c)).sum(axis=2)
    rest = la * lb * lc + (a * b).sum(axis=2) * lc + (b * c).sum(axis=2) * la + (c * a).sum(axis=2) * lb
    return np.asarray(np.arctan2(volume, rest).sum(axis=1) > math.pi)


def near(one: Measured, other: Measured) -> tuple[Floats, float]:
    """Points of a mesh that touch another one, and how deep one is inside it."""
    zone = other.bounds + np.array([[-BOUND], [BOUND]])
    points = one.points[((one.points >= zone[0]) & (one.points <= zone[1])).all(axis=1)]
    if not len(points):
        return points, 0.0
    low, high = points.min(axis=0) - BOUND, points.max(axis=0) + BOUND
    faces = other.faces[((other.faces.max(axis=1) >= low) & (other.faces.min(axis=1) <= high)).all(axis=1)]
    away = distances(points, faces) if len(faces) else np.full(len(points), np.inf)
    deep = points[(away > BOUND) & ((points > other.bounds[0]) & (points < other.bounds[1])).all(axis=1)]
    # Many points are as good as all: a solid that is entered deeply holds more than one.
    deep = deep[:: max(1, len(deep) // 200)]
    depth = 0.0
    if len(deep) and (sunk := deep[is_inside(deep, other.faces)]).size:
        depth = float(distances(sunk, other.faces).max())
    return points[away <= BOUND], depth


def diagnostics(frame: SceneFrame, table: dict[str, dict[str, list[str]]]) -> Iterator[str]:
    """Report what is wrong with a frame.

    Args:
        table: relations that the annotation has.
    """
    bodies = {item.name: measure(item) for item in frame.objects}
    stated = {frozenset((c.subject, c.of)): c.relation for c in frame.contacts if c.relation in _TOUCHING}
    measured = {frozenset((a, b)) for a, others in table["touching"].items() for b in others}
    carried: dict[str, list[Floats]] = {name: [] for name in bodies}
    touching = set()
    for name, body in bodies.items():
        low = float(body.bounds[0][2])
        if low < -BOUND:
            yield f"{name} sinks into the ground by {-low:.4f}"
        carried[name].append(body.points[body.points[:, 2] < BOUND])
    for one, other in combinations(bodies, 2):
        a, b = bodies[one], bodies[other]
        if (np.maximum(a.bounds[0], b.bounds[0]) > np.minimum(a.bounds[1], b.bounds[1]) + BOUND).any():
            continue
        (here, depth), (there, other_depth) = near(a, b), near(b, a)
        if max(depth, other_depth) > BOUND:
            yield f"{one} and {other} overlap by {max(depth, other_depth):.4f}"
        if not len(here) and not len(there):
            continue
        pair = frozenset((one, other))
        touching.add(pair)
        both = np.concatenate([here, there])
        for name, body in ((one, a), (other, b)):
            if both[:, 2].mean() < body.center[2] or stated.get(pair) == "leaning":
                carried[name].append(both)
    for pair in sorted(touching ^ measured, key=sorted):
        yield f"{' and '.join(sorted(pair))}: {'touch' if pair in touching else 'do not touch'}, unlike the annotation"
    for pair in sorted(touching - {*stated}, key=sorted):
        yield f"{' and '.join(sorted(pair))} touch, which no relation states"
    for name, body in bodies.items():
        points = np.concatenate(carried[name])
        if not len(points):
            yield f"{name} floats"
        elif beside_hull(points[:, :2], body.center[:2]) > BESIDE:
            yield f"{name}: its center of mass is not over what carries it"
    for claim in frame.contacts:
        if not holds(
            claim.relation, bodies[claim.subject], bodies[claim.of], frozenset((claim.subject, claim.of)) in touching
        ):
            yield f"{claim.label()} does not hold"


def beside_hull(points: Floats, center: Floats) -> float:
    """Distance of a point from the convex hull of others, by the direction in which it is farthest out."""
    turns = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    ways = np.stack([np.cos(turns), np.sin(turns)])
    return float((center @ ways - (points @ ways).max(axis=0)).max())


_TOUCHING = ("on", "in", "leaning", "touching")


def holds(relation: str, subject: Measured, of: Measured, touch: bool) -> bool:
    """Whether a relation of two objects holds."""
    (low, _), (under_low, under_high) = subject.bounds, of.bounds
    over = bool((of.bounds[0][:2] <= subject.center[:2]).all() and (subject.center[:2] <= of.bounds[1][:2]).all())
    if relation == "on":
        return touch and over and abs(low[2] - under_high[2]) <= 2 * BOUND
    if relation == "in":
        inside = bool((under_low[:2] <= low[:2]).all() and (subject.bounds[1][:2] <= under_high[:2]).all())
        return touch and inside and low[2] > under_low[2] + BOUND and subject.center[2] < under_high[2]
    if relation == "leaning":
        return touch and low[2] <= BOUND
    return touch


def _shifted(item: SceneObject, by: tuple[float, float, float]) -> SceneObject:
    x, y, z = item.location
    return item.model_copy(update={"location": (x + by[0], y + by[1], z + by[2])})


def tampered(frame: SceneFrame, rng: np.random.Generator) -> tuple[str, SceneFrame]:
    """Change one thing of a frame that makes it wrong; return what, and the frame."""
    claim = frame.contacts[int(rng.integers(len(frame.contacts)))]
    objects = {item.name: item for item in frame.objects}
    subject, of = objects[claim.subject], objects[claim.of]
    changes: tuple[tuple[str, Callable[[], SceneObject | None]], ...] = (
        ("float", lambda: _shifted(subject, (0, 0, 0.01))),
        ("sink", lambda: _shifted(subject, (0, 0, -0.01))),
        ("push away", lambda: _shifted(subject, (3.0, 0, 0))),
        ("grow", lambda: subject.model_copy(update={"scale": subject.scale * 1.05})),
        ("support sinks", lambda: _shifted(of, (0, 0, -0.02))),
    )
    name, change = changes[int(rng.integers(len(changes)))]
    made = change()
    assert made is not None
    return f"{name}: {claim.label()}", frame.model_copy(
        update={"objects": tuple(made if item.name == made.name else item for item in frame.objects)}
    )


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--piles", type=positive, default=2000)
    parser.add_argument("--tamper", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)


def main(options: Namespace) -> int:
    """Run the check; 1 if something is wrong or a change was not found."""
    settings = settings_for("draft", 320, 240)
    rng = np.random.default_rng(options.seed)
    wrong = refused = missed = changed = objects = 0
    compiling = 0.0
    for index in range(options.piles):
        spec = clevr_spec(Options(count=1, stacks=True, objects=(3, 12), seed=options.seed), index)
        start = time.process_time()
        try:
            frame = compile_episode(spec, settings).frames[0]
        except CompileError as error:
            refused += 1
            print(f"refused: {error}")
            continue
        finally:
            compiling += time.process_time() - start
        objects += len(frame.objects)
        table = contact_relations(frame.objects)
        for problem in diagnostics(frame, table):
            wrong += 1
            print(f"{spec.id}: {problem}")
        if changed < options.tamper and frame.contacts:
            changed += 1
            what, broken = tampered(frame, rng)
            if not list(diagnostics(broken, table)):
                missed += 1
                print(f"{spec.id}: not found: {what}")
    print(
        f"{options.piles} frames, {objects} objects, {refused} refused ({refused / options.piles:.2%}), {wrong} wrong; "
        f"{compiling / options.piles:.3f} CPU seconds per frame; {missed} of {changed} changes not found"
    )
    return int(wrong > 0 or missed > 0)
