"""Poses of observers, which follow from where they and what they look at stand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from diorama.render.compiler.attributes import Item
from diorama.render.geometry.meshes import load_mesh
from diorama.render.geometry.person import gaze_at
from diorama.render.geometry.rotation import Vec, rounded


def with_poses(items: Sequence[Item], locations: Mapping[int, Vec]) -> list[Item]:
    """Return the items, with poses of the observers that can look at their target.

    Args:
        locations: of items by number; those that are left out have none so far.
    """
    named = {items[k].name: location for k, location in locations.items()}
    return [_posed(item, locations.get(k), named) for k, item in enumerate(items)]


def _posed(item: Item, location: Vec | None, named: Mapping[str, Vec]) -> Item:
    if item.looks_at is None or location is None:
        return item
    target = named.get(item.looks_at) if isinstance(item.looks_at, str) else item.looks_at
    if target is None:
        return item
    x, y = target[0] - location[0], target[1] - location[1]
    # A person without a rotation faces -Y.
    turn = rounded((math.degrees(math.atan2(x, -y)) + item.rotation_deg[2]) % 360.0)
    gaze = gaze_at(load_mesh("person").anchors, target, turn, item.scale, location)
    if not gaze.possible:
        return item
    return replace(item, shape=gaze.shape, rotation_deg=(0.0, 0.0, turn), looks_at=None)
