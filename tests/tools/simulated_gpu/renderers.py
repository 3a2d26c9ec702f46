"""A renderer that lists its cards as Cycles does, without Blender."""

from __future__ import annotations

import ctypes

from diorama.render.renderers.fake import FakeRenderer


class ListsCards(FakeRenderer):
    """Lists the visible cards; draws silhouettes."""

    def __init__(self) -> None:
        super().__init__(device="CUDA Simulated GPU")
        driver, count, name = ctypes.CDLL("libcuda.so"), ctypes.c_int(), ctypes.create_string_buffer(100)
        assert driver.cuInit(0) == 0
        driver.cuDeviceGetCount(ctypes.byref(count))
        for device in range(count.value):
            driver.cuDeviceGetName(name, len(name), device)
