"""Tries that properties alone can't tell; see `hook` in tools/quality/candidates.py.

Each is called with Blender's scene, built, and the SceneFrame, and returns what undoes it: objects and lights are
shared with the renders that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from render.model.scene import SceneFrame


def shadow_caustics(blender: Any, frame: SceneFrame) -> Callable[[], None]:
    """Light through glass by manifold next event estimation: glass casts, ground and all that is not glass receive."""
    glass = {item.index for item in frame.objects if item.material.name == "glass"}
    undo: list[tuple[Any, str, bool]] = []

    def switch(owner: Any, name: str) -> None:
        undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, True)

    for item in blender.collection.objects:
        if item.type == "LIGHT":
            switch(item.data.cycles, "is_caustics_light")
        elif item.type == "MESH":
            # The ground's index is 0.
            switch(item.cycles, "is_caustics_caster" if item.pass_index in glass else "is_caustics_receiver")

    def put_back() -> None:
        for owner, name, value in undo:
            setattr(owner, name, value)

    return put_back


def lighter_meshes(blender: Any, frame: SceneFrame) -> Callable[[], None]:
    """Every object with a quarter of its triangles: silhouettes, and so boxes and masks, are no longer the same."""
    del frame
    made: list[tuple[Any, Any]] = []
    for item in _objects(blender):
        modifier = item.modifiers.new("lighter", "DECIMATE")
        modifier.ratio = 0.25
        made.append((item, modifier))

    def put_back() -> None:
        for item, modifier in made:
            item.modifiers.remove(modifier)

    return put_back


def own_meshes(blender: Any, frame: SceneFrame) -> Callable[[], None]:
    """Every object with a mesh of its own, where objects of one shape share one otherwise."""
    del frame
    shared = [(item, item.data) for item in _objects(blender)]
    for item, mesh in shared:
        item.data = mesh.copy()

    def put_back() -> None:
        for item, mesh in shared:
            item.data = mesh

    return put_back


def _objects(blender: Any) -> list[Any]:
    """All meshes but the ground, whose index is 0."""
    return [item for item in blender.collection.objects if item.type == "MESH" and item.pass_index > 0]
