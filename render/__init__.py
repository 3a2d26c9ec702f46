"""Diorama renders abstract scene specs to annotated datasets.

The Python interface is `diorama`. Its functions are here under the same names, as in older versions.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
_FUNCTIONS = ("RenderedImage", "compile_spec", "open_store", "render_scene")


def __getattr__(name: str) -> Any:
    # Commands import this package for --help, so numpy and pydantic are imported only on first use.
    if name in _FUNCTIONS:
        return getattr(import_module(f"{__name__}.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
