"""Export formats, by name: each file of `formats`, and each file `export.py` or `export_<name>.py` of a benchmark.

A format is a module with FOLDERS, an EpisodeFolders; with Lists, a subclass of ImageLists
(scene_specs/tasks/exporting/layouts.py); or with a function `export` (see Exporter in protocol.py).
Optionally, it has

    FROM_FILES = True    `export` reads a file of the user instead of a store
    SHARDED = True       it takes `--shard-size`: its files hold many episodes
    QUESTIONS = True     it takes `--questions`
    croissant_parts(out) for `--about`: the files and record sets of an export (croissant.py), and
                         values for the head of README.md (diorama.render.uses.export.hub), such as which files are data
    write_tables(out, written,      for `--about`, before that: writes files that only a published folder has; with
                 update=False)      update=True, for other exports, only if such files are there

A package may register the function alone, which then takes `--shard-size`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diorama.scene_specs.errors import PluginError
from diorama.scene_specs.language.registry import plugin

if TYPE_CHECKING:
    from diorama.render.uses.export.protocol import Exporter


@dataclass(frozen=True)
class Format:
    """What a format has; see this module.

    Attributes:
        sharded: whether it takes `--shard-size`.
        questions: whether it takes `--questions`.
        croissant_parts: None if it can't be described.
    """

    export: Exporter
    from_files: bool
    sharded: bool
    questions: bool
    croissant_parts: Callable[[Path], tuple[list[Any], list[Any], dict[str, Any]]] | None
    write_tables: Callable[..., None]


def format_of(name: str) -> Format:
    """Import a format. Raises PluginError for an unknown name, and for a module of another form."""
    from diorama.render.uses.export._layouts import FolderExport, ImageExport

    registered = plugin("exports", name)
    loaded = registered.load()
    export: Any = loaded
    if getattr(loaded, "export", None):
        export = loaded.export
    elif hasattr(loaded, "FOLDERS"):
        export = partial(FolderExport.export, loaded.FOLDERS)
    elif hasattr(loaded, "Lists"):
        export = partial(ImageExport.export, loaded.Lists)
    if not callable(export):
        raise PluginError(f"{registered.label}: expected a function `export`, FOLDERS or Lists; found none")
    return Format(
        export=export,
        from_files=getattr(loaded, "FROM_FILES", False),
        sharded=getattr(loaded, "SHARDED", bool(registered.attribute)),
        questions=getattr(loaded, "QUESTIONS", False),
        croissant_parts=getattr(loaded, "croissant_parts", None),
        write_tables=getattr(loaded, "write_tables", lambda *_, **__: None),
    )
