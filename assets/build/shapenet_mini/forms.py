"""The forms that the models are made of: rounded boxes, lathed, swept, lofted and extruded bodies, cushions.

All lengths are meters, all angles degrees; every form is closed and has its outside out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from diorama.assets.build.shapenet_mini.curves import Outline, Path, cut_ears, frames, inset
from diorama.assets.build.shapenet_mini.mesh import AXES, Face, Floats, Mesh, Point, closed


def box(width: float, height: float, depth: float, at: Point = (0, 0, 0), bevel: float = 0.008, steps: int = 0) -> Mesh:
    """A box about `at` (X, Y, Z extents) without sharp edges.

    bevel: how much of the edges is taken off, 0 for nothing. steps: 0 cuts them straight and leaves every side flat;
    more rounds them in 2 * `steps` segments, for what is padded or moulded.
    """
    half = np.array([width, height, depth]) / 2
    radius = min(bevel, 0.98 * float(half.min()))
    if bevel <= 0:
        points, faces = _cube_grid(2)
        return closed((2 * np.array(points) - 1) * half + np.array(at), faces)
    if steps == 0:
        return _chamfered(half, radius).moved(*at)
    bend = [math.tan(math.radians(-45 + 45 * k / steps)) for k in range(steps + 1)]
    side = [(-1.0, t) for t in bend] + [(1.0, -t) for t in reversed(bend)]
    points, faces = _cube_grid(len(side))
    sign = np.array([[side[i][0] for i in point] for point in points])
    direction = np.array([[side[i][1] for i in point] for point in points])
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    return closed(sign * (half - radius) + radius * direction + np.array(at), faces)


def _chamfered(half: Floats, radius: float) -> Mesh:
    """A box with straight bevels: the cube's faces drawn in, an oblong along each edge, a triangle at a corner."""
    ends = (-1, 1)
    corners = [(x, y, z) for x in ends for y in ends for z in ends]
    names = {(corner, axis): 3 * k + axis for k, corner in enumerate(corners) for axis in range(3)}
    signs = np.array([corner for corner in corners for _ in range(3)], dtype=np.float64)
    outwards = np.tile(np.eye(3), (8, 1))
    faces: list[Face] = [(3 * k, 3 * k + 1, 3 * k + 2) for k in range(8)]

    def corner(axis: int, along: int, u: int, v: int) -> tuple[int, int, int]:
        place = [0, 0, 0]
        place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3] = along, u, v
        return (place[0], place[1], place[2])

    for axis in range(3):
        for end in ends:
            square = [corner(axis, end, u, v) for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            faces.append(tuple(names[place, axis] for place in square))
        for u, v in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            low, high, one, two = corner(axis, -1, u, v), corner(axis, 1, u, v), (axis + 1) % 3, (axis + 2) % 3
            faces.append((names[low, one], names[high, one], names[high, two], names[low, two]))
    # Which way round a face goes is the same for every size: ask a box that has no tiny faces. A face of a convex body
    # about the origin looks outwards when its normal points away from there.
    model = signs * (1 + outwards)
    facing = [np.cross(model[b] - model[a], model[c] - model[a]) @ model[a] for a, b, c, *_ in faces]
    turned = tuple(face if out > 0 else face[::-1] for face, out in zip(faces, facing, strict=True))
    return Mesh(signs * (half - radius + radius * outwards), turned)


def cushion(width: float, height: float, depth: float, at: Point = (0, 0, 0), power: float = 4, cells: int = 8) -> Mesh:
    """A stuffed cushion: a superellipsoid; `power` 2 is a ball, 10 nearly a box."""
    points, faces = _cube_grid(cells + 1)
    angle = (np.array(points) / cells - 0.5) * (math.pi / 2)
    cube = np.tan(angle)
    norm = (np.abs(cube) ** power).sum(axis=1, keepdims=True) ** (1 / power)
    half = np.array([width, height, depth]) / 2
    return closed(cube / norm * half + np.array(at), faces)


def ball(radius: float, at: Point = (0, 0, 0), cells: int = 6) -> Mesh:
    return cushion(2 * radius, 2 * radius, 2 * radius, at, power=2, cells=cells)


def _cube_grid(count: int) -> tuple[list[tuple[int, int, int]], list[Face]]:
    """The surface of a cube as a grid of count**3 places: welded points (i, j, k) and quads, all facing outwards."""
    index: dict[tuple[int, int, int], int] = {}
    faces: list[Face] = []
    last = count - 1
    for axis in range(3):
        for end in (0, last):
            for i in range(last):
                for j in range(last):
                    square = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
                    names = []
                    for u, v in square if end == last else reversed(square):
                        point = [0, 0, 0]
                        point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3] = end, u, v
                        names.append(index.setdefault((point[0], point[1], point[2]), len(index)))
                    faces.append(tuple(names))
    return list(index), faces


