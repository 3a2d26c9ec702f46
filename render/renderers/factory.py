"""Create a renderer from the name that `--renderer` takes and a store keeps."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from render.model.errors import UsageError
from render.model.passes import Renderer
from scene_specs.language.diagnostics import did_you_mean

_BUILT_IN = ("cycles", "fake")


def make_renderer(name: str, device: str = "auto", threads: int = 0, asset_roots: Sequence[Path] = ()) -> Renderer:
    """A new renderer: "cycles", "fake", or "package.module:Class", whose class takes no arguments.

    device: auto, gpu, cpu, cuda or optix; threads: CPU threads, 0 for all; asset_roots: folders of .blend materials.
    Only cycles uses these three. Raises UsageError for an unknown name or a class that can't be imported, DeviceError.
    """
    # Imported here: Blender is optional, and takes a second to start.
    if name == "cycles":
        from render.renderers.cycles.cycles_renderer import CyclesRenderer

        return CyclesRenderer(device, threads, asset_roots)
    if name == "fake":
        from render.renderers.fake import FakeRenderer

        return FakeRenderer()
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        hint = did_you_mean(name, _BUILT_IN)
        problem = f"unknown renderer {name!r}; there are: {', '.join(_BUILT_IN)}, or package.module:Class"
        raise UsageError(problem + (f" ({hint})" if hint else ""))
    try:
        renderer_class = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # importing runs other people's code
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"renderer {name!r}: can't import {attribute} from module {module}: {reason}") from error
    renderer: Renderer = renderer_class()
    return renderer
