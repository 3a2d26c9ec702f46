"""`lathe`: two bellies around a waist and a collar, with ribs that wind both ways about a crooked axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from diorama.scene_specs.invented.surfaces import Faces, Floats, bump, closed_grid, lean, mix, rings, ripple, upright

AXES = {
    "waist": "how deep the middle is pinched",
    "ribs": "how far the ribs stand out",
    "girth": "how wide it is for its height",
    "crown": "how wide the upper belly is for the lower one",
}
LARGEST = {"waist": 0.0, "ribs": 1.0, "girth": 1.0, "crown": 1.0}
ROWS, COLUMNS = 72, 80


def build(axes: Mapping[str, float], rng: np.random.Generator) -> tuple[Floats, Faces]:
    """Return vertices and triangles."""
    u = rng.random(20).tolist()
    close, z = rings(ROWS, 24, mix(0.5, 0.65, u[2]))
    # Bellies bulge to one side, waist and collar slant: level and round ones make goblets, vases and mushrooms.
    one, two = lean(COLUMNS, u[17]), lean(COLUMNS, u[17] + mix(0.3, 0.7, u[18]))
    middle, collar = mix(0.4, 0.56, u[3]) + 0.24 * one, mix(0.3, 0.7, u[11]) + 0.3 * two
    lower = (1 - 0.4 * one) * bump((z - mix(0.1, 0.3, u[4]) - 0.12 * two) / 0.4)
    upper = (1 + 0.5 * two) * bump((z - mix(0.56, 0.72, u[5]) + 0.12 * one) / 0.42)
    radius = 0.44 + mix(0.2, 0.4, u[6]) * lower + mix(0.03, 0.65, axes["crown"]) * upper
    radius = radius + mix(0.16, 0.3, u[12]) * bump((z - collar) / 0.14)
    radius = radius * (1 - mix(-0.2, 0.5, axes["waist"]) * bump((z - middle) / 0.46))
    # Two systems of ribs that wind against each other: one alone makes necks, beaks and shoes.
    way = 1 if u[14] < 0.5 else -1
    folds = 0.6 * ripple(ROWS, COLUMNS, 4 + int(u[0] * 2), u[13], way * mix(0.8, 1.6, u[15]))
    folds = folds + 0.4 * ripple(ROWS, COLUMNS, 3, u[7], -way * mix(0.5, 1.2, u[19]))
    radius = radius * np.maximum(1 + mix(0.65, 1.7, axes["ribs"]) * folds, 0.06)
    bend = mix(0.1, 0.2, u[8]) * (bump((z - mix(0.35, 0.55, u[16])) / 0.5) - 0.7 * z * z)
    radius = radius * close * mix(0.6, 1.04, axes["girth"])
    # Wide parts grow less, so that the widest shape of a seed, which decides its scale, is no giant.
    radius = radius / (1 + 0.4 * radius)
    return upright(radius, z, 2.2, u[9], bend, 0.25 if u[10] < 0.5 else -0.25), closed_grid(ROWS, COLUMNS)