def lathe(profile: Outline, segments: int = 20, at: Point = (0, 0, 0), axis: str = "y", hollow: bool = False) -> Mesh:
    """A profile of (radius, height) turned about an axis through `at`.

    The profile's ends are closed by flat discs, or, with `hollow`, joined to each other (a shell, a ring).
    """
    points = [(float(r), float(h)) for r, h in profile]
    if not hollow:
        points = [(0.0, points[0][1]), *points, (0.0, points[-1][1])]
        points = [p for k, p in enumerate(points) if k == 0 or p != points[k - 1]]
    vertices: list[list[float]] = []
    rings: list[list[int]] = []
    for radius, height in points:
        count = segments if radius > 0 else 1
        rings.append([len(vertices) + k % count for k in range(segments)])
        for k in range(count):
            turn = 2 * math.pi * k / segments
            vertices.append([radius * math.sin(turn), height, radius * math.cos(turn)])
    pairs = list(zip(rings, rings[1:] + rings[:1], strict=True))
    faces = _bands(pairs if hollow else pairs[:-1])
    return closed(_along(np.array(vertices), axis) + np.array(at), faces)


def disc(
    radius: float, thickness: float, at: Point = (0, 0, 0), axis: str = "y", bevel: float = 0, segments: int = 20
) -> Mesh:
    """A flat cylinder about `at`."""
    b, h = min(bevel, thickness / 2), thickness / 2
    rim = (
        [(radius, -h), (radius, h)] if b <= 0 else [(radius - b, -h), (radius, b - h), (radius, h - b), (radius - b, h)]
    )
    return lathe(rim, segments, at, axis)


def ring(
    radius: float, thick: float, at: Point = (0, 0, 0), axis: str = "y", segments: int = 24, sides: int = 8
) -> Mesh:
    """A torus of tube radius `thick`."""
    turns = [2 * math.pi * k / sides for k in range(sides)]
    return lathe([(radius + thick * math.cos(t), thick * math.sin(t)) for t in turns], segments, at, axis, hollow=True)


def tube(path: Path, radius: float | Sequence[float], sides: int = 8, loop: bool = False) -> Mesh:
    """A round bar along a path (N, 3); one radius or one for each point; `loop` joins the ends."""
    points = np.asarray(path, dtype=np.float64)
    radii = [float(radius)] * len(points) if isinstance(radius, int | float) else [float(r) for r in radius]
    turns = [2 * math.pi * (k + 0.5) / sides for k in range(sides)]
    section = [(math.cos(t), math.sin(t)) for t in turns]
    return sweep([[(r * a, r * b) for a, b in section] for r in radii], points, loop)


def bar(path: Path, width: float, height: float, loop: bool = False) -> Mesh:
    """A flat bar along a path, `height` across in the direction nearest to Y."""
    w, h = width / 2, height / 2
    corners = [(-w, -h), (w, -h), (w, h), (-w, h)]
    return sweep([corners] * len(np.asarray(path)), path, loop)


