"""Diorama from Python: generate specs, render them, read and export the store.

    import diorama

    specs = diorama.generate("clevr", count=10, seed=1)
    summary = diorama.render_to_store(specs, "diorama.lance", profile="draft")
    report = diorama.export("diorama.lance", "folder", "pictures")

The names in `__all__` are the public interface; each is imported when it is first used. See docs/python.md.

The commands start here, too.
"""

# ruff: noqa: F403, F405 - the modules with the public names have lists of their own, as this one has

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from diorama._moved import serve

if TYPE_CHECKING:
    from diorama.render import __version__
    from diorama.render.api import *
    from diorama.render.run.summary import Summary
    from diorama.scene_specs.errors import *
    from diorama.scene_specs.errors import PluginError
    from diorama.scene_specs.model.spec import *

# fmt: off
__all__ = [
    "AreaSpec", "AssetError", "CameraSpec", "ChatError", "CompileError", "ConflictError", "ConstraintSpec",
    "DeviceError", "Diagnostic", "DioramaError", "EpisodeRecord", "EpisodeSpec", "ExportReport", "FakeRenderer",
    "FrameSpec", "GpuError", "GpuMemoryError", "ImplausibleError", "IntrinsicsSpec", "InventedShape", "InventedSpec",
    "LightSpec", "LookSpec", "MaterialSpec", "MeshSpec", "MissingError", "ObjectSpec", "ObjectViewSpec",
    "ObserverSpec", "OutlineSpec", "Passes", "PluginError", "PointerSpec", "RandomObjectsSpec", "RayFailedError",
    "RenderError", "RenderedImage", "Renderer", "Scene", "SpecError", "StoreError", "Summary", "UsageError",
    "ViewSpec", "__version__", "compile_spec", "export", "generate", "live", "open_store", "render_scene",
    "render_to_store", "samples",
]
# fmt: on
# Where names lie that are neither errors, nor parts of a spec, nor in diorama.render.api. Ray comes with the summary.
_HOMES = {
    "__version__": "diorama.render",
    "Diagnostic": "diorama.scene_specs.errors",
    "InventedShape": "diorama.scene_specs.model.spec",
    "Summary": "diorama.render.run.summary",
}
_COMMANDS = ("batch", "specs", "export", "store", "doctor", "episode", "eval", "gallery")


serve()


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    command = name.removeprefix("render_")
    if name not in __all__ and command not in _COMMANDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in __all__:
        ends = {"Error": "diorama.scene_specs.errors", "Spec": "diorama.scene_specs.model.spec"}
        home = next((module for end, module in ends.items() if name.endswith(end)), "diorama.render.api")
        return getattr(import_module(_HOMES.get(name, home)), name)
    return import_module(f"diorama.render.cli.{command}").main
