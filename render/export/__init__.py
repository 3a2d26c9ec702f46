"""Export formats, by name; each file of `formats` is one.

A format is a module with a function `export` (render.export.protocol.Exporter), and optionally

    FROM_FILES = True    `export` reads a file of the user instead of a store
    SHARDED = True       it takes `--shard-size`: its files hold many episodes

A package may register the function alone, which then takes `--shard-size`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from scene_specs.language.registry import plugin

if TYPE_CHECKING:
    from render.export.protocol import Exporter


def exporter(name: str) -> Exporter:
    """Import a format and return its `export` function. Raises PluginError for an unknown name."""
    found = plugin("exports", name).load()
    return cast("Exporter", getattr(found, "export", found))


def reads_files(name: str) -> bool:
    """Whether a format reads a file instead of a store."""
    return bool(getattr(plugin("exports", name).load(), "FROM_FILES", False))


def takes_shard_size(name: str) -> bool:
    """Whether a format writes files of several episodes."""
    registered = plugin("exports", name)
    return bool(getattr(registered.load(), "SHARDED", registered.attribute))
