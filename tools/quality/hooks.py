"""Tries that properties alone can't express; see `hook` in tools/quality/candidates.py.

Each function gets the built Blender scene and the SceneFrame, and returns a function that undoes its changes: objects
and lights are shared with the following renders.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from scene_specs.language.scene import SceneFrame


def shadow_caustics(blender: Any, frame: SceneFrame) -> Callable[[], None]:
    """Sample light through glass by manifold next event estimation: glass casts, everything else receives."""
    glass = {item.index for item in frame.objects if item.material.name == "glass"}
    undo = ExitStack()
    for item in blender.collection.objects:
        if item.type == "LIGHT":
            owner, name = item.data.cycles, "is_caustics_light"
        elif item.type == "MESH":
            # The ground's index is 0.
            owner, name = item.cycles, "is_caustics_caster" if item.pass_index in glass else "is_caustics_receiver"
        else:
            continue
        undo.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, True)
    return undo.close


def lighter_meshes(blender: Any, frame: SceneFrame) -> Callable[[], None]:
    """Keep a quarter of every object's triangles, which changes silhouettes, and so boxes and masks."""
    del frame
    undo = ExitStack()
    for item in _objects(blender):
        modifier = item.modifiers.new("lighter", "DECIMATE")
        modifier.ratio = 0.25
        undo.callback(item.modifiers.remove, modifier)
    return undo.close


def own_meshes(blender: Any, frame: SceneFrame) -> Callable[[], None]:
    """Give every object its own mesh, where objects of one shape normally share one."""
    del frame
    undo = ExitStack()
    for item in _objects(blender):
        undo.callback(setattr, item, "data", item.data)
        item.data = item.data.copy()
    return undo.close


def _objects(blender: Any) -> list[Any]:
    """Return all meshes except the ground, whose index is 0."""
    return [item for item in blender.collection.objects if item.type == "MESH" and item.pass_index > 0]
