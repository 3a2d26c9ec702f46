"""Height of a stage's ground: a monotone cubic (Fritsch-Carlson) through its profile, without Blender."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.model.stage import StageGround
from diorama.scene_specs.rotation import Floats, Vec

# Points of a ray where `is_between` compares it with the ground.
_SAMPLES = 512


@lru_cache(maxsize=16)
def _profile_tangents(profile: tuple[tuple[float, float], ...]) -> tuple[Floats, Floats, Floats]:
    s = np.array([p[0] for p in profile])
    h = np.array([p[1] for p in profile])
    step, rise = np.diff(s), np.diff(h)
    secant = rise / step
    m = np.zeros_like(h)
    w1, w2 = 2 * step[1:] + step[:-1], step[1:] + 2 * step[:-1]
    with np.errstate(divide="ignore"):
        inner = (w1 + w2) / (w1 / secant[:-1] + w2 / secant[1:])
    m[1:-1] = np.where(secant[:-1] * secant[1:] > 0, inner, 0.0)
    m[0], m[-1] = 0.0, secant[-1]
    return s, h, m


def height_and_slope(ground: StageGround, s: Floats) -> tuple[Floats, Floats]:
    """Height (Blender units) and dz/ds at distances s along the direction of the ground; constant beyond its ends."""
    knots, heights, tangents = _profile_tangents(ground.profile)
    x = np.minimum(np.maximum(s, knots[0]), knots[-1])
    k = np.minimum(knots.searchsorted(x, side="right") - 1, len(knots) - 2)
    step = knots[k + 1] - knots[k]
    t = (x - knots[k]) / step
    h0, h1, m0, m1 = heights[k], heights[k + 1], tangents[k] * step, tangents[k + 1] * step
    t2, t3 = t * t, t * t * t
    value = (2 * t3 - 3 * t2 + 1) * h0 + (t3 - 2 * t2 + t) * m0 + (3 * t2 - 2 * t3) * h1 + (t3 - t2) * m1
    change = ((6 * t2 - 6 * t) * (h0 - h1) + (3 * t2 - 4 * t + 1) * m0 + (3 * t2 - 2 * t) * m1) / step
    return value, change


def height_at(ground: StageGround, x: Floats, y: Floats) -> Floats:
    """Height (Blender units) of the ground below world points."""
    return height_and_slope(ground, x * ground.direction[0] + y * ground.direction[1])[0]


def highest_before(ground: StageGround, s: float) -> float:
    """Height (Blender units) that the ground doesn't exceed up to a distance along its direction: of a point of it."""
    profile = ground.profile
    return max([profile[0][1], *(h for (before, _), (_, h) in pairwise(profile) if before < s)])


def on_sheet(ground: StageGround, x: Floats, y: Floats) -> NDArray[np.bool_]:
    """Whether the ground extends to the x, y of world points."""
    along = x * ground.direction[0] + y * ground.direction[1]
    aside = x * ground.direction[1] - y * ground.direction[0]
    lengths = (ground.profile[0][0], ground.profile[-1][0])
    inside: NDArray[np.bool_] = (along >= lengths[0]) & (along <= lengths[1])
    inside &= (aside >= ground.across[0]) & (aside <= ground.across[1])
    return inside


def is_between(ground: StageGround, eye: Vec, point: Vec) -> bool:
    """Whether the ground hides a point above it from a camera, which is then below or behind the ground."""
    along = max(x * ground.direction[0] + y * ground.direction[1] for x, y, _ in (eye, point))
    if min(eye[2], point[2]) >= highest_before(ground, along):
        return False
    share = np.linspace(0.0, 1.0, _SAMPLES)
    x, y, z = (p + (e - p) * share for p, e in zip(point, eye, strict=True))
    return bool(((z < height_at(ground, x, y)) & on_sheet(ground, x, y)).any())
