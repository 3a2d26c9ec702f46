"""Models as Blender data-blocks: created once per process; the least recently used are removed first.

`diorama.render.ingest` has read them: a .blend in the cache has the mesh, with its normals, and its materials, whose
triangles are those that the compiler measured. The materials `original`, `painted` and `unlit` are those that a model
brings along. With `painted`, the object's color multiplies the base color of each of them; with `unlit`, the model
emits its base color or texture, whatever the light. Both sides of a face look alike, because models of unknown origin
have faces of either orientation.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, NamedTuple

import bpy

from diorama.render.renderers.cycles.blend_material import append_blocks
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.model_names import UNLIT_NODE
from diorama.scene_specs.shapes.shapenet import Model, blend_of, load_model

# Maximum number of models in memory, and of their faces together: about 300 MB in Blender.
KEPT, KEPT_FACES = 48, 3_000_000
# What a model consists of.
_ALLOWED = (bpy.types.Mesh, bpy.types.Material, bpy.types.Image, bpy.types.ShaderNodeTree, bpy.types.Library)
# Nodes that read files or run code, and pointers of nodes to what is not part of a material.
READERS = ("SCRIPT", "TEX_IES")
POINTERS = ("object", "ies", "script")


def _show_unlit(material: Any, wraps: bool) -> None:
    """Let a material emit its base color or texture.

    The color at a point is the bilinear mean of the sRGB values of the four nearest texels, whose alpha is ignored.

    Args:
        wraps: whether texture coordinates leave the image.
    """
    tree = material.node_tree
    outputs = [node for node in tree.nodes if node.type == "OUTPUT_MATERIAL"] or [
        tree.nodes.new("ShaderNodeOutputMaterial")
    ]
    for output in outputs:
        tree.links.new(tree.nodes[UNLIT_NODE].outputs[0], output.inputs["Surface"])
    for node in tree.nodes:
        if node.type == "TEX_IMAGE" and node.image is not None:
            node.image.alpha_mode = "NONE"
            if not wraps and node.extension == "REPEAT":
                # Otherwise the last texels would be mixed with those of the opposite edge.
                node.extension = "EXTEND"


class ModelData(NamedTuple):
    """The data-blocks of a model, which no other object owns.

    Attributes:
        mesh: its properties are `sha256`, the digest of the model, and `emits`, whether it may light others.
        blocks: all of them.
    """

    mesh: Any
    blocks: tuple[Any, ...]


class ModelStore:
    """Models by name and light.

    Attributes:
        removed: how many models were removed.

    Args:
        pool: the objects of the renderer, which may still use the mesh of a removed model.
    """

    def __init__(self, pool: list[Any], kept: int = KEPT, faces: int = KEPT_FACES) -> None:
        self._pool, self._kept, self._faces = pool, kept, faces
        self._models: OrderedDict[tuple[str, bool], ModelData] = OrderedDict()
        self._empty: Any = None
        self.removed = 0

    def __len__(self) -> int:
        return len(self._models)

    def get(self, name: str, unlit: bool = False) -> ModelData:
        """Return the data-blocks of a model, created at first use.

        Args:
            unlit: whether its material is `unlit`.

        Raises:
            AssetError: a model, mesh, material or file of assets is missing or damaged.
        """
        model = load_model(name)
        key = (model.name, unlit)
        data = self._models.get(key)
        if data is None or data.mesh["sha256"] != model.sha256:
            if data is not None:
                self._remove_model(key)
            data = self._models[key] = _build_model(model, unlit)
        self._models.move_to_end(key)
        return data

    def trim(self, used: int = 0) -> None:
        """Remove models beyond the limits, but none of the last `used` ones."""
        while len(self._models) > used and (len(self._models) > self._kept or self._all_faces() > self._faces):
            self._remove_model(next(iter(self._models)))

    def _all_faces(self) -> int:
        return sum(len(data.mesh.polygons) for data in self._models.values())

    def _remove_model(self, key: tuple[str, bool]) -> None:
        data = self._models.pop(key)
        self.removed += 1
        if self._empty is None:
            self._empty = bpy.data.meshes.new("nothing")
        # Removing a mesh also removes the objects that use it.
        for item in self._pool:
            if item.data == data.mesh:
                item.data = self._empty
        bpy.data.batch_remove(data.blocks)


def require_plain(blocks: Iterable[Any], owner: str) -> None:
    """Require that data-blocks are a mesh and its surfaces, which read, run and move nothing. Raises AssetError."""
    own = [*blocks]
    for block in (*own, *filter(None, (getattr(block, "node_tree", None) for block in own))):
        nodes = getattr(block, "nodes", ())
        foreign = [node.type in READERS or any(getattr(node, name, None) for name in POINTERS) for node in nodes]
        reads = block.library is not None or bool(getattr(block, "filepath_raw", "")) or any(foreign)
        if reads or getattr(block, "animation_data", None) is not None or not isinstance(block, _ALLOWED):
            kind = block.id_type.lower()
            raise AssetError(
                f"{owner} holds the {kind} {block.name!r}, which moves, reads a file or is no part of a mesh"
            )


def _build_model(model: Model, unlit: bool) -> ModelData:
    """Append the mesh and materials of a model. Raises AssetError if the mesh is not the one that was measured."""
    path = blend_of(model)
    meshes, blocks, _ = append_blocks(path, "meshes")
    # Whoever wrote it may have been taken over by the model.
    require_plain(blocks, f"model {model.path}: {path}")
    libraries = [block for block in blocks if isinstance(block, bpy.types.Library)]
    bpy.data.batch_remove(libraries)
    mesh = next(iter(meshes), None)
    if mesh is None or mesh.get("sha256") != model.sha256:
        raise AssetError(f"model {model.path}: {path} holds another mesh than the one that was measured; delete it")
    if unlit:
        for material in mesh.materials:
            _show_unlit(material, bool(model.uv.min() < 0 or model.uv.max() > 1))
    return ModelData(mesh, tuple(block for block in blocks if block not in libraries))
