"""`Scene` and its parts, which are defined with the spec language so that spec files can hold them."""

from __future__ import annotations

from scene_specs.language.scene import (
    MOST_SIDE as MOST_SIDE,
)
from scene_specs.language.scene import (
    Color as Color,
)
from scene_specs.language.scene import (
    Scene as Scene,
)
from scene_specs.language.scene import (
    SceneCamera as SceneCamera,
)
from scene_specs.language.scene import (
    SceneFrame as SceneFrame,
)
from scene_specs.language.scene import (
    SceneLight as SceneLight,
)
from scene_specs.language.scene import (
    SceneMaterial as SceneMaterial,
)
from scene_specs.language.scene import (
    SceneObject as SceneObject,
)
from scene_specs.language.scene import (
    ScenePointer as ScenePointer,
)
from scene_specs.language.scene import (
    SceneView as SceneView,
)
from scene_specs.language.scene import (
    Settings as Settings,
)


def _notebook_html(scene: Scene) -> str:
    # The gallery imports this module.
    from render.gallery.notebook import scene_html

    return scene_html(scene)


Scene.notebook_html = _notebook_html
