"""Models in ShapeNet's layout, read without Blender: which there are, and what they are made of."""

from __future__ import annotations

from render.geometry.shapenet.library import Library, choose_library, library, library_setting
from render.geometry.shapenet.loading import canonical, load_model
from render.geometry.shapenet.model import Model, ModelMaterial

__all__ = [
    "Library",
    "Model",
    "ModelMaterial",
    "canonical",
    "choose_library",
    "library",
    "library_setting",
    "load_model",
]
