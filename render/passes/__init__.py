"""`PassRow`, everything about one pass that a frame can request, and the rows of all of them.

Each public file of this package is a pass: its name is the file's, its row is `PASS`. Packages add passes as plug-ins
of the noun `passes`; see scene_specs/language/registry.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.camera import Camera
from diorama.scene_specs.language.registry import plugin, plugins
from diorama.scene_specs.model.scene import SceneFrame

Floats = NDArray[np.float32]


class CyclesImage(Protocol):
    """What a row reads from a render; see diorama.render.renderers.cycles.exr_passes.Exr."""

    def stack(self, layer: str, letters: str) -> Floats:
        """Return the channels of a layer as (H, W, len(letters))."""
        ...

    def coverage(self, indices: Sequence[int]) -> Floats:
        """(N, H, W): share of each pixel that the objects cover."""
        ...


class SoftwareView(NamedTuple):
    """A view without Blender.

    Attributes:
        order: (H, W), k for frame.objects[k - 1], 0 for none.
        depth: (H, W), inf for none.
    """

    frame: SceneFrame
    camera: Camera
    order: NDArray[np.uint16]
    depth: NDArray[np.float64]


@dataclass(frozen=True)
class PassRow:
    """One pass.

    Attributes:
        shape: axes of the array; H and W are of the image, N is the number of objects.
        dtype: type of the stored array; renderers return float32.
        switch: attribute of Blender's view layer that makes Cycles render the pass.
        read: the array from a render of Cycles.
        fake: the array from the software rasterizer. A row without them has no array: `annotate` adds it.
    """

    shape: tuple[str | int, ...]
    dtype: str
    unit: str
    meaning: str
    switch: str = ""
    read: Callable[[CyclesImage, SceneFrame], Floats] | None = None
    fake: Callable[[SoftwareView], NDArray[np.float64] | Floats] | None = None


def row_of(name: str) -> PassRow:
    """Return the row of a pass. Raises PluginError."""
    row: PassRow = plugin("passes", name).load().PASS
    return row


def array_passes(names: Iterable[str]) -> list[str]:
    """Those of the passes that are stored as arrays. A pass whose plug-in is missing counts as one."""
    return [name for name in names if name not in plugins("passes") or row_of(name).read is not None]


def rendered_rows(frame: SceneFrame) -> dict[str, PassRow]:
    """Name -> row of each array that a renderer returns for a frame.

    Depth always. Normals also unrequested, except on flat stages, where they would take a third of the render time.
    """
    names = ["depth", *(["normal"] if frame.pixels is None else []), *array_passes(frame.passes)]
    return {name: row_of(name) for name in names}
