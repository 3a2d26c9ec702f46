"""The bytes of displayed colors."""

from __future__ import annotations

import numpy as np

from diorama.render.geometry.display import display


def test_each_byte_begins_at_its_step() -> None:
    value = (np.arange(255) + 0.5) / 255
    step = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4).astype(np.float32)
    assert display(step).tolist() == [*range(1, 256)]
    assert display(np.nextafter(step, np.float32(0))).tolist() == [*range(255)]


def test_what_is_out_of_range_or_no_number_is_clipped() -> None:
    values = np.array([[-1, -np.inf, np.nan, -0.0], [1, 1.5, np.inf, 1e38]], dtype=np.float32)
    assert display(values).tolist() == [[0] * 4, [255] * 4]
