"""Diorama from Python: compile specs, render Scenes, open stores.

    import diorama

    scene = diorama.compile_spec({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]})
    image = diorama.render_scene(scene)[0]
    record = diorama.open_store("diorama.lance").get("demo/0001")

The commands start here, too. Diorama's package is called `render`, and so is a distribution on PyPI that has nothing to
do with it. If both are installed into one environment, their files mix; this module notices before anything runs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from render import __version__
    from render.api import RenderedImage, compile_spec, open_store, render_scene

__all__ = ["RenderedImage", "__version__", "compile_spec", "open_store", "render_scene"]

_COMMANDS = ("batch", "specs", "export", "store", "doctor", "episode", "gallery")
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
        return getattr(import_module("render"), name)
    return import_module(f"render.cli.{command}").main
