"""`lathe`: two bellies and a waist, in ribs that run in all directions, about a crooked axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from diorama.scene_specs.shapes.invented import surfaces

AXES = {
    "waist": "how deep the middle is pinched",
    "ribs": "how far the ribs stand out",
    "girth": "how wide it is for its height",
    "crown": "how wide the upper belly is for the lower one",
}
LARGEST = {"waist": 0.0, "ribs": 1.0, "girth": 1.0, "crown": 1.0}
ROWS, COLUMNS = 72, 80


def build(axes: Mapping[str, float], rng: np.random.Generator) -> tuple[surfaces.Floats, surfaces.Faces]:
    """Return vertices and triangles."""
    u = rng.random(12).tolist()
    close, z = surfaces.rings(ROWS, 24, surfaces.mix(0.6, 0.75, u[0]))
    # Bellies bulge to one side, the waist slants: level and round ones make goblets, vases and mushrooms.
    slant, bulge = surfaces.lean(COLUMNS, u[10]), surfaces.lean(COLUMNS, u[10] + surfaces.mix(0.3, 0.7, u[11]))
    middle = surfaces.mix(0.4, 0.56, u[1]) + 0.24 * slant
    lower = (1 - 0.4 * slant) * surfaces.bump((z - surfaces.mix(0.1, 0.3, u[2]) - 0.12 * bulge) / 0.4)
    upper = (1 + 0.5 * bulge) * surfaces.bump((z - surfaces.mix(0.56, 0.72, u[3]) + 0.12 * slant) / 0.42)
    radius = 0.6 + surfaces.mix(0.2, 0.4, u[4]) * lower + surfaces.mix(0.03, 0.65, axes["crown"]) * upper
    radius = radius * (1 - surfaces.mix(0.0, 0.5, axes["waist"]) * surfaces.bump((z - middle) / 0.46))
    cosine, sine = surfaces.turn(COLUMNS)
    # Ribs around one axis make stars, fruit, capes and tents.
    folds = surfaces.waves(close * cosine, close * sine, 2 * z - 1, surfaces.strata(rng, 8, 4))
    folds = surfaces.mix(0.7, 2.0, axes["ribs"]) * folds * np.minimum(1, 3 * z)
    radius = radius * (1 + np.maximum(folds, 0) * (0.8 - 0.5 * z)) / (1 - np.minimum(folds, 0))
    bend = surfaces.mix(0.1, 0.2, u[5]) * (surfaces.bump((z - surfaces.mix(0.35, 0.55, u[9])) / 0.5) - 0.7 * z * z)
    radius = radius * close * surfaces.mix(0.58, 0.96, axes["girth"])
    # Narrower below: wide skirts under folds make dressed people and tents.
    radius = radius * (0.75 + 0.35 * z)
    # Wide parts grow less, so that the widest shape of a seed, which decides its scale, is no giant.
    radius = 1.1 * radius / (1 + 0.55 * radius)
    vertices = surfaces.upright(radius, z, 2.0, u[6], bend, 0.25 if u[7] < 0.5 else -0.25)
    return surfaces.twisted(vertices, 0.35 if u[8] < 0.5 else -0.35), surfaces.closed_grid(ROWS, COLUMNS)
