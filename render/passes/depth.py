"""`depth`: Cycles' depth pass, of the first sample, which is at the pixel's center."""

from __future__ import annotations

import numpy as np

from diorama.render.passes import CyclesImage, Floats, PassRow
from diorama.scene_specs.model.scene import SceneFrame

# Larger depths mean that the ray meets nothing; others end at the camera's clip distance.
_NOTHING = 1e9


def read(image: CyclesImage, _frame: SceneFrame) -> Floats:
    """(H, W), inf where the ray meets nothing."""
    depth = image.stack("Depth", "Z")[..., 0]
    return np.where(depth > _NOTHING, np.float32(np.inf), depth)


PASS = PassRow(
    shape=("H", "W"),
    dtype="float32",
    unit="Blender units",
    meaning="distance along the camera axis at the pixel's center; inf for background",
    switch="use_pass_z",
    read=read,
    fake=lambda view: view.depth,
)
