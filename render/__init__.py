"""Diorama renders abstract scene specs to annotated datasets.

The Python API is `render.compile_spec`, `render.render_scene` and `render.open_store`; see render.api.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from render.api import RenderedImage, compile_spec, open_store, render_scene

__version__ = "0.1.0"
__all__ = ["RenderedImage", "__version__", "compile_spec", "open_store", "render_scene"]


def __getattr__(name: str) -> Any:
    # Commands import this package for --help, so numpy and pydantic are imported only on first use.
    if name in __all__:
        from render import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
