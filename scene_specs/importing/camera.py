"""Recover the camera of a published scene, which its file does not record.

CLEVR and MEWL aim their camera at the origin and add jitter to its location L only. `pixel_coords` of each object
hold its depth d = (P - L) . f with f = -L / |L|, unrounded, so three objects determine L. Pixel coordinates are rounded
to integers; they verify the solution, and decide it if depths alone are ambiguous (collinear objects).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vec = tuple[float, float, float]
Array = NDArray[np.float64]

# Ratio of the errors of depths (32-bit arithmetic) and of pixels (rounded).
_PIXEL_WEIGHT = 1e-6
_PIXEL_WEIGHT_FIRST = 1e-2
# Above these residuals (rounding is half a pixel), the numbers belong to another kind of camera.
MAX_DEPTH_RESIDUAL = 1e-3
MAX_PIXEL_RESIDUAL = 1.0
_STEPS = 30


class Recovery(NamedTuple):
    """A recovered camera. location: Blender units. size: of the image, pixels.

    depth_residual (Blender units), pixel_residual (pixels): largest of all objects.
    """

    location: Vec
    depth_residual: float
    pixel_residual: float
    size: tuple[int, int]

    @property
    def consistent(self) -> bool:
        """Return whether a camera aimed at the origin explains the file's numbers."""
        return self.depth_residual <= MAX_DEPTH_RESIDUAL and self.pixel_residual <= MAX_PIXEL_RESIDUAL


def project(location: Array, points: Array, focal: float, size: tuple[int, int]) -> Array:
    """Project (N, 3) world points to (N, 3), x and y in pixels and depth, by a camera aimed at the origin.

    focal: focal length as a share of the image's longer side.
    """
    forward = -location / math.sqrt(float((location * location).sum()))
    right = np.array([forward[1], -forward[0], 0.0])
    right /= math.sqrt(float((right * right).sum()))
    # Written out: the search for a camera projects thousands of times, and np.cross takes longer than all the rest.
    down = np.array([-forward[2] * right[1], forward[2] * right[0], forward[0] * right[1] - forward[1] * right[0]])
    delta = points - location
    x, y, z = ((delta * axis).sum(axis=1) for axis in (right, down, forward))
    scale = focal * max(size)
    return np.stack([size[0] / 2 + scale * x / z, size[1] / 2 + scale * y / z, z], axis=1)


def recover(
    points: Array, pixels: Array, nominal: Vec, focal: float, sizes: Sequence[tuple[int, int]]
) -> Recovery | None:
    """Return the camera that saw `points` at `pixels`, by Gauss-Newton from the nominal location.

    points: (N, 3) world. pixels: (N, 3) x, y and depth as in `pixel_coords`. sizes: candidate image sizes, of which the
    best fit is used. None with fewer than three points, or if the iteration diverges.
    """
    if len(points) < 3:
        return None
    start = np.array(nominal)
    best: Recovery | None = None
    for size in sorted(sizes, key=lambda size: float(np.abs(project(start, points, focal, size) - pixels).max())):
        found = _solve(points, pixels, start, focal, size)
        if found is not None and (best is None or found.pixel_residual < best.pixel_residual):
            best = found
        # A wrong size is off by tens of pixels.
        if best is not None and best.consistent:
            break
    return best


def _solve(points: Array, pixels: Array, start: Array, focal: float, size: tuple[int, int]) -> Recovery | None:
    # Depths of three collinear objects fit two cameras: pixels select one, and depths then locate it.
    location = start
    for weight in (_PIXEL_WEIGHT_FIRST, _PIXEL_WEIGHT):
        better = _descend(points, pixels, location, focal, size, weight)
        if better is None:
            return None
        location = better
    off = np.abs(project(location, points, focal, size) - pixels).max(axis=0)
    found = (float(location[0]), float(location[1]), float(location[2]))
    return Recovery(found, float(off[2]), float(max(off[0], off[1])), size)


def _descend(
    points: Array, pixels: Array, location: Array, focal: float, size: tuple[int, int], pixel_weight: float
) -> Array | None:
    """Run Gauss-Newton from `location`; None if it diverges."""
    weights = np.array([pixel_weight, pixel_weight, 1.0])

    def error(place: Array) -> Array:
        off: Array = project(place, points, focal, size) - pixels
        return np.ravel(off * weights)

    residual = error(location)
    for _ in range(_STEPS):
        columns = [(error(location + step) - error(location - step)) / 2e-5 for step in np.eye(3) * 1e-5]
        change = np.linalg.lstsq(np.stack(columns, axis=1), -residual, rcond=None)[0]
        # Halving keeps an overshooting step from reaching another solution.
        while float(np.abs(change).max()) > 1.0:
            change = change / 2
        location = location + change
        residual = error(location)
        if not np.isfinite(residual).all():
            return None
        if float(np.abs(change).max()) < 1e-10:
            break
    return location
