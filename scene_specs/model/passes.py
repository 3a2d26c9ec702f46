"""`Passes`, the arrays of one render of one view, and the protocol of a renderer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView

# Optional passes with a field of their own.
_FIELDS = ("depth", "normal", "coverage")


@dataclass(frozen=True)
class Passes:
    """Row 0 is the top of the image. H, W: the size in the Scene's settings.

    Attributes:
        color: (H, W, 3) uint8, display values (Standard view transform: the sRGB curve of linear color, clipped).
        ids: (H, W) uint16, instance id of the surface at the pixel's center, 0 for ground or background. Glass is
            solid.
        depth: (H, W) float32, distance along the camera axis in Blender units at the pixel's center, inf for
            background.
        normal: (H, W, 3) float32, world space, unit length, 0 for background; the normalized mean over the pixel's
            samples. On flat stages 0 if the frame does not request it.
        extra: name -> array of every other requested pass; `get` knows them all. render/passes has one file per pass.
        coverage: (N, H, W) float32, share of the pixel that object index 1..N covers (Cryptomatte); None if not
            requested.
        seconds: step -> seconds, of this render.
        device: that rendered, as Cycles names it.
    """

    color: NDArray[np.uint8]
    ids: NDArray[np.uint16]
    depth: NDArray[np.float32]
    normal: NDArray[np.float32]
    coverage: NDArray[np.float32] | None
    seconds: dict[str, float] = field(default_factory=dict)
    device: str = ""
    extra: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, color: NDArray[np.uint8], ids: NDArray[np.uint16], arrays: Mapping[str, NDArray[np.float32]], **facts: Any
    ) -> Passes:
        """Return passes from arrays by name; unrendered normals are 0.

        Args:
            facts: seconds, device.
        """
        normal = arrays.get("normal", np.broadcast_to(np.float32(0), (*ids.shape, 3)))
        extra = {name: array for name, array in arrays.items() if name not in _FIELDS}
        return cls(color, ids, arrays["depth"], normal, arrays.get("coverage"), extra=extra, **facts)

    def get(self, name: str) -> NDArray[np.float32] | None:
        """Return a pass by its name in a spec; None if it was not requested."""
        return getattr(self, name) if name in _FIELDS else self.extra.get(name)


class Renderer(Protocol):
    """Turns views of a Scene into Passes. Each worker has one; calls are serial."""

    @property
    def info(self) -> dict[str, str]:
        """Name, version, device and instruction set, for the provenance."""
        ...

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        """Render one view. Raises RenderError."""
        ...

    def close(self) -> None:
        """Release what it holds, such as temporary files and the Blender scene."""
        ...
