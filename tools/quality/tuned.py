"""`TunedRenderer`: Cycles with properties that no profile has, for tries; it also keeps the linear picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from render.model.errors import UsageError
from render.model.passes import Passes
from render.model.scene import Scene, SceneFrame, SceneView
from render.renderers.cycles.cycles_renderer import CyclesRenderer
from render.renderers.cycles.exr_passes import Exr

Hook = Callable[[Any, SceneFrame], Callable[[], None] | None]


class TunedRenderer(CyclesRenderer):
    """A CyclesRenderer whose `tune` says what is otherwise until the next call of it.

    linear: (H, W, 3) float32, linear color of the picture rendered last, before the display's curve.
    """

    def __init__(self, device: str = "cpu", threads: int = 0) -> None:
        super().__init__(device, threads)
        self.linear: NDArray[np.float32] = np.zeros((0, 0, 3), np.float32)
        self._properties: dict[str, Mapping[str, Any]] = {}
        self._hook: Hook | None = None

    def tune(
        self,
        cycles: Mapping[str, Any] | None = None,
        render: Mapping[str, Any] | None = None,
        view_layer: Mapping[str, Any] | None = None,
        image_settings: Mapping[str, Any] | None = None,
        hook: Hook | None = None,
    ) -> None:
        """Properties of Blender's scene for the renders that follow; none: as profiles have it."""
        self._properties = {
            "cycles": cycles or {},
            "render": render or {},
            "view_layer": view_layer or {},
            "image_settings": image_settings or {},
        }
        self._hook = hook

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        """As CyclesRenderer. Raises UsageError for a property that Blender does not have or a value it refuses."""
        self._undo: list[Callable[[], None]] = []
        try:
            return super().render(scene, frame, view)
        finally:
            for undo in reversed(self._undo):
                undo()

    def build(self, scene: Scene, frame: SceneFrame, view: SceneView) -> None:
        """As CyclesRenderer, then the properties and the hook."""
        super().build(scene, frame, view)
        for place, values in self._properties.items():
            for name, value in values.items():
                self._undo.append(self._set(place, name, value))
        if self._hook is not None:
            undo = self._hook(self._scene, frame)
            if undo is not None:
                self._undo.append(undo)

    def _set(self, place: str, name: str, value: Any) -> Callable[[], None]:
        """Set one property; returns what puts it back."""
        owner = {
            "cycles": self._scene.cycles,
            "render": self._scene.render,
            "view_layer": self._scene.view_layers[0],
            "image_settings": self._scene.render.image_settings,
        }[place]
        try:
            before = getattr(owner, name)
            setattr(owner, name, value)
        except (AttributeError, TypeError) as error:
            raise UsageError(f"Blender's {place} has no property {name!r} of value {value!r}: {error}") from error
        return lambda: setattr(owner, name, before)

    def _final_color(self, exr: Exr, scene: Scene, frame: SceneFrame) -> NDArray[np.uint8]:  # type: ignore[override]
        self.linear = exr.stack("Combined", "RGB")
        return CyclesRenderer._final_color(exr, scene, frame)
