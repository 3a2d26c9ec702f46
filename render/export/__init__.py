"""Export formats: every public module of this package with a function `export` is a format.

`folder.py` is `--format folder`. `clevr_masks.py` reads a published scene file instead of a store (`FROM_FILES`).
Another package adds a format with an entry point of group `diorama.exports` whose value is such a function
(render.export.protocol.Exporter).
"""

from __future__ import annotations

import pkgutil
from importlib import import_module, metadata
from typing import TYPE_CHECKING, cast

from render.model.errors import UsageError
from scene_specs.language.diagnostics import did_you_mean

if TYPE_CHECKING:
    from render.export.protocol import Exporter

__all__ = ["FROM_FILES", "SHARDED", "exporter", "format_names", "takes_shard_size"]

FROM_FILES = frozenset({"clevr-masks"})
SHARDED = frozenset({"webdataset", "huggingface"})
_NOT_FORMATS = frozenset({"atomic_output", "protocol", "run_export"})
_GROUP = "diorama.exports"


def format_names() -> list[str]:
    """The names of all formats, sorted. Imports no format."""
    return sorted({*_builtin_modules(), *metadata.entry_points(group=_GROUP).names})


def exporter(name: str) -> Exporter:
    """Import a format and return its `export` function. Raises UsageError for an unknown name."""
    modules = _builtin_modules()
    if name in modules:
        return cast("Exporter", import_module(f"{__name__}.{modules[name]}").export)
    for point in metadata.entry_points(group=_GROUP, name=name):
        return cast("Exporter", point.load())
    hint = did_you_mean(name, format_names())
    raise UsageError(f"unknown format {name!r}; expected one of: {', '.join(format_names())}{'; ' * bool(hint)}{hint}")


def takes_shard_size(name: str) -> bool:
    """Whether a format writes files of several episodes. True for a format of another package, which may."""
    return name in SHARDED or name not in _builtin_modules()


def _builtin_modules() -> dict[str, str]:
    """Format name -> module name."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return {name.replace("_", "-"): name for name in modules if name not in _NOT_FORMATS and not name.startswith("_")}
