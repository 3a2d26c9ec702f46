"""`amodal`: the mask that each object would have if nothing hid it, computed by the software rasterizer."""

from __future__ import annotations

from diorama.render.passes import PassRow

PASS = PassRow(
    shape=("N", "H", "W"),
    dtype="run lengths",
    unit="0 or 1",
    meaning="one mask per object as if nothing hid it, cropped to the image; stored as `amodal_rle`, not as an array",
)
