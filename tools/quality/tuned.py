"""`TunedRenderer`: Cycles with properties that no profile has, for tries; it also keeps the linear image."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diorama.render.model.errors import UsageError
from diorama.render.model.passes import Passes
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.cycles.exr_passes import Exr
from diorama.scene_specs.language.scene import Scene, SceneFrame, SceneView


class TunedRenderer(CyclesRenderer):
    """A CyclesRenderer with additional properties, set by `tune` until the next call of `tune`.

    linear: (H, W, 3) float32, linear color of the last rendered image, before the display curve.
    """

    def __init__(self, device: str = "cpu", threads: int = 0) -> None:
        super().__init__(device, threads)
        self.linear: NDArray[np.float32] = np.zeros((0, 0, 3), np.float32)
        self._properties: Mapping[str, Mapping[str, Any]] = {}
        self._undo = ExitStack()

    def tune(self, **properties: Mapping[str, Any]) -> None:
        """Set properties of Blender's scene for the following renders; no arguments: as profiles have it.

        properties: by owner, as in tools.quality.candidates.
        """
        self._properties = properties

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        """Render as CyclesRenderer does. Raises UsageError for a property or value that Blender doesn't accept."""
        with ExitStack() as self._undo:
            return super().render(scene, frame, view)

    def build(self, scene: Scene, frame: SceneFrame, view: SceneView) -> None:
        """Build as CyclesRenderer does, then apply the properties."""
        super().build(scene, frame, view)
        owners = {
            "cycles": self._scene.cycles,
            "render": self._scene.render,
            "view_layer": self._scene.view_layers[0],
            "view_layer_cycles": self._scene.view_layers[0].cycles,
            "image_settings": self._scene.render.image_settings,
        }
        for owner, values in self._properties.items():
            for name, value in values.items():
                try:
                    before = getattr(owners[owner], name)
                    setattr(owners[owner], name, value)
                except (AttributeError, TypeError) as error:
                    raise UsageError(
                        f"Blender's {owner} has no property {name!r} of value {value!r}: {error}"
                    ) from error
                self._undo.callback(setattr, owners[owner], name, before)

    def _final_color(self, exr: Exr, scene: Scene, frame: SceneFrame) -> NDArray[np.uint8]:  # type: ignore[override]
        self.linear = exr.stack("Combined", "RGB")
        return CyclesRenderer._final_color(exr, scene, frame)
