"""The devices that a run may be asked for. Imports nothing heavy: the help of commands lists them."""

from __future__ import annotations

from typing import Literal, get_args

DeviceName = Literal["auto", "cpu", "cuda", "optix", "hip", "oneapi", "metal"]
DEVICE_NAMES: tuple[DeviceName, ...] = get_args(DeviceName)
GPU_NAMES = DEVICE_NAMES[2:]
