"""`normal`: Cycles' shading normal."""

from __future__ import annotations

import numpy as np

from diorama.render.passes import CyclesImage, Floats, PassRow, SoftwareView
from diorama.scene_specs.model.scene import SceneFrame


def read(image: CyclesImage, _frame: SceneFrame) -> Floats:
    """(H, W, 3), normalized: Cycles averages over the samples of a pixel, which shortens normals along edges."""
    normal = image.stack("Normal", "XYZ")
    length = np.sqrt((normal * normal).sum(axis=-1, keepdims=True))
    return np.divide(normal, length, out=np.zeros_like(normal), where=length > 1e-6)


def fake(view: SoftwareView) -> Floats:
    """Every object faces the camera."""
    return np.where((view.order > 0)[..., None], -np.array(view.camera.forward, dtype=np.float32), np.float32(0))


PASS = PassRow(
    shape=("H", "W", 3),
    dtype="float16",
    unit="unit vector",
    meaning="world space; mean over the pixel's samples; 0 for background",
    switch="use_pass_normal",
    read=read,
    fake=fake,
)
