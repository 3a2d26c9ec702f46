"""How similar two invented shapes are: the distance of their surfaces."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from diorama.scene_specs.shapes.invented.invented_mesh import invented_mesh
from diorama.scene_specs.shapes.invented.surfaces import Floats

# Points of a surface whose distances are averaged, and those of the other surface to find the nearest of.
POINTS, DENSE = 200, 1600


@lru_cache(maxsize=256)
def _surface_points(name: str) -> Floats:
    """Points that are spread evenly over a surface, (DENSE, 3): equal surfaces have equal points."""
    vertices, triangles = invented_mesh(name)
    a, b, c = (vertices[triangles[:, k]].T for k in range(3))
    u, v = b - a, c - a
    x, y, z = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
    areas = np.cumsum(np.sqrt(x * x + y * y + z * z))
    chosen = np.searchsorted(areas, areas[-1] * (np.arange(DENSE) + 0.5) / DENSE)
    points: Floats = ((a + b + c) / 3).T[chosen]
    return points


@lru_cache(maxsize=1024)
def chamfer(one: str, other: str) -> float:
    """Return the mean distance of a point of one shape to the nearest point of the other, in both directions.

    Args:
        one: name of an invented shape.
        other: name of an invented shape.

    Raises:
        ValueError: a name is malformed.
        PluginError: a family is unknown or can't be imported.
    """
    near, (a, b) = [], (_surface_points(one), _surface_points(other))
    for few, many in ((a[:: DENSE // POINTS], b), (b[:: DENSE // POINTS], a)):
        square = sum((few[:, None, k] - many[None, :, k]) ** 2 for k in range(3))
        near.append(np.sqrt(np.min(square, axis=1)))
    return round(float(sum(np.cumsum(part)[-1] / len(part) for part in near)) / 2, 6)
