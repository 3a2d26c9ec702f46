"""Our meshes as Blender data, made once a process."""

from __future__ import annotations

from typing import Any

import bpy

from render.errors import AssetError
from render.geometry.meshes import load_mesh


def mesh_data(name: str, sha256: str | None = None) -> Any:
    """The Blender mesh of an asset, with our shading normals and one material slot.

    sha256: what the Scene was made with. Raises AssetError if the file is another.
    """
    mesh = load_mesh(name)
    if sha256 is not None and sha256 != mesh.sha256:
        raise AssetError(
            f"mesh {name!r}: the Scene was made with {sha256[:12]}, this installation has {mesh.sha256[:12]}; "
            "render with the version that made it, or compile the spec again"
        )
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
