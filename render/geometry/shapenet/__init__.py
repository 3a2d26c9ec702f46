"""Models of libraries in the layout of ShapeNet and of single files, found and read without Blender."""

from __future__ import annotations

from diorama.render.geometry.shapenet.library import Library, choose_library, library, library_setting
from diorama.render.geometry.shapenet.loading import canonical, load_model
from diorama.render.geometry.shapenet.model import Model, ModelMaterial

# fmt: off
__all__ = [
    "Library", "Model", "ModelMaterial", "canonical", "choose_library", "library", "library_setting", "load_model",
]
# fmt: on
