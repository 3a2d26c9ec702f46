"""`blob`: a lump in folds, which stands on a flat cut."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from diorama.scene_specs.shapes.invented.surfaces import Faces, Floats, closed_grid, mix, strata, turn, twisted, waves

AXES = {
    "roundness": "how little its folds stand out",
    "height": "how tall it is for its width",
    "squeeze": "how flat it is from one side",
}
LARGEST = {"roundness": 0.0, "height": 1.0, "squeeze": 0.0}
ROWS, COLUMNS = 71, 80


def build(axes: Mapping[str, float], rng: np.random.Generator) -> tuple[Floats, Faces]:
    """Return vertices and triangles."""
    u = strata(rng, 8, 4)
    rise, around = turn(2 * (ROWS + 1)), turn(COLUMNS)
    out, up = rise[1][1 : ROWS + 1, None], -rise[0][1 : ROWS + 1, None]
    x, y = (np.concatenate([[0.0], (out * part).ravel(), [0.0]]) for part in around)
    z = np.concatenate([[-1.0], np.repeat(up, COLUMNS), [1.0]])
    folds = waves(x, y, z, u)
    # Folds end at the lower pole, which would else be above the ground that the rest is cut at.
    folds *= mix(3.2, 1.15, axes["roundness"]) * np.minimum(1, 1 + z)
    # What rises upward is low, because two high lobes are ears, three a flower.
    radius = (1 + np.maximum(folds, 0) * (0.9 - 0.6 * np.maximum(z, 0))) / (1 - np.minimum(folds, 0))
    radius = 2.2 * radius / (1 + 1.2 * radius)
    # Cut along the rays from the center, so that no part overlaps another.
    floor = mix(0.3, 0.4, u[0][3])
    radius = np.where(z < 0, np.minimum(radius, -floor / np.minimum(z, -1e-3)), radius)
    height = np.where(radius * z < 1e-9 - floor, -floor, radius * z)
    # Squeezed along a direction that no axis of the image follows.
    squeeze, deep = mix(0.18, 0.55, axes["squeeze"]), mix(0.75, 1.35, axes["height"])
    along = squeeze * (0.8 * x + 0.6 * y)
    parts = [radius * (x - 0.8 * along), radius * (y - 0.6 * along), deep * height]
    # Twisted one way or the other, so that no side mirrors another.
    way = 0.5 if u[0][2] < 0.5 else -0.5
    return twisted(np.stack(parts, axis=1), way / deep), closed_grid(ROWS, COLUMNS)
