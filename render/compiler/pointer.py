"""The location of the pointer: its ray meets the target, it hides nothing of it, keeps its distance, and is visible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diorama.render.compiler.attributes import Item, material_of
from diorama.render.compiler.constraints import Rules
from diorama.render.compiler.placement import Ground2
from diorama.render.compiler.visibility import VisibilityCounter, is_in_frame
from diorama.render.geometry.meshes import pointing_ray
from diorama.render.geometry.raster import Pose, compose, rasterize
from diorama.render.geometry.solid import solid
from diorama.scene_specs.language.rng import Keys
from diorama.scene_specs.language.vocabulary import linear_of_name, linear_of_srgb, name_or_none
from diorama.scene_specs.model.spec import FrameSpec, PointerSpec
from diorama.scene_specs.model.stage import Stage, StagePointer
from diorama.scene_specs.rotation import Floats, Vec, rounded, rounded3

Span = tuple[float, float]
NAME = "pointer"
MESHES = {"hand": "hand", "hand-left": "hand_left", "arrow": "arrow"}

# Candidates that pass the cheap rules and are then rasterized, which takes two milliseconds each.
_LOOKS = 6
# Free distance on both sides of the line from the fingertip to the target, Blender units.
_CLEARANCE = 0.05
# Minimum visible share of the pointer; with less it is not recognizable.
_LEAST_SHOWN = 0.95


def ray_distance(knuckle: Vec, tip: Vec, target: Vec) -> float:
    """Return the distance of a point from the ray from knuckle through fingertip; inf if it lies behind the knuckle."""
    along = [t - k for t, k in zip(tip, knuckle, strict=True)]
    away = [t - k for t, k in zip(target, knuckle, strict=True)]
    length2 = sum(a * a for a in along)
    share = sum(a * b for a, b in zip(along, away, strict=True)) / length2
    if share <= 0:
        return math.inf
    return math.sqrt(sum((b - share * a) ** 2 for a, b in zip(along, away, strict=True)))


def pointer_item(spec: PointerSpec, stage: StagePointer) -> Item:
    """Return the pointer before its location and rotation are known."""
    scale = stage.scale if spec.size is None else rounded(spec.size)
    linear = [value / 255 for value in stage.color]
    if spec.color is not None:
        linear = [*(linear_of_name(spec.color) if isinstance(spec.color, str) else linear_of_srgb(spec.color))]
    location = spec.location
    if location is not None:
        location = rounded3(location if len(location) == 3 else (*location, stage.height))
    return Item(
        name=NAME,
        shape=MESHES[spec.kind],
        color=name_or_none(spec.color),
        color_linear=rounded3(linear),
        material=material_of(spec.material or stage.material),
        size=None,
        scale=scale,
        rotation_deg=(0.0, 0.0, 0.0),
        location=location,
        height=stage.height,
        radius=scale,
    )


def quadrants(frame: FrameSpec, items: Sequence[Item], stage: StagePointer | None) -> list[tuple[Span, Span]] | None:
    """Return the published areas of three objects and a pointer.

    Objects 0, 1 and 2 get the left, back and right quadrant, the pointer the one towards the camera.

    Returns:
        ((x0, x1), (y0, y1)) of each object and of the pointer, Blender units; None for another number of objects,
        specified locations, or an area of the frame.
    """
    if frame.pointer is None or stage is None or frame.area is not None or len(items) != 3:
        return None
    if frame.pointer.location is not None or any(item.location is not None for item in items):
        return None
    (cx, cy), half, gap = stage.center, stage.side / 2, stage.gap
    (low_x, high_x), (low_y, high_y) = (((c - half, c - gap), (c + gap, c + half)) for c in (cx, cy))
    return [(low_x, low_y), (low_x, high_y), (high_x, high_y), (high_x, low_y)]


@dataclass
class Placer:
    """Places the pointer in a finished layout. `ground` is its area."""

    spec: PointerSpec
    stage: Stage
    ground: Ground2
    rules: Rules
    visibility: VisibilityCounter
    keys: Keys

    def __post_init__(self) -> None:
        assert self.stage.pointer is not None
        self.item, self.height = pointer_item(self.spec, self.stage.pointer), self.stage.pointer.height
        self.target, self.tries = self.rules.names.index(self.spec.target), self.stage.placement.tries
        self.generator = self.keys.generator("pointer")

    def place(self, locations: Sequence[Vec], floors: Sequence[int], refused: dict[str, int]) -> Item | None:
        """Find a location and rotation of the pointer.

        Args:
            locations: location of each object, Blender units.
            floors: minimum visible pixels of each object.
            refused: constraint -> rejections, which are added to it.

        Returns:
            The pointer; None if no candidate satisfies all rules.
        """
        location = self.item.location
        if location is not None and self.rules.fixed.all():
            return self.turned(*location, locations)
        if location is not None:
            x, y, z = np.array([location[0]]), np.array([location[1]]), location[2]
        else:
            u, (west, east), (south, north) = self.generator.random((self.tries, 2)), self.ground.x, self.ground.y
            x, y = np.round(west + u[:, 0] * (east - west), 6), np.round(south + u[:, 1] * (north - south), 6)
            z = self.height
        good = np.ones(len(x), dtype=bool)
        for label, passed in self._verdicts(x, y, locations):
            refused[label] = refused.get(label, 0) + int((~passed).sum())
            good &= passed
        for k in np.flatnonzero(good)[:_LOOKS].tolist():
            turned = self.turned(float(x[k]), float(y[k]), z, locations)
            broken = self._broken_rule(turned, locations, floors)
            if broken is None:
                return turned
            refused[broken] = refused.get(broken, 0) + 1
        return None

    def turned(self, x: float, y: float, z: float, locations: Sequence[Vec]) -> Item:
        """Return the pointer at a location, its -Y turned to its target by pi - atan2(dx, dy), as published."""
        tx, ty, _ = locations[self.target]
        turn = rounded(math.degrees(math.pi - math.atan2(tx - x, ty - y)) % 360.0)
        return replace(self.item, location=(x + 0.0, y + 0.0, z), rotation_deg=(0.0, 0.0, turn))

    def _verdicts(self, x: Floats, y: Floats, locations: Sequence[Vec]) -> list[tuple[str, NDArray[np.bool_]]]:
        """Return the rules that need no rasterizing, for all candidates at once."""
        apart = np.ones(len(x), dtype=bool)
        clear = np.ones(len(x), dtype=bool)
        tx, ty, _ = locations[self.target]
        dx, dy = tx - x, ty - y
        length2 = np.maximum(dx * dx + dy * dy, 1e-12)
        for k, (ox, oy, _) in enumerate(locations):
            radius = float(self.rules.radii[k])
            reach = radius + self.item.scale + self.rules.min_distance
            apart &= (x - ox) * (x - ox) + (y - oy) * (y - oy) >= reach * reach
            if k == self.target:
                continue
            share = np.clip(((ox - x) * dx + (oy - y) * dy) / length2, 0.0, 1.0)
            ax, ay = x + share * dx - ox, y + share * dy - oy
            clear &= ax * ax + ay * ay >= (radius + _CLEARANCE) * (radius + _CLEARANCE)
        return [
            (f"{self.rules.distance_label} of the pointer", apart),
            ("a clear line from the pointer to its target", clear),
        ]

    def _broken_rule(self, item: Item, locations: Sequence[Vec], floors: Sequence[int]) -> str | None:
        """Return the rule that a placed pointer breaks, seen from the camera of the layout; None if it breaks none."""
        assert item.location is not None
        knuckle, tip = pointing_ray(item.shape, item.rotation_deg, item.scale, item.location)
        if ray_distance(knuckle, tip, locations[self.target]) > self.rules.scales[self.target]:
            return "the pointer's ray meets its target"
        if self.rules.in_frame and not is_in_frame(item, item.location, self.visibility.camera):
            return "in_frame of the pointer"
        return self._hides_object(item, locations, floors)

    def _hides_object(self, item: Item, locations: Sequence[Vec], floors: Sequence[int]) -> str | None:
        assert item.location is not None
        camera = self.visibility.camera
        layers = [self.visibility.layer(k, place) for k, place in enumerate(locations)]
        before = np.bincount(compose(layers, camera.width, camera.height)[0].ravel(), minlength=len(layers) + 1)
        pose = Pose(item.rotation_deg, item.scale, item.location)
        hand = rasterize(solid(item.shape), pose, camera, self.visibility.ground)
        ids = compose([*layers, hand], camera.width, camera.height)[0]
        after = np.bincount(ids.ravel(), minlength=len(layers) + 2)
        if after[self.target + 1] < before[self.target + 1]:
            return "the pointer hides nothing of its target"
        if any(after[k + 1] < floor for k, floor in enumerate(floors)):
            return "min_visible_pixels beside the pointer"
        if after[len(layers) + 1] < max(_LEAST_SHOWN * hand.pixels, 1):
            return "the pointer is not hidden"
        return None
