"""`amodal`: the mask that each object would have if nothing hid it, computed by the software rasterizer."""

from __future__ import annotations

from render.passes import PassRow

PASS = PassRow(
    shape=("N", "H", "W"),
    dtype="run lengths",
    unit="0 or 1",
    meaning="mask of each object as if nothing hid it, cropped to the image; `amodal_rle` in the annotation, no array",
)
