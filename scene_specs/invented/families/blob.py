"""`blob`: a lump with lobes around a center, which stands on a flat cut."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from diorama.scene_specs.invented.surfaces import Faces, Floats, bump, closed_grid, mix, turn

AXES = {
    "roundness": "how little its lobes stand out",
    "height": "how tall it is for its width",
    "squeeze": "how flat it is from one side",
}
LARGEST = {"roundness": 0.0, "height": 1.0, "squeeze": 0.0}
ROWS, COLUMNS, _LOBES, _GOUGES = 71, 80, 7, 7


def _direction(azimuth: float, slope: float) -> tuple[float, float, float]:
    """A unit vector. azimuth: in turns; slope: z over the distance from the axis."""
    at = int(azimuth * 720) % 720
    length = (1 + slope * slope) ** 0.5
    cosine, sine = turn(720)
    return (float(cosine[at]) / length, float(sine[at]) / length, slope / length)


def build(axes: Mapping[str, float], rng: np.random.Generator) -> tuple[Floats, Faces]:
    """Return vertices and triangles."""
    # Lobes of all sizes and at all heights: like ones make hearts and stars. Oblique gouges that each go halfway around:
    # without them it is a rock, and with furrows all around a bud, a shell or a hat.
    count = _LOBES + _GOUGES
    u = ((np.argsort(rng.random((count, 4)), axis=0) + rng.random((count, 4))) / count).tolist()
    rise, around = turn(2 * (ROWS + 1)), turn(COLUMNS)
    out, up = rise[1][1 : ROWS + 1, None], -rise[0][1 : ROWS + 1, None]
    x, y = (np.concatenate([[0.0], (out * part).ravel(), [0.0]]) for part in around)
    z = np.concatenate([[-1.0], np.repeat(up, COLUMNS), [1.0]])
    strength = mix(1.0, 0.66, axes["roundness"])
    radius = np.full(len(x), 0.55)
    for k, (a, b, c, d) in enumerate(u):
        lobe = k < _LOBES
        px, py, pz = _direction((0.2 if lobe else 0.618) * k + 0.3 * a, mix(-0.5 if lobe else 0.3, 1.6, b))
        along = x * px + y * py + z * pz
        if lobe:
            near = 1 / (1 + mix(5, 11, c) * (1 - along))
            radius = radius + strength * mix(0.25, 0.9, d) * near * near
        else:
            # Gouges end at the lower pole, which would else be above the ground that the rest is cut at.
            half = bump(np.minimum(1, 1 - 1.3 * (y * px - x * py))) * np.minimum(1, 1 + z)
            radius = radius * (1 - strength * mix(0.5, 0.7, c) * half * bump((along - mix(-0.3, 0.3, d)) / 0.3))
    # Cut along the rays from the center, so that no part overlaps another.
    floor = mix(0.3, 0.4, u[0][3])
    radius = np.where(z < 0, np.minimum(radius, -floor / np.minimum(z, -1e-3)), radius)
    height = np.where(radius * z < 1e-9 - floor, -floor, radius * z)
    # Squeezed along a direction that no axis of the image follows.
    squeeze, deep = mix(0.0, 0.42, axes["squeeze"]), mix(0.75, 1.35, axes["height"])
    along = squeeze * (0.8 * x + 0.6 * y)
    parts = [radius * (x - 0.8 * along), radius * (y - 0.6 * along), deep * height]
    return np.stack(parts, axis=1), closed_grid(ROWS, COLUMNS)
