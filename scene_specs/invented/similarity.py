"""How similar two shapes are: the distance of their surfaces, and of their silhouettes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from diorama.scene_specs.invented.invented_mesh import invented_mesh
from diorama.scene_specs.invented.surfaces import Faces, Floats

# Points of a surface whose distances are averaged, and those of the other surface to find the nearest of.
POINTS, DENSE = 200, 1600
# Pixels along each side of a silhouette, which shows a square of 2.4.
PIXELS = 96


def surface_points(vertices: Floats, triangles: Faces) -> Floats:
    """Return points that are spread evenly over a surface, (DENSE, 3): equal surfaces have equal points."""
    a, b, c = (vertices[triangles[:, k]].T for k in range(3))
    u, v = b - a, c - a
    x, y, z = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
    areas = np.cumsum(np.sqrt(x * x + y * y + z * z))
    chosen = np.searchsorted(areas, areas[-1] * (np.arange(DENSE) + 0.5) / DENSE)
    points: Floats = ((a + b + c) / 3).T[chosen]
    return points


@lru_cache(maxsize=256)
def _points(name: str) -> Floats:
    return surface_points(*invented_mesh(name))


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
    return chamfer_of(_points(one), _points(other))


def chamfer_of(one: Floats, other: Floats) -> float:
    """Return the chamfer distance of two sets of points, (DENSE, 3) each."""
    near = []
    for few, many in ((one[:: DENSE // POINTS], other), (other[:: DENSE // POINTS], one)):
        square = sum((few[:, None, k] - many[None, :, k]) ** 2 for k in range(3))
        near.append(np.sqrt(np.min(square, axis=1)))
    return round(float(sum(np.cumsum(part)[-1] / len(part) for part in near)) / 2, 6)


def silhouettes(vertices: Floats, triangles: Faces) -> NDArray[np.bool_]:
    """Return masks (3, PIXELS, PIXELS) of a mesh: from the front, from the left, and at 45 degrees between them."""
    masks = []
    for right in ((1.0, 0.0), (0.0, 1.0), (0.70710678, 0.70710678)):
        x, y = vertices[:, 0] * right[0] + vertices[:, 1] * right[1], -vertices[:, 2]
        corners = (np.stack([x, y], axis=1) / 2.4 + 0.5)[triangles] * PIXELS
        image = Image.new("1", (PIXELS, PIXELS))
        draw = ImageDraw.Draw(image)
        for triangle in corners.reshape(-1, 6).tolist():
            draw.polygon(triangle, fill=1)
        masks.append(np.asarray(image))
    return np.stack(masks)


def silhouette(one: str, other: str) -> float:
    """Return 1 - IoU of the silhouettes of two invented shapes, over three views; see `chamfer` for the arguments."""
    masks = [silhouettes(*invented_mesh(name)) for name in (one, other)]
    return round(1 - int((masks[0] & masks[1]).sum()) / int((masks[0] | masks[1]).sum()), 6)
