"""For formats with one folder per episode: atomic folders that record which stored episode they are."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from diorama.render.export.protocol import IDENTITY_COLUMNS, Export, reported, write_records
from diorama.render.io.atomic_output import FileConflictError, below, has_content, put_file, put_folder
from diorama.render.store.selection import chosen_ids
from diorama.scene_specs.language.rendered import EpisodeRecord

# Relative path of a file -> content.
Files = Mapping[str, bytes]
# format_version, episode_id and IDENTITY_COLUMNS of a stored episode.
Identity = Mapping[str, Any]
# Episodes that a process writes at once.
_PART = 128


class FolderExport(Export):
    """One export of a format with one folder per episode.

    Attributes:
        version: of the format.
        marked: the JSON file of a folder that holds the identity of the stored episode.
        folder_of: episode id -> relative path; raises ValueError for an id of another benchmark.
        files_of: all files of an episode, given its identity; raises SpecError or ValueError for an episode that the
            format can't hold.
        clear: for formats in which a folder may hold the folders of other episodes: removes the old files from a
            folder to which new ones are then moved, the last one of `files_of` last.
    """

    version: int
    marked: str
    folder_of: Callable[[str], Path]
    files_of: Callable[[EpisodeRecord, Identity], Files]
    clear: Callable[[Path, Files], None] | None = None

    def identity_in(self, data: dict[str, Any]) -> Identity | None:
        """The identity in the data of the marked file."""
        return data.get("diorama")

    def files_beside(self, record: EpisodeRecord) -> Files:
        """An episode's files outside its folder, relative to `out`; written before the folder."""
        return {}

    def run(self) -> None:
        """Write the folders that are missing."""
        rows = self.store.scan(["episode_id", *IDENTITY_COLUMNS], batch_size=8192)
        self._identities: dict[str, Identity] = {
            row["episode_id"]: {"format_version": self.version, **row} for row in rows
        }
        self._owners: dict[Path, str] = {}
        missing = []
        for episode_id in chosen_ids(self.store, self.options):
            with reported(episode_id, self.out, self.report):
                if self._is_missing(episode_id):
                    missing.append(episode_id)
                    continue
                self.report.skipped += 1
            self.progress(1)
        parts = [{key: self._identities[key] for key in missing[k : k + _PART]} for k in range(0, len(missing), _PART)]
        self.write_parts(parts, [*map(len, parts)], type(self)._write_all)

    def _is_missing(self, episode_id: str) -> bool:
        folder = below(self.out, self.folder_of(episode_id))
        owner = self._owners.setdefault(folder, episode_id)
        if owner != episode_id:
            # Folder names have no leading zeros.
            raise ValueError(
                f"{folder} is the folder of episode {owner}; export one of the two with --where to another folder"
            )
        found = self._read_identity(folder)
        if found is not None and found != self._identities[episode_id] and not self.options.overwrite:
            raise FileConflictError(f"{folder} holds something else than the store's episode")
        return found != self._identities[episode_id]

    def _read_identity(self, folder: Path) -> Identity | None:
        """The identity of the episode in a folder; empty if the folder holds something else, None if it is free.

        Raises FileConflictError if it can't be read.
        """
        try:
            if not self.clear and not any(folder.iterdir()):
                return None
            return self.identity_in(json.loads((folder / self.marked).read_bytes())) or {}
        except NotADirectoryError:
            # A file has the name of the folder or of one above it. Writing reports it.
            return None
        except FileNotFoundError:
            return None if self.clear or not folder.exists() else {}
        except (ValueError, AttributeError):
            return {}
        except OSError as error:
            raise FileConflictError(f"{error.filename} can't be read: {error.strerror or error}") from error

    def _write_all(self, identities: dict[str, Identity]) -> None:
        self._identities = identities
        write_records(self.store, [*identities], self._write, self.out, self.report, self.progress)

    def _write(self, record: EpisodeRecord) -> bool:
        name, overwrite = self.folder_of(record.episode_id), self.options.overwrite
        files = self.files_of(record, self._identities[record.episode_id])
        for path in (self.out / name, *(self.out / name).parents):
            if path.exists() and not path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        if self.clear:
            for file, content in files.items():
                has_content(below(self.out, name / file), content, overwrite)
        for file, content in self.files_beside(record).items():
            put_file(self.out, file, content, overwrite)
        put_folder(self.out, name, files, self.clear)
        return True
