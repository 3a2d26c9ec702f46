"""`position`: Cycles' position pass, of the same sample as the depth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diorama.render.passes import CyclesImage, Floats, PassRow, SoftwareView, depth
from diorama.scene_specs.model.scene import SceneFrame


def read(image: CyclesImage, frame: SceneFrame) -> Floats:
    """(H, W, 3). Cycles writes 0, a valid position, where the ray meets nothing."""
    seen = np.isfinite(depth.read(image, frame))[..., None]
    return np.where(seen, image.stack("Position", "XYZ"), np.float32(np.inf))


def fake(view: SoftwareView) -> NDArray[np.float64]:
    """Return the point at each pixel's center."""
    seen = np.isfinite(view.depth)
    rows, columns = np.nonzero(seen)
    position = np.full((*view.depth.shape, 3), np.inf)
    position[seen] = np.stack(
        view.camera.unproject(columns + np.float64(0.5), rows + np.float64(0.5), view.depth[seen]), axis=-1
    )
    return position


PASS = PassRow(
    shape=("H", "W", 3),
    dtype="float32",
    unit="Blender units",
    meaning="world position of the surface at the pixel's center; inf for background",
    switch="use_pass_position",
    read=read,
    fake=fake,
)
