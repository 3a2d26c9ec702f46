"""Visibility of a layout from its camera, at the stage's own size: frame bounds and visible pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from diorama.render.compiler.attributes import Item
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.raster import Layer, Pose, camera_vertices, compose, rasterize
from diorama.render.geometry.rotation import Vec
from diorama.render.geometry.solid import solid
from diorama.scene_specs.language.stage import StageGround

Floats = NDArray[np.float64]


def frame_planes(item: Item, z: float, camera: Camera) -> Floats:
    """Compute where an object is inside the image.

    Exact for a solid that only moves: the vertex nearest to a side of the view stays the nearest.

    Returns:
        (5, 3) rows a, b, c: with its origin at (x, y, z), the object is inside the image if all a x + b y + c >= 0.
    """
    pose = Pose(item.rotation_deg, item.scale, (0.0, 0.0, z))
    x, y, depth = camera_vertices(solid(item.shape, item.outline), pose, camera)
    right, down, forward, focal = camera.right, camera.down, camera.forward, camera.focal
    # With parallel rays, the sides of the view do not widen with depth.
    opening, spread = ((0.0, 0.0), np.ones_like(depth)) if camera.orthographic else (forward, depth)
    (cx, cy), near = camera.center, camera.clip[0]
    sides = ((x, right, cx, camera.width - cx), (y, down, cy, camera.height - cy))
    rows = [[forward[0], forward[1], float(depth.min()) - near]]
    for values, axis, before, after in sides:
        for pull, room in ((focal, before), (-focal, after)):
            nearest = float((pull * values + room * spread).min())
            rows.append([pull * axis[0] + room * opening[0], pull * axis[1] + room * opening[1], nearest])
    return np.array(rows)


def is_in_frame(item: Item, location: Vec, camera: Camera) -> bool:
    """Return whether the object is inside the image with its origin at a location."""
    x, y, z = location
    return all(a * x + b * y + c >= 0 for a, b, c in frame_planes(item, z, camera).tolist())


@dataclass
class VisibilityCounter:
    """Counts visible pixels in layouts of the same items; objects with specified locations are rasterized once."""

    items: Sequence[Item]
    camera: Camera
    ground: StageGround | None
    _fixed: dict[int, Layer] = field(default_factory=dict)

    def layer(self, index: int, location: Vec) -> Layer:
        """Rasterize an object alone at a location."""
        item = self.items[index]
        if item.location is not None and index in self._fixed:
            return self._fixed[index]
        layer = self._drawn(item, location)
        if item.location is not None:
            self._fixed[index] = layer
        return layer

    def _drawn(self, item: Item, location: Vec) -> Layer:
        pose = Pose(item.rotation_deg, item.scale, location)
        return rasterize(solid(item.shape, item.outline), pose, self.camera, self.ground)

    def visible(self, places: Sequence[tuple[int, Vec]], posed: Mapping[int, Item] | None = None) -> dict[int, int]:
        """Count the visible pixels of each of the objects (index, location), without any other object.

        Args:
            posed: items with another pose than before, by index.
        """
        posed = posed or {}
        layers = [
            self._drawn(posed[index], location) if index in posed else self.layer(index, location)
            for index, location in places
        ]
        ids, _ = compose(layers, self.camera.width, self.camera.height)
        counts = np.bincount(ids.ravel(), minlength=len(places) + 1)
        return {index: int(counts[number]) for number, (index, _) in enumerate(places, start=1)}
