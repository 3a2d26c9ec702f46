"""Meshes as Blender data-blocks, created once per process."""

from __future__ import annotations

from typing import Any

import bpy

from diorama.render.geometry.meshes import Mesh, load_mesh
from diorama.render.geometry.outlines import outline_mesh
from diorama.scene_specs.language.spec import OutlineSpec


def mesh_data(name: str) -> Any:
    """The Blender mesh of an asset, with its shading normals and one material slot. Raises AssetError."""
    mesh = load_mesh(name)
    existing = bpy.data.meshes.get(f"mesh-{name}")
    if existing is not None:
        return existing
    return _filled(bpy.data.meshes.new(f"mesh-{name}"), mesh)


class OutlineMeshes:
    """Blender meshes of flat shapes and prisms, one per slot of the object pool, refilled when its outline changes.

    A run with a million outlines therefore holds only those of one image.
    """

    def __init__(self) -> None:
        self._slots: dict[int, tuple[OutlineSpec, Any]] = {}

    def get(self, slot: int, outline: OutlineSpec) -> Any:
        """The mesh of an outline in a slot of the pool. Raises AssetError."""
        held, data = self._slots.get(slot, (None, None))
        if data is None:
            data = bpy.data.meshes.new(f"outline-{slot}")
        if held != outline:
            data.clear_geometry()
            data.materials.clear()
            self._slots[slot] = (outline, _filled(data, outline_mesh(outline)))
        return data


def _filled(data: Any, mesh: Mesh) -> Any:
    data.from_pydata(mesh.vertices.tolist(), [], mesh.triangles.tolist())
    data.shade_smooth()
    data.normals_split_custom_set_from_vertices(mesh.normals.tolist())
    data.materials.append(None)
    data.update()
    return data
