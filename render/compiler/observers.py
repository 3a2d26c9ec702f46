"""Poses of observers, which follow from where they and what they look at stand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from diorama.render.compiler.attributes import Item
from diorama.render.geometry.meshes import load_mesh
from diorama.render.geometry.observer import eye_camera, place_of
from diorama.render.geometry.person import gaze_at
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.language.diagnostics import path_text, preview_json
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.rotation import Vec, rounded

# How far the gaze of a given Scene may miss its target, degrees; compiled gazes are rounded to 0.0001.
_MOST_MISS_DEG = 0.1


def with_poses(items: Sequence[Item], locations: Mapping[int, Vec]) -> list[Item]:
    """Return the items, with poses of the observers that can look at their target.

    Args:
        locations: number of an item -> its location; items that are left out have none so far.
    """
    named = {items[k].name: location for k, location in locations.items()}
    return [_facing_target(item, locations.get(k), named) for k, item in enumerate(items)]


def _facing_target(item: Item, location: Vec | None, named: Mapping[str, Vec]) -> Item:
    if item.looks_at is None or location is None:
        return item
    target = place_of(item.looks_at, named)
    if target is None:
        return item
    x, y = target[0] - location[0], target[1] - location[1]
    # A person without a rotation faces -Y.
    turn = rounded((math.degrees(math.atan2(x, -y)) + item.rotation_deg[2]) % 360.0)
    gaze = gaze_at(load_mesh("person").anchors, target, turn, item.scale, location)
    if not gaze.possible:
        return item
    return replace(item, shape=gaze.shape, rotation_deg=(0.0, 0.0, turn), looks_at=None)


def check_gazes(scene: Scene) -> None:
    """Check that each observer of a given or edited Scene looks at what its `looks_at` says.

    Raises:
        SpecError: a gaze misses its target by more than 0.1 degrees.
        AssetError: the mesh of a person can't be read.
    """
    for number, frame in enumerate(scene.frames):
        locations = {item.name: item.location for item in frame.objects}
        for index, observer in enumerate(frame.observers):
            eye = eye_camera(frame.objects[observer.index - 1])
            target = locations[observer.looks_at] if isinstance(observer.looks_at, str) else observer.looks_at
            away = np.subtract(target, eye.location)
            aside, ahead = np.linalg.norm(np.cross(eye.forward, away)), np.dot(eye.forward, away)
            miss = math.degrees(math.atan2(aside, ahead))
            if miss > _MOST_MISS_DEG:
                raise spec_error(
                    f"found {preview_json(observer.looks_at)}, which the gaze misses by {miss:.1f} degrees; "
                    f"allowed: at most {_MOST_MISS_DEG}",
                    "change the shape and rotation_deg of the person, too, or change the spec, where poses follow",
                    episode=scene.id,
                    path=path_text(("frames", number, "observers", index, "looks_at")),
                )
