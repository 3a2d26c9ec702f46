"""Models of libraries in the layout of ShapeNet and of single files, found here and read by Blender."""

from __future__ import annotations

from diorama.scene_specs.shapes.shapenet.library import Library, library, library_setting, set_library_environment
from diorama.scene_specs.shapes.shapenet.loading import blend_of, canonical, load_model
from diorama.scene_specs.shapes.shapenet.model import Model

# fmt: off
__all__ = [
    "Library", "Model", "blend_of", "canonical", "library", "library_setting", "load_model",
    "set_library_environment",
]
# fmt: on
