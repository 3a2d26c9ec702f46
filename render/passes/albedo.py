"""`albedo`: Cycles' Diffuse Color, the weight of a surface's diffuse part before lighting.

A `matte` surface has exactly its linear color; `rubber` slightly less, because a highlight covers its body. Glass,
metal, emission and `unlit` have no diffuse part and are 0, as is the background.
"""

from __future__ import annotations

import numpy as np

from diorama.render.passes import Floats, PassRow, SoftwareView
from diorama.scene_specs.language.model_names import UNLIT

_NOT_DIFFUSE = ("glass", "metal", "emission", UNLIT)


def fake(view: SoftwareView) -> Floats:
    """Return the color of objects with a diffuse material."""
    black = (0.0, 0.0, 0.0)
    colors = [black if item.material.name in _NOT_DIFFUSE else item.color_linear for item in view.frame.objects]
    return np.array([black, *colors], dtype=np.float32)[view.order]


PASS = PassRow(
    shape=("H", "W", 3),
    dtype="float32",
    unit="linear RGB, 0 to 1",
    meaning="diffuse color without light; mean over the pixel's samples; 0 for glass, metal, emission, background",
    switch="use_pass_diffuse_color",
    read=lambda image, _: np.clip(image.stack("DiffCol", "RGB"), 0, 1),
    fake=fake,
)
