"""Lines in the plane and in space: arcs, smooth curves, rounded outlines, insets, triangulation of an outline."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diorama.assets.build.shapenet_mini.mesh import Floats

Outline = Sequence[tuple[float, float]] | NDArray[np.float64]
Path = Sequence[tuple[float, float, float]] | NDArray[np.float64]


def arc(
    radius: float, start: float, end: float, count: int, at: tuple[float, float] = (0, 0)
) -> list[tuple[float, float]]:
    """`count` points of a circle about `at` from one angle to the other (degrees, counter-clockwise from +X)."""
    turns = [math.radians(start + (end - start) * k / (count - 1)) for k in range(count)]
    return [(at[0] + radius * math.cos(t), at[1] + radius * math.sin(t)) for t in turns]


def ellipse(width: float, height: float, count: int, power: float = 2) -> list[tuple[float, float]]:
    """A superellipse about the origin; `power` 2 is an ellipse, 6 nearly a rectangle."""
    points = []
    for k in range(count):
        c, s = math.cos(2 * math.pi * k / count), math.sin(2 * math.pi * k / count)
        x = math.copysign(abs(c) ** (2 / power), c) if abs(c) > 1e-12 else 0.0
        y = math.copysign(abs(s) ** (2 / power), s) if abs(s) > 1e-12 else 0.0
        points.append((x * width / 2, y * height / 2))
    return points


def smooth(points: Path | Outline, steps: int = 4, loop: bool = False) -> Floats:
    """A Catmull-Rom curve through the points (N, 2 or 3), `steps` pieces between two of them."""
    given = np.asarray(points, dtype=np.float64)
    count = len(given)
    if loop:
        padded = np.concatenate([given[-1:], given, given[:2]])
    else:
        padded = np.concatenate([2 * given[:1] - given[1:2], given, 2 * given[-1:] - given[-2:-1]])
    made = []
    for k in range(count if loop else count - 1):
        a, b, c, d = padded[k : k + 4]
        for step in range(steps):
            t = step / steps
            made.append(b + 0.5 * t * ((c - a) + t * ((2 * a - 5 * b + 4 * c - d) + t * (3 * (b - c) + d - a))))
    if not loop:
        made.append(given[-1])
    return np.array(made)


def rounded(outline: Outline, radius: float, steps: int = 3) -> Floats:
    """A closed outline with its corners rounded; where a side is short the radius shrinks with it."""
    points = np.asarray(outline, dtype=np.float64)
    made = []
    for k, point in enumerate(points):
        before, after = points[k - 1] - point, points[(k + 1) % len(points)] - point
        reach = [min(radius, 0.49 * float(np.hypot(*side))) for side in (before, after)]
        start = point + before / np.hypot(*before) * min(reach)
        end = point + after / np.hypot(*after) * min(reach)
        for step in range(steps + 1):
            t = step / steps
            made.append((1 - t) ** 2 * start + 2 * t * (1 - t) * point + t**2 * end)
    return np.array(made)


def bent(points: Path, radius: float, steps: int = 3) -> Floats:
    """An open path with rounded bends: a bent pipe."""
    given = np.asarray(points, dtype=np.float64)
    made = [given[0]]
    for before, point, after in zip(given, given[1:], given[2:], strict=False):
        back, on = before - point, after - point
        lengths = [math.sqrt(float((side**2).sum())) for side in (back, on)]
        reach = min(radius, 0.49 * min(lengths))
        start, end = point + back / lengths[0] * reach, point + on / lengths[1] * reach
        for step in range(steps + 1):
            t = step / steps
            made.append((1 - t) ** 2 * start + 2 * t * (1 - t) * point + t**2 * end)
    made.append(given[-1])
    return np.array(made)


def frames(path: Floats, loop: bool = False) -> list[tuple[Floats, Floats]]:
    """Sideways and upward unit vectors at each point of a path; upward starts near Y and is carried without twist."""
    ahead = np.roll(path, -1, axis=0) - path
    if not loop:
        ahead[-1] = ahead[-2]
    ahead /= np.sqrt((ahead**2).sum(axis=1, keepdims=True))
    behind = np.roll(ahead, 1, axis=0)
    if not loop:
        behind[0] = ahead[0]
    made = []
    up = np.array([0.0, 1.0, 0.0]) if abs(ahead[0][1]) < 0.9 else np.array([0.0, 0.0, 1.0])
    for forth, back in zip(ahead, behind, strict=True):
        tangent = forth + back
        tangent /= math.sqrt(float((tangent**2).sum()))
        up = up - tangent * float((up * tangent).sum())
        up /= math.sqrt(float((up**2).sum()))
        made.append((np.cross(tangent, up), up))
    return made


def area(outline: Floats) -> float:
    """Signed area, positive for a counter-clockwise outline."""
    x, y = outline.T
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum()) / 2


def inset(outline: Floats, by: float) -> Floats:
    """Each point moved inwards by `by` from both of its sides; for small insets of outlines without spikes."""
    sign = 1.0 if area(outline) > 0 else -1.0
    forth = np.roll(outline, -1, axis=0) - outline
    forth /= np.sqrt((forth**2).sum(axis=1, keepdims=True))
    normal = sign * np.stack([-forth[:, 1], forth[:, 0]], axis=1)
    before = np.roll(normal, 1, axis=0)
    both = normal + before
    both /= np.maximum((both * normal).sum(axis=1, keepdims=True), 0.3)
    moved: Floats = outline + by * both
    return moved


def cut_ears(outline: Floats) -> list[tuple[int, int, int]]:
    """Triangles of a simple polygon, each turning the way the outline does. Raises ValueError if it crosses itself."""
    sign = 1.0 if area(outline) > 0 else -1.0
    left = list(range(len(outline)))
    cut = []
    while len(left) >= 3:
        ears = [k for k in range(len(left)) if _is_ear(outline, left, k, sign)]
        if not ears:
            raise ValueError(f"no triangle can be cut from the outline {outline[left].tolist()}: it crosses itself")
        # The fattest ear first: slivers spoil the shading.
        best = max(ears, key=lambda k: _fatness(outline[[left[k - 1], left[k], left[(k + 1) % len(left)]]]))
        cut.append((left[best - 1], left[best], left[(best + 1) % len(left)]))
        del left[best]
    return cut


def _is_ear(outline: Floats, left: list[int], k: int, sign: float) -> bool:
    a, b, c = (outline[left[k - 1]], outline[left[k]], outline[left[(k + 1) % len(left)]])
    if sign * _cross(b - a, c - b) <= 1e-12:
        return False
    corners = {left[k - 1], left[k], left[(k + 1) % len(left)]}
    others = (outline[i] for i in left if i not in corners)
    return not any(all(sign * _cross(q - p, o - p) >= -1e-12 for p, q in ((a, b), (b, c), (c, a))) for o in others)


def _fatness(corners: Floats) -> float:
    """Area over the square of the perimeter."""
    sides = corners - np.roll(corners, 1, axis=0)
    around = float(np.sqrt((sides**2).sum(axis=1)).sum())
    return abs(area(corners)) / around**2


def _cross(a: Floats, b: Floats) -> float:
    return float(a[0] * b[1] - a[1] * b[0])
