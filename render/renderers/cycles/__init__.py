"""The Cycles renderer: the only package that imports bpy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from diorama.render.machine.blender_series import require_module

if TYPE_CHECKING:
    from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer

# Blender would run scripts and read settings of another installation.
for _name in [name for name in os.environ if name.startswith(("BLENDER_SYSTEM_", "BLENDER_USER_"))]:
    del os.environ[_name]


def create_renderer(device: str, threads: int, asset_roots: Sequence[Path]) -> CyclesRenderer:
    """Return a new renderer.

    Raises:
        DeviceError: the device is not available.
        UsageError: without Blender.
    """
    require_module("bpy")
    from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer

    return CyclesRenderer(device, threads, asset_roots)
