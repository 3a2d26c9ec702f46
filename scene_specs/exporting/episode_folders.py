"""Formats with one folder per episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from typing import Any

from diorama.scene_specs.language.rendered import EpisodeRecord

# Relative path of a file -> content.
Files = Mapping[str, bytes]
# format_version, episode_id and hashes of a stored episode.
Identity = Mapping[str, Any]


@dataclass(frozen=True)
class EpisodeFolders:
    """What a format writes. Its functions are those of modules, because other processes call them, too.

    Attributes:
        version: of the format.
        marked: the JSON file of a folder that holds the identity of the stored episode.
        folder_of: episode id -> relative path; raises ValueError for an id of another benchmark.
        files_of: all files of an episode, given its identity; raises SpecError or ValueError for an episode that the
            format can't hold.
        files_beside: an episode's files outside its folder, relative to that of the export; written before the folder.
        identity_in: the identity in the data of the marked file; by default its key `diorama`.
        clear: for formats in which a folder may hold the folders of other episodes: removes the old files from a
            folder to which new ones are then moved, the last one of `files_of` last.
    """

    version: int
    marked: str
    folder_of: Callable[[str], Path]
    files_of: Callable[[EpisodeRecord, Identity], Files]
    files_beside: Callable[[EpisodeRecord], Files] | None = None
    identity_in: Callable[[dict[str, Any]], Identity | None] = methodcaller("get", "diorama")
    clear: Callable[[Path, Files], None] | None = None
