"""Layout of contexts: the four images have their objects in the same places, so places alone identify no image.

A place has one size of object in all images, and each image assigns its objects to the places of their size anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, ...]
_TRIES = 400


class Ground(NamedTuple):
    """Where objects stand. area: smallest and largest coordinate. camera: x and y of the camera, which looks at the
    origin; () for a flat image. radius: of each size. shadow: how far behind an object of a size another one is hidden.
    margin: smallest difference that counts as a relation; all differences are 0 or twice as large. digits: of
    coordinates. jitter: of the camera, drawn once per context.
    """

    area: tuple[float, float]
    camera: Point
    radius: Mapping[str, float]
    shadow: Mapping[str, float]
    margin: float
    digits: int
    jitter: float = 0.0

    def axes(self, camera: Point) -> NDArray[np.float64]:
        """Unit vectors to the right and to the front, (2, 2)."""
        if not camera:
            return np.array([[1.0, 0.0], [0.0, 1.0]])
        x, y = np.array(camera[:2]) / math.hypot(*camera[:2])
        return np.array([[-y, x], [x, y]])


def draw_places(
    ground: Ground, camera: Point, sizes: Sequence[str], lines: Sequence[Sequence[int]], rng: np.random.Generator
) -> NDArray[np.float64] | None:
    """Places of objects as (count, 2) coordinates on the ground; None if none were found.

    lines: places that have the same coordinate along one drawn axis, to the right or to the front.
    """
    axes = ground.axes(camera)
    points = rng.uniform(*ground.area, (_TRIES, len(sizes), 2)) @ axes.T
    for line in lines:
        axis = int(rng.integers(2))
        points[:, line, axis] = points[:, line[:1], axis]
    world = points @ axes
    fits = ((world >= ground.area[0]) & (world <= ground.area[1])).all(axis=(1, 2))
    for a, b in combinations(range(len(sizes)), 2):
        away = np.abs(points[:, a] - points[:, b])
        touching = ground.radius[sizes[a]] + ground.radius[sizes[b]]
        behind = np.where(points[:, a, 1] > points[:, b, 1], ground.shadow[sizes[a]], ground.shadow[sizes[b]])
        fits &= np.hypot(*away.T) >= 1.15 * touching
        fits &= (away[:, 0] >= 1.2 * touching) | (away[:, 1] >= behind)
        fits &= ((away >= 2 * ground.margin) | (away < 1e-9)).all(axis=1)
    found = np.flatnonzero(fits)
    return world[found[0]].round(ground.digits) if len(found) else None


def relations_at(ground: Ground, camera: Point, places: NDArray[np.float64]) -> tuple[tuple[str, int, int], ...]:
    """(left or front, object, of object) for objects in these places, sorted."""
    right, front = (places @ ground.axes(camera).T).T
    found = [
        (name, a, b)
        for name, along in (("left", right), ("front", -front))
        for a in range(len(places))
        for b in range(len(places))
        if along[b] - along[a] > ground.margin
    ]
    return tuple(sorted(found))


def telling_layouts(images: Sequence[Sequence[Point]]) -> list[str]:
    """For each image, what identifies it by its layout alone: a number of objects, quadrants, gaps, or rows; else "".

    images: the coordinates of the objects of each; the first two count. They are compared with the range of all images.
    """
    points = np.array([point[:2] for image in images for point in image], dtype=np.float64)
    low, extent = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-9)
    facts = [_facts((np.array([point[:2] for point in image]) - low) / extent) for image in images]
    return [next((name for name in own if sum(other[name] == own[name] for other in facts) == 1), "") for own in facts]


def _facts(points: NDArray[np.float64]) -> dict[str, object]:
    """What a layout shows. points: coordinates from 0 to 1, (count, 2)."""
    gaps = np.diff(np.sort(points, axis=0), axis=0)
    return {
        "number of objects": len(points),
        "quadrants": sorted((points > 0.5).tolist()),
        "widest gaps": gaps.argmax(axis=0).tolist() if len(gaps) else [],
        "rows and columns": (gaps > 0.15).sum(axis=0).tolist(),
    }
