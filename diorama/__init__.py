"""Diorama from Python: generate specs, render them, read and export the store.

    import diorama

    specs = diorama.generate("clevr", count=10, seed=1)
    summary = diorama.render_to_store(specs, "diorama.lance", profile="draft")
    report = diorama.export("diorama.lance", "folder", "pictures")

The names in `__all__` are the public interface; each is imported when it is first used. See docs/python.md.

The commands start here, too. Diorama's package is called `render`, and so is a distribution on PyPI that has nothing to
do with it. If both are installed into one environment, their files mix; this module notices before anything runs.
"""

# ruff: noqa: F403, F405 - the modules with the public names have lists of their own, as this one has

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from render import __version__
    from render.api import *
    from render.model.errors import *
    from render.run.summary import Summary
    from scene_specs.language.registry import PluginError

# fmt: off
__all__ = [
    "AssetError", "ChatError", "CompileError", "ConflictError", "DeviceError", "Diagnostic", "DioramaError",
    "EpisodeRecord", "EpisodeSpec", "ExportReport", "FakeRenderer", "GpuError", "GpuMemoryError", "MissingError",
    "Passes", "PluginError", "RenderError", "RenderedImage", "Renderer", "Scene", "SpecError", "StoreError", "Summary",
    "UsageError", "__version__", "compile_spec", "export", "generate", "open_store", "render_scene", "render_to_store",
]
# fmt: on
# Where names lie that are neither errors nor in render.api. Ray comes with the summary.
_HOMES = {
    "__version__": "render",
    "Diagnostic": "render.model.errors",
    "PluginError": "scene_specs.language.registry",
    "Summary": "render.run.summary",
}
_COMMANDS = ("batch", "specs", "export", "store", "doctor", "episode", "eval", "gallery")
_OURS = '"""Diorama'


def foreign_package() -> str:
    """Where a package `render` lies that is not Diorama's, with what to do; "" if there is none. Imports nothing."""
    spec = find_spec("render")
    origin = Path(spec.origin) if spec is not None and spec.origin is not None else None
    if origin is not None and origin.read_text(encoding="utf-8", errors="replace").startswith(_OURS):
        return ""
    return (
        f"the package `render` at {origin or 'unknown place'} is not Diorama's: another distribution called `render` "
        "has replaced its files. Run `pip uninstall render`, then `pip install --force-reinstall --no-deps diorama`, "
        "or install Diorama into an environment of its own"
    )


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    command = name.removeprefix("render_")
    if name not in __all__ and command not in _COMMANDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if problem := foreign_package():
        if name in __all__:
            raise ImportError(problem)
        sys.stderr.write(f"error: {problem}\n")
        raise SystemExit(2)
    if name in __all__:
        home = "render.model.errors" if name.endswith("Error") else "render.api"
        return getattr(import_module(_HOMES.get(name, home)), name)
    return import_module(f"render.cli.{command}").main
