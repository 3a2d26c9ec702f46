"""Our meshes as Blender data, made once a process."""

from __future__ import annotations

from typing import Any

import bpy

from render.geometry.meshes import load_mesh


def mesh_data(name: str) -> Any:
    """The Blender mesh of an asset, with our shading normals and one material slot. Raises AssetError."""
    mesh = load_mesh(name)
    existing = bpy.data.meshes.get(f"mesh-{name}")
    if existing is not None:
        return existing
    data = bpy.data.meshes.new(f"mesh-{name}")
    data.from_pydata(mesh.vertices.tolist(), [], mesh.triangles.tolist())
    data.shade_smooth()
    data.normals_split_custom_set_from_vertices(mesh.normals.tolist())
    data.materials.append(None)
    data.update()
    return data
