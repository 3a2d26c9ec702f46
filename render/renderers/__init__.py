"""Renderers, and the function that creates them by name.

A renderer is a module or a class with a function `create_renderer(device, threads, asset_roots)`, or a class without
one, which then takes no arguments. It returns a diorama.scene_specs.model.passes.Renderer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from diorama.scene_specs.language.registry import find_plugin

if TYPE_CHECKING:
    from diorama.scene_specs.model.passes import Renderer


def make_renderer(name: str, device: str = "auto", threads: int = 0, asset_roots: Sequence[Path] = ()) -> Renderer:
    """Return a new renderer: a registered one, such as "cycles", or "package.module:Class".

    Args:
        device: auto, gpu, or a kind such as cpu or cuda.
        threads: CPU threads, 0 for all.
        asset_roots: folders of .blend materials.

    Raises:
        PluginError: for an unknown name or one that can't be imported.
        DeviceError: the device is not available.
    """
    provider = find_plugin("renderers", name).load()
    if hasattr(provider, "create_renderer"):
        return cast("Renderer", provider.create_renderer(device, threads, asset_roots))
    return cast("Renderer", provider())
