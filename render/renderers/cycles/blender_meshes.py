"""Meshes as Blender data-blocks, created once per process."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.meshes import Mesh, load_mesh
from diorama.render.geometry.outlines import outline_mesh
from diorama.scene_specs.model.spec import OutlineSpec


def mesh_data(name: str) -> Any:
    """Return the Blender mesh of an asset, with its shading normals and one material slot. Raises AssetError."""
    mesh = load_mesh(name)
    return bpy.data.meshes.get(f"mesh-{name}") or _fill_mesh(bpy.data.meshes.new(f"mesh-{name}"), mesh)


class SlotMeshes:
    """Blender meshes of flat, prismatic and invented shapes, one per slot of the object pool, refilled as needed.

    A run with a million shapes therefore holds only those of one image.
    """

    def __init__(self) -> None:
        self._slots: dict[int, tuple[tuple[str, OutlineSpec | None], Any]] = {}

    def get(self, slot: int, shape: str, outline: OutlineSpec | None) -> Any:
        """Return the mesh of a shape, or of its outline, in a slot of the pool. Raises AssetError."""
        held, data = self._slots.get(slot, (None, None))
        if data is None:
            data = bpy.data.meshes.new(f"slot-{slot}")
        if held != (shape, outline):
            data.clear_geometry()
            data.materials.clear()
            mesh = load_mesh(shape) if outline is None else outline_mesh(outline)
            self._slots[slot] = ((shape, outline), _fill_mesh(data, mesh))
        return data


def add_triangles(data: Any, vertices: NDArray[np.float64], triangles: NDArray[np.int32]) -> None:
    """Add vertices (V, 3) and triangles (T, 3) to an empty Blender mesh.

    The arrays are copied: the lists of `from_pydata` take seconds for a large model.
    """
    data.vertices.add(len(vertices))
    data.loops.add(triangles.size)
    data.polygons.add(len(triangles))
    data.vertices.foreach_set("co", np.ascontiguousarray(vertices, dtype=np.float32).ravel())
    data.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
    data.loops.foreach_set("vertex_index", np.ascontiguousarray(triangles, dtype=np.int32).ravel())


def _fill_mesh(data: Any, mesh: Mesh) -> Any:
    add_triangles(data, mesh.vertices, mesh.triangles)
    data.update(calc_edges=True)
    data.shade_smooth()
    data.normals_split_custom_set_from_vertices(mesh.normals)
    data.materials.append(None)
    if mesh.tints is not None:
        _assign_tints(data, mesh.tints)
    data.update()
    return data


def _assign_tints(data: Any, tints: NDArray[np.float64]) -> None:
    """Give triangles with colors of their own materials of these, in slots behind the object's."""
    colors, slots = np.unique(tints, axis=0, return_inverse=True)
    # The object's own color, -1, is the first.
    for red, green, blue in colors[1:].tolist():
        name = f"tint-{red:g}-{green:g}-{blue:g}"
        material = bpy.data.materials.get(name) or bpy.data.materials.new(name)
        material.use_nodes = True
        shader = material.node_tree.nodes["Principled BSDF"]
        shader.inputs["Base Color"].default_value = (red, green, blue, 1.0)
        shader.inputs["Roughness"].default_value = 0.6
        data.materials.append(material)
    data.polygons.foreach_set("material_index", slots.reshape(-1).astype(np.int32))
