"""`lathe`: two bellies around a waist and a collar, with ribs that wind about a crooked axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from diorama.scene_specs.invented.surfaces import Faces, Floats, bump, closed_grid, mix, turn

AXES = {
    "waist": "how deep the middle is pinched",
    "ribs": "how far the ribs stand out",
    "girth": "how wide it is for its height",
    "crown": "how wide the upper belly is for the lower one",
}
LARGEST = {"waist": 0.0, "ribs": 1.0, "girth": 1.0, "crown": 1.0}
ROWS, COLUMNS, _CAP, _FINE = 72, 80, 12, 720
# Share of the radius and height of the rings of a flat base with a rounded edge.
_EDGE = ((0.35, 0.0), (0.7, 0.0), (0.88, 0.0), (0.95, 0.012), (0.985, 0.035), (1.0, 0.07))


def _ribs(count: int, start: float, winding: float) -> Floats:
    """A ripple of `count` ribs around the axis, which winds by some turns of a rib from bottom to top."""
    angle = np.arange(COLUMNS) * (_FINE // COLUMNS * count)
    angle = angle + (_FINE * (start + winding * np.arange(ROWS)[:, None] / ROWS)).astype(np.intp)
    cosine = turn(_FINE)[0]
    ripple: Floats = cosine[angle % _FINE] + 0.25 * cosine[2 * angle % _FINE]
    return ripple


def build(axes: Mapping[str, float], rng: np.random.Generator) -> tuple[Floats, Faces]:
    """Return vertices and triangles."""
    u = rng.random(20).tolist()
    quarter, wall, top = turn(4 * _CAP), ROWS - len(_EDGE) - _CAP + 1, mix(0.78, 0.88, u[2])
    side = [(1.0, 0.07 + (top - 0.07) * (k + 1) / wall) for k in range(wall)]
    cap = [(quarter[0][k], top + (1 - top) * quarter[1][k]) for k in range(1, _CAP)]
    rings = np.array([*_EDGE, *side, *cap])
    close, z = rings[:, :1], rings[:, 1:]
    middle, collar = mix(0.4, 0.56, u[3]), mix(0.3, 0.75, u[11])
    lower, upper = bump((z - mix(0.1, 0.3, u[4])) / 0.4), bump((z - mix(0.75, 0.95, u[5])) / 0.42)
    radius = 0.36 + mix(0.2, 0.45, u[6]) * lower + mix(0.1, 0.55, axes["crown"]) * upper
    radius = radius * (1 - mix(0.0, 0.74, axes["waist"]) * bump((z - middle) / 0.34))
    radius = radius + mix(0.04, 0.16, u[12]) * bump((z - collar) / 0.12)
    share = np.clip((z - middle + 0.12) / 0.24, 0, 1)
    share = share * share * (3 - 2 * share)
    low = _ribs(3 + int(u[0] * 3), u[13], mix(-1.4, 1.4, u[14]))
    high = _ribs(3 + int(u[1] * 2), u[7], mix(-1.2, 1.2, u[15]))
    radius = radius * (1 + mix(0.2, 0.6, axes["ribs"]) * ((1 - share) * low + share * high))
    radius = radius * close * mix(0.42, 0.78, axes["girth"])
    cosine, sine = turn(COLUMNS)
    # A crooked axis, and a slanted top.
    away, size = int(u[9] * COLUMNS), mix(0.14, 0.26, u[8])
    bend = size * (bump((z - mix(0.35, 0.55, u[16])) / 0.5) - 0.7 * z * z)
    x, y = radius * cosine + cosine[away] * bend, radius * sine + sine[away] * bend
    slant = 0.26 * z * z * (cosine * cosine[away] + sine * sine[away]) * radius * (1 if u[10] < 0.5 else -1)
    walls = np.stack([x, y, 1.9 * (z + slant)], axis=-1).reshape(-1, 3)
    end = size * (float(bump(np.array([(1 - mix(0.35, 0.55, u[16])) / 0.5]))[0]) - 0.7)
    poles = [[[0.0, 0.0, 0.0]], [[end * cosine[away], end * sine[away], 1.9]]]
    return np.concatenate([poles[0], walls, poles[1]]), closed_grid(ROWS, COLUMNS)
