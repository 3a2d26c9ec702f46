"""Export formats, by name; each file of `formats` is one.

A format is a module with a function `export` (diorama.render.export.protocol.Exporter), and optionally

    FROM_FILES = True    `export` reads a file of the user instead of a store
    SHARDED = True       it takes `--shard-size`: its files hold many episodes
    QUESTIONS = True     it takes `--questions`
    croissant(out)       for `--about`: the files and record sets of an export (diorama.render.export.croissant), and
                         values for the head of README.md (diorama.render.export.hub), such as which files are data
    write_tables(out, written)      for `--about`, before that: writes files that only a published folder has

A package may register the function alone, which then takes `--shard-size`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from diorama.scene_specs.language.errors import UsageError
from diorama.scene_specs.language.registry import plugin

if TYPE_CHECKING:
    from diorama.render.export.protocol import Exporter


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


def tables_of(name: str) -> Callable[[Path, Any], None]:
    """The function `write_tables` of a format; one that does nothing if it has none."""
    found = getattr(plugin("exports", name).load(), "write_tables", lambda *_: None)
    return cast("Callable[[Path, Any], None]", found)


def takes_questions(name: str) -> bool:
    """Whether a format writes questions about the images."""
    return bool(getattr(plugin("exports", name).load(), "QUESTIONS", False))


def described_by(name: str) -> Callable[[Path], tuple[list[Any], list[Any], dict[str, Any]]]:
    """The function `croissant` of a format. Raises UsageError if it has none."""
    found = getattr(plugin("exports", name).load(), "croissant", None)
    if not callable(found):
        raise UsageError(f"--about: --format {name} can't be described; use huggingface, webdataset or folder")
    return cast("Callable[[Path], tuple[list[Any], list[Any], dict[str, Any]]]", found)
