"""Shapes for the plan of a Scene: the outline of points, and the part of the ground that a camera sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from render.geometry.camera import Camera, Vec

# A ray that meets the ground further away than this many camera heights is cut there.
_FAR = 6.0


def convex_hull(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, 2) points -> (H, 2) corners of their convex hull, counter-clockwise (Andrew's monotone chain)."""
    ordered = np.unique(points, axis=0).tolist()
    if len(ordered) < 3:
        return np.array(ordered)

    def half(path: list[list[float]]) -> list[list[float]]:
        chain: list[list[float]] = []
        for point in path:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def ray(camera: Camera, x: float, y: float) -> tuple[Vec, Vec]:
    """Where the ray through a pixel starts and its direction, one unit of depth long; world."""
    a, b = (x - camera.center[0]) / camera.focal, (y - camera.center[1]) / camera.focal
    sideways = _sum((0.0, 0.0, 0.0), a, camera.right, b, camera.down)
    if camera.orthographic:
        return _sum(camera.location, 1.0, sideways), camera.forward
    return camera.location, _sum(camera.forward, 1.0, sideways)


def _sum(start: Vec, a: float, u: Vec, b: float = 0.0, v: Vec = (0.0, 0.0, 0.0)) -> Vec:
    x, y, z = (p + a * q + b * r for p, q, r in zip(start, u, v, strict=True))
    return (x, y, z)


def seen_ground(camera: Camera) -> list[Vec]:
    """Corners of the part of the ground plane z = 0 that the picture shows, cut far away; empty if it shows none."""
    points = []
    for x, y in _edge(camera.width, camera.height):
        start, way = ray(camera, x, y)
        if way[2] >= 0 or start[2] <= 0:
            # Above the horizon, or under the ground.
            continue
        reach = start[2] / -way[2]
        flat = float(np.hypot(way[0], way[1]))
        if flat > 0:
            reach = min(reach, _FAR * start[2] / flat)
        points.append([start[0] + reach * way[0], start[1] + reach * way[1]])
    if len(points) < 3:
        return []
    return [(x, y, 0.0) for x, y in convex_hull(np.array(points)).tolist()]


def seen_at(camera: Camera, depth: float) -> list[Vec]:
    """The four corners of what the picture shows at a depth along the camera's axis, Blender units."""
    corners = [(0.0, 0.0), (camera.width, 0.0), (camera.width, camera.height), (0.0, camera.height)]
    return [_sum(start, depth, way) for start, way in (ray(camera, x, y) for x, y in corners)]


def _edge(width: float, height: float) -> list[tuple[float, float]]:
    """Nine points along each side of the picture: a horizon may cross it anywhere."""
    steps = [k / 8 for k in range(9)]
    level = [(step * width, y) for y in (0.0, height) for step in steps]
    return level + [(x, step * height) for x in (0.0, width) for step in steps]
