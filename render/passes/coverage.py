"""`coverage`: Cycles' Cryptomatte, as one layer per object."""

from __future__ import annotations

import numpy as np

from diorama.render.passes import Floats, PassRow, SoftwareView


def fake(view: SoftwareView) -> Floats:
    """1 where the object is at the pixel's center."""
    numbers = np.arange(1, len(view.frame.objects) + 1)[:, None, None]
    share: Floats = (view.order == numbers).astype(np.float32)
    return share


PASS = PassRow(
    shape=("N", "H", "W"),
    dtype="float16",
    unit="0 to 1",
    meaning="share of each pixel in which an object is visible; objects in the order of their `index`",
    switch="use_pass_cryptomatte_object",
    read=lambda image, frame: image.coverage([item.index for item in frame.objects]),
    fake=fake,
)
