"""Models as Blender data-blocks: created once per process; the least recently used are removed first.

Their geometry is that of `diorama.scene_specs.shapes.shapenet`, corner by corner, so that the rendered mesh is the one
that the compiler measured. Normals are computed here, smooth except at edges sharper than 40 degrees; those of the
files are ignored. The materials `original`, `painted` and `unlit` are those that a model brings along:

    parameter   type          default           meaning
    color       linear RGB    0.5               base color of the model's material
    texture     sRGB image    none              base color from the texture coordinates, in place of `color`
    roughness   number 0-1    0.5               0 is smooth
    metallic    number 0-1    0                 0 is a dielectric, 1 a metal
    specular    number 0-1    0.5               level of the dielectric reflection
    alpha       number 0-1    1                 opacity

All are inputs of Blender's Principled BSDF, read from the model's files. With `painted`, the object's color replaces
the base color: a mix node uses it where the alpha of the object's color is 1. With `unlit`, the model emits the color
or texture, whatever the light. Both sides of a face look alike, because models of unknown origin have faces of
either orientation.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any, NamedTuple

import bpy
import numpy as np

from diorama.render.renderers.cycles.blender_meshes import add_triangles
from diorama.render.renderers.cycles.node_tree import Tree
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.shapes.shapenet import Model, ModelMaterial, load_model

SHARP_DEG = 40.0
# Maximum number of models in memory, and of their faces together: about 300 MB in Blender.
KEPT, KEPT_FACES = 48, 3_000_000


def build_model_material(look: ModelMaterial, image: Any | None) -> Any:
    """Return the Blender material of one material of a model.

    Args:
        image: data-block of its texture, or None.
    """
    tree = Tree(f"model {look.name}"[:60])
    own = (*look.color, 1.0) if image is None else tree.texture(image, "REPEAT")
    color = tree.mixed("RGBA", "Color", tree.alpha, own, tree.color)
    surface = {"Roughness": look.roughness, "Metallic": look.metallic, "Alpha": look.alpha}
    body = tree.add("BsdfPrincipled", Base_Color=color, Specular_IOR_Level=look.specular, **surface)
    return tree.finish(body.outputs[0])


def build_unlit(look: ModelMaterial, image: Any | None, wraps: bool) -> Any:
    """Return the material that emits the color or texture.

    The color at a point is the bilinear mean of the sRGB values of the four nearest texels, whose alpha is ignored.

    Args:
        wraps: whether texture coordinates leave the image.
    """
    tree = Tree(f"unlit {look.name}"[:60])
    color: Any = (*look.color, 1.0)
    if image is not None:
        # Otherwise the last texels would be mixed with those of the opposite edge.
        color = tree.texture(image, "REPEAT" if wraps else "EXTEND")
        image.alpha_mode = "NONE"
    return tree.finish(tree.add("Emission", Color=color).outputs[0])


class ModelData(NamedTuple):
    """The data-blocks of a model, which no other object owns."""

    sha256: str
    mesh: Any
    materials: tuple[Any, ...]
    images: tuple[Any, ...]


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
        if data is None or data.sha256 != model.sha256:
            if data is not None:
                self._remove_model(key)
            data = self._models[key] = _build_model(model, unlit)
        self._models.move_to_end(key)
        return data

    def pack_images(self) -> None:
        """Pack the texture files into Blender's data, so that a saved .blend needs no other files."""
        for data in self._models.values():
            for image in data.images:
                if image.packed_file is None:
                    image.pack()

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
        bpy.data.meshes.remove(data.mesh)
        for material in data.materials:
            bpy.data.materials.remove(material)
        for image in data.images:
            bpy.data.images.remove(image)


def _build_model(model: Model, unlit: bool) -> ModelData:
    images: list[Any] = []
    materials = []
    wraps = bool(model.uv.min() < 0 or model.uv.max() > 1)
    for look in model.materials:
        image = None
        if look.texture is not None:
            try:
                image = bpy.data.images.load(look.texture, check_existing=False)
            except RuntimeError as error:
                problem = f"texture {look.texture}: Blender can't read it: {error}"
                raise AssetError(f"model {model.path}: {problem}") from error
            images.append(image)
        materials.append(build_unlit(look, image, wraps) if unlit else build_model_material(look, image))
    return ModelData(model.sha256, _blender_mesh(model, materials), tuple(materials), tuple(images))


def _blender_mesh(model: Model, materials: list[Any]) -> Any:
    mesh = bpy.data.meshes.new(model.name)
    add_triangles(mesh, model.vertices, model.triangles)
    for material in materials:
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", np.ascontiguousarray(model.slots, dtype=np.int32))
    layer = mesh.uv_layers.new(name="uv", do_init=False)
    layer.uv.foreach_set("vector", np.ascontiguousarray(model.uv, dtype=np.float32).ravel())
    mesh.update(calc_edges=True)
    mesh.shade_smooth()
    mesh.set_sharp_from_angle(angle=math.radians(SHARP_DEG))
    if mesh.validate(verbose=False):
        raise AssetError(f"model {model.path}: Blender had to change its mesh; please report the model's id")
    return mesh
