"""Datasets out of a store, one file a format: a module in this folder with a function `export` is a format.

`folder.py` is `--format folder`. `clevr_masks.py` reads a published scene file instead of a store (`FROM_FILES`).
A package adds one by an entry point of group `diorama.exports` whose value is such a function
(render.export.protocol.Exporter).
"""

from __future__ import annotations

import difflib
import pkgutil
from importlib import import_module, metadata
from typing import TYPE_CHECKING, cast

from render.model.errors import UsageError

if TYPE_CHECKING:
    from render.export.protocol import Exporter

__all__ = ["FROM_FILES", "SHARDED", "exporter", "format_names", "takes_shard_size"]

FROM_FILES = frozenset({"clevr-masks"})
SHARDED = frozenset({"webdataset", "huggingface"})
_NOT_FORMATS = frozenset({"protocol"})
_GROUP = "diorama.exports"


def format_names() -> list[str]:
    """Names of all formats, sorted. Imports none of them."""
    return sorted({*_own(), *metadata.entry_points(group=_GROUP).names})


def exporter(name: str) -> Exporter:
    """The function that writes a format. Raises UsageError for an unknown one."""
    own = _own()
    if name in own:
        return cast("Exporter", import_module(f"{__name__}.{own[name]}").export)
    for point in metadata.entry_points(group=_GROUP, name=name):
        return cast("Exporter", point.load())
    near = difflib.get_close_matches(name, format_names(), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"unknown format {name!r}; there are: {', '.join(format_names())}{hint}")


def takes_shard_size(name: str) -> bool:
    """Whether a format has files of several episodes; of another package's format it isn't known, and is let pass."""
    return name in SHARDED or name not in _own()


def _own() -> dict[str, str]:
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return {name.replace("_", "-"): name for name in found if name not in _NOT_FORMATS and not name.startswith("_")}