def sweep(sections: Sequence[Sequence[tuple[float, float]]], path: Path, loop: bool = False) -> Mesh:
    """Sections of (sideways, upward) points along a path; between two neighbors the surface is straight."""
    points = np.asarray(path, dtype=np.float64)
    rings = []
    for point, (side, up), section in zip(points, frames(points, loop), sections, strict=True):
        rings.append([point + a * side + b * up for a, b in section])
    return loft(rings, loop)


def loft(sections: ArrayLike, loop: bool = False) -> Mesh:
    """A skin over closed sections (K, M, 3), each with M points; the two ends are closed by fans."""
    rings = np.asarray(sections, dtype=np.float64)
    count, size, _ = rings.shape
    names = np.arange(count * size).reshape(count, size).tolist()
    pairs = list(zip(names, names[1:] + names[:1], strict=True))
    faces = _bands(pairs if loop else pairs[:-1])
    vertices = rings.reshape(-1, 3)
    if not loop:
        vertices = np.concatenate([vertices, rings[[0, -1]].mean(axis=1)])
        first, last = count * size, count * size + 1
        for k in range(size):
            faces.append((first, names[0][(k + 1) % size], names[0][k]))
            faces.append((last, names[-1][k], names[-1][(k + 1) % size]))
    return closed(vertices, faces)


def turn_part(profile: Outline, start: float, end: float, steps: int = 12, at: Point = (0, 0, 0)) -> Mesh:
    """A convex outline of (radius, height) turned about Y through a part of the circle, from +Z towards +X."""
    points = np.asarray(profile, dtype=np.float64)
    sections = []
    for step in range(steps + 1):
        turn = math.radians(start + (end - start) * step / steps)
        ring = np.stack([points[:, 0] * math.sin(turn), points[:, 1], points[:, 0] * math.cos(turn)], axis=1)
        sections.append(ring + np.array(at))
    return loft(sections)


def extrude(outline: Outline, depth: float, axis: str = "z", at: Point = (0, 0, 0), bevel: float = 0) -> Mesh:
    """An outline pulled `depth` along an axis, centered on `at`; concave outlines are welcome.

    The outline's points are (x, y) for axis z, (z, y) for axis x and (x, z) for axis y. `bevel` takes its edges off.
    """
    b, h = min(bevel, depth / 2), depth / 2
    flat = np.asarray(outline, dtype=np.float64)
    levels = [(flat, -h), (flat, h)]
    if b > 0:
        small = inset(flat, b)
        levels = [(small, -h), (flat, b - h), (flat, h - b), (small, h)]
    first, second = {"z": (0, 1), "x": (2, 1), "y": (0, 2)}[axis]
    vertices = np.zeros((len(levels) * len(flat), 3))
    for k, (loop, height) in enumerate(levels):
        rows = slice(k * len(flat), (k + 1) * len(flat))
        vertices[rows, first], vertices[rows, second], vertices[rows, AXES[axis]] = loop[:, 0], loop[:, 1], height
    names = np.arange(len(vertices)).reshape(len(levels), len(flat)).tolist()
    faces = _bands(list(itertools.pairwise(names)))
    top = (len(levels) - 1) * len(flat)
    # The bands run round the outline and along the levels; the caps must meet them the other way round.
    for a, b_, c in cut_ears(flat):
        faces.append((c, b_, a))
        faces.append((top + a, top + b_, top + c))
    return closed(vertices + np.array(at), faces)


def _bands(pairs: Sequence[tuple[list[int], list[int]]]) -> list[Face]:
    """Quads between neighboring rings."""
    faces: list[Face] = []
    for lower, upper in pairs:
        for k in range(len(lower)):
            n = (k + 1) % len(lower)
            faces.append((lower[k], lower[n], upper[n], upper[k]))
    return faces


def _along(vertices: Floats, axis: str) -> Floats:
    """Points made about Y, turned so that Y becomes `axis`."""
    order = {"y": [0, 1, 2], "x": [1, 2, 0], "z": [2, 0, 1]}[axis]
    # New X, Y, Z are taken from the old ones so that a rotation, never a reflection, comes out.
    return vertices[:, order]
