"""Visibility of a layout from its camera, at the stage's own size: frame bounds and visible pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from diorama.render.compiler.attributes import Item
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.raster import Layer, Pose, camera_vertices, compose, model_view, rasterize
from diorama.render.geometry.solid import solid
from diorama.scene_specs.model.stage import StageGround
from diorama.scene_specs.rotation import Floats, Vec

# With how many objects a layout is tried before all are drawn: one and those nearest to it.
_NEAREST = (2, 4)


def frame_planes(item: Item, z: float, camera: Camera) -> Floats:
    """Compute where an object is inside the image.

    Exact for a solid that only moves: the vertex nearest to a side of the view stays the nearest.

    Returns:
        (5, 3) rows a, b, c: with its origin at (x, y, z), the object is inside the image if all a x + b y + c >= 0.
    """
    pose = Pose(item.rotation_deg, item.scale, (0.0, 0.0, z))
    x, y, depth = camera_vertices(solid(item.shape, item.outline), *model_view(pose, camera))
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
    """Counts visible pixels in layouts of the same items; what has not moved since the last one is not drawn again."""

    items: Sequence[Item]
    camera: Camera
    ground: StageGround | None
    _layers: dict[int, tuple[str, Pose, Layer]] = field(default_factory=dict)
    _suspect: int = 0

    def layer(self, index: int, location: Vec, posed: Mapping[int, Item] | None = None) -> Layer:
        """Rasterize an object alone at a location, in another pose if `posed` has it."""
        item = (posed or {}).get(index, self.items[index])
        pose = Pose(item.rotation_deg, item.scale, location)
        before = self._layers.get(index)
        if before is not None and before[:2] == (item.shape, pose):
            return before[2]
        layer = rasterize(solid(item.shape, item.outline), pose, self.camera, self.ground)
        self._layers[index] = (item.shape, pose, layer)
        return layer

    def visible(self, places: Sequence[tuple[int, Vec]], posed: Mapping[int, Item] | None = None) -> dict[int, int]:
        """Count the visible pixels of each of the objects (index, location), without any other object.

        Args:
            posed: items with another pose than before, by index.
        """
        layers = [self.layer(index, location, posed) for index, location in places]
        ids, _ = compose(layers, self.camera.width, self.camera.height)
        shown = [np.count_nonzero(ids[layer.window] == number) for number, layer in enumerate(layers, start=1)]
        return {index: int(pixels) for (index, _), pixels in zip(places, shown, strict=True)}

    def hidden(self, locations: Sequence[Vec], floors: Sequence[int], posed: Mapping[int, Item]) -> list[int]:
        """Return which of all objects show fewer pixels than their floor, or one of them.

        What was hidden in the last layout is mostly hidden again, and by what is near, so this is tried first.
        """
        x, y, _ = locations[self._suspect]
        near = sorted(range(len(locations)), key=lambda k: (locations[k][0] - x) ** 2 + (locations[k][1] - y) ** 2)
        for size in (*_NEAREST, len(near)):
            shown = self.visible([(k, locations[k]) for k in sorted(near[:size])], posed)
            if shown[self._suspect] < floors[self._suspect]:
                return [self._suspect]
        hidden = [k for k, pixels in shown.items() if pixels < floors[k]]
        self._suspect = next(iter(hidden), self._suspect)
        return hidden
