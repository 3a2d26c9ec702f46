"""`blob`: a lump in folds that wind around slanting lines, which stands on a flat cut."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from diorama.scene_specs.invented.surfaces import Faces, Floats, closed_grid, mix, turn

AXES = {
    "roundness": "how little its folds stand out",
    "height": "how tall it is for its width",
    "squeeze": "how flat it is from one side",
}
LARGEST = {"roundness": 0.0, "height": 1.0, "squeeze": 0.0}
ROWS, COLUMNS, _FOLDS = 71, 80, 6


def build(axes: Mapping[str, float], rng: np.random.Generator) -> tuple[Floats, Faces]:
    """Return vertices and triangles."""
    u = ((np.argsort(rng.random((_FOLDS, 4)), axis=0) + rng.random((_FOLDS, 4))) / _FOLDS).tolist()
    rise, around = turn(2 * (ROWS + 1)), turn(COLUMNS)
    out, up = rise[1][1 : ROWS + 1, None], -rise[0][1 : ROWS + 1, None]
    x, y = (np.concatenate([[0.0], (out * part).ravel(), [0.0]]) for part in around)
    z = np.concatenate([[-1.0], np.repeat(up, COLUMNS), [1.0]])
    # Sums of four waves around each of several slanting lines have no front, limbs or petals, as single lobes do.
    folds = np.zeros(len(x))
    for k, (a, b, c, d) in enumerate(u):
        at, slope = int(720 * (0.38 * k + 0.3 * a)) % 720, mix(-0.5, 1.6, b)
        cosine, sine = (float(part[at]) for part in turn(720))
        level = 1 / (1 + slope * slope) ** 0.5
        flat, side = x * cosine + y * sine, y * cosine - x * sine
        along, over = level * (flat + slope * z), level * (z - slope * flat)
        # The square of the complex number `side + i over`, turned by an angle that grows along the line.
        wind = 2.6 * (along - mix(-0.5, 0.5, d))
        p, q = side * side - over * over, 2 * side * over
        p, q = p + q * wind, q - p * wind
        folds += mix(0.35, 0.5, c) * (p * p - q * q) / (1 + wind * wind) * (1 if k % 2 else -1)
    # Folds end at the lower pole, which would else be above the ground that the rest is cut at.
    folds *= mix(2.2, 1.15, axes["roundness"]) * np.minimum(1, 1 + z)
    radius = (1 + np.maximum(folds, 0)) / (1 - np.minimum(folds, 0))
    radius = 1.5 * radius / (1 + 0.5 * radius)
    # Cut along the rays from the center, so that no part overlaps another.
    floor = mix(0.3, 0.4, u[0][3])
    radius = np.where(z < 0, np.minimum(radius, -floor / np.minimum(z, -1e-3)), radius)
    height = np.where(radius * z < 1e-9 - floor, -floor, radius * z)
    # Squeezed along a direction that no axis of the image follows.
    squeeze, deep = mix(0.18, 0.55, axes["squeeze"]), mix(0.75, 1.35, axes["height"])
    along = squeeze * (0.8 * x + 0.6 * y)
    parts = [radius * (x - 0.8 * along), radius * (y - 0.6 * along), deep * height]
    return np.stack(parts, axis=1), closed_grid(ROWS, COLUMNS)
