"""The mesh of an invented shape, as its family builds it, standing stably at the size of CLEVR's shapes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from diorama.scene_specs.language.invented import parse_invented
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.shapes.invented.surfaces import Faces, Floats


@lru_cache(maxsize=64)
def invented_mesh(name: str) -> tuple[Floats, Faces]:
    """Return vertices (V, 3) and triangles (T, 3), counter-clockwise seen from outside; do not change the arrays.

    The mesh stands on z = -1 and fits into the disc of radius 1 and the height 2 of CLEVR's shapes. All shapes of a
    seed have one scale, at which the largest of them fills that space, so that an axis changes nothing but what it is
    for. Coordinates are rounded to 1e-5.

    Raises:
        ValueError: the name is malformed.
        PluginError: the family is unknown or can't be imported.
    """
    shape = parse_invented(name)
    if shape is None:
        raise ValueError(f"malformed name of an invented shape: {name!r}")
    vertices, triangles = _standing_shape(shape.family, shape.seed, shape.complete().axes)
    extent = max(_fitting_scale(vertices), _largest_scale(shape.family, shape.seed))
    return np.round(vertices / extent - [0, 0, 1], 5), triangles


def mass_center(vertices: Floats, triangles: Faces) -> tuple[tuple[float, float, float], float]:
    """Return the center of mass of the enclosed volume, and the volume; the origin and 0 if nothing is enclosed."""
    a, b, c = (vertices[triangles[:, k]].T for k in range(3))
    parts = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])
    # cumsum adds in order; sum adds in blocks whose size depends on the processor.
    x, y, z = (float(np.cumsum(parts * (a[k] + b[k] + c[k]))[-1]) for k in range(3))
    volume = 4 * float(np.cumsum(parts)[-1])
    return ((x / volume, y / volume, z / volume) if volume else (0.0, 0.0, 0.0)), volume / 24


def _standing_shape(family: str, seed: int, axes: Mapping[str, float]) -> tuple[Floats, Faces]:
    """Return a shape on z = 0, sheared so that its center of mass is above its first vertex, the middle of its base."""
    rng = generator(seed, f"{family}/{seed}", "build")
    vertices, triangles = plugin("families", family).load().build(axes, rng)
    x, y, z = (vertices - vertices[0]).T
    over, _ = mass_center(vertices - vertices[0], triangles)
    return np.stack([x - z * (over[0] / over[2]), y - z * (over[1] / over[2]), z], axis=1), triangles


def _fitting_scale(vertices: Floats) -> float:
    """Return the scale at which a shape fills the disc of radius 1 or the height 2."""
    x, y, z = vertices.T
    return max(float(np.sqrt((x * x + y * y).max())), float(z.max()) / 2)


@lru_cache(maxsize=64)
def _largest_scale(family: str, seed: int) -> float:
    return _fitting_scale(_standing_shape(family, seed, plugin("families", family).load().LARGEST)[0])
