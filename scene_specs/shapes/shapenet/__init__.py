"""Models of libraries in the layout of ShapeNet and of single files, found and read without Blender."""

from __future__ import annotations

from diorama.scene_specs.shapes.shapenet.library import Library, library, library_setting, set_library_environment
from diorama.scene_specs.shapes.shapenet.loading import canonical, load_model
from diorama.scene_specs.shapes.shapenet.model import Model, ModelMaterial

# fmt: off
__all__ = [
    "Library", "Model", "ModelMaterial", "canonical", "library", "library_setting", "load_model",
    "set_library_environment",
]
# fmt: on
