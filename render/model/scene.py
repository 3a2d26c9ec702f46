"""`Scene` and its parts, which are defined with the spec language so that spec files can hold them."""

from __future__ import annotations

from scene_specs.language.scene import (
    MOST_SIDE,
    Color,
    Scene,
    SceneCamera,
    SceneFrame,
    SceneLight,
    SceneMaterial,
    SceneObject,
    ScenePointer,
    SceneView,
    Settings,
)

# fmt: off
__all__ = [
    "MOST_SIDE", "Color", "Scene", "SceneCamera", "SceneFrame", "SceneLight", "SceneMaterial", "SceneObject",
    "ScenePointer", "SceneView", "Settings",
]
# fmt: on
