"""Exports of the layouts in diorama.scene_specs.tasks.exporting: folders, or images and lists of all images.

Folders are atomic, and record which stored episode they are.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Container, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from diorama.render.store.episode_store import IDENTITY_COLUMNS, KEY, EpisodeReader, ids_filter
from diorama.render.store.selection import chosen_ids
from diorama.render.uses.export.protocol import Export, NestedIdError, reported, write_records
from diorama.render.uses.io.atomic_output import FileConflictError, below, has_content, put_file, put_folder
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.copies import SUMS, digest_of, sums_text
from diorama.scene_specs.tasks.exporting.layouts import EpisodeFolders, Identity, ImageLists

# Episodes that a process writes at once.
_PART = 128


def check_nested_id(store: EpisodeReader, episode_id: str, chosen: Container[str], suffixes: Sequence[str]) -> None:
    """Raise NestedIdError if the folder of an episode is a file of another one, such as `a/b/frame-0.png`."""
    parts = episode_id.split("/")
    for count in range(1, len(parts)):
        stem, _, suffix = parts[count].rpartition(".")
        other = "/".join(parts[:count])
        if suffix in suffixes and other in chosen:
            (row,) = store.scan([KEY, "image_names"], ids_filter([other]))
            if stem in (*(row["image_names"] or ()), "episode"):
                raise NestedIdError(f"its id is the name of a file of episode {other}; export the two into two folders")


class FolderExport(Export):
    """One export of a format with one folder per episode."""

    def __init__(self, layout: EpisodeFolders, *given: Any) -> None:
        super().__init__(*given)
        self.layout = layout
        self.remade = partial(FolderExport, layout)

    def run(self) -> None:
        """Write the folders that are missing."""
        rows = self.store.scan(["episode_id", *IDENTITY_COLUMNS], batch_size=8192)
        version = {"format_version": self.layout.version}
        self._identities: dict[str, Identity] = {row["episode_id"]: {**version, **row} for row in rows}
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
        self.write_parts(parts, [*map(len, parts)], FolderExport._write_all)

    def _is_missing(self, episode_id: str) -> bool:
        if self.layout.clear:
            check_nested_id(self.store, episode_id, self._identities, ("png", "json", "npz"))
        folder = below(self.out, self.layout.folder_of(episode_id))
        if (owner := self._owners.setdefault(folder, episode_id)) != episode_id:
            # Folder names have no leading zeros.
            raise ValueError(
                f"{folder} is the folder of episode {owner}; export one of the two with --where to another folder"
            )
        present = self._read_identity(folder)
        if present is not None and present != self._identities[episode_id] and not self.options.overwrite:
            raise FileConflictError(f"{folder} holds something else than the store's episode")
        return present != self._identities[episode_id]

    def _read_identity(self, folder: Path) -> Identity | None:
        """Return the identity of the episode in a folder; empty if the folder holds something else, None if it is free.

        Raises FileConflictError if it can't be read.
        """
        try:
            if not self.layout.clear and not any(folder.iterdir()):
                return None
            return self.layout.identity_in(json.loads(read_foreign(folder / self.layout.marked))) or {}
        except NotADirectoryError:
            # A file has the name of the folder or of one above it. Writing reports it.
            return None
        except FileNotFoundError:
            return None if self.layout.clear or not folder.exists() else {}
        except (ValueError, AttributeError):
            return {}
        except OSError as error:
            raise FileConflictError(f"{error.filename} can't be read: {error.strerror or error}") from error

    def _write_all(self, identities: dict[str, Identity]) -> None:
        self._identities = identities
        write_records(self.store, [*identities], self._write, self.out, self.report, self.progress)

    def _write(self, record: EpisodeRecord) -> bool:
        name, overwrite = self.layout.folder_of(record.episode_id), self.options.overwrite
        files = self.layout.files_of(record, self._identities[record.episode_id])
        for path in (self.out / name, *(self.out / name).parents):
            if path.exists() and not path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        if self.layout.clear:
            for file, content in files.items():
                has_content(below(self.out, name / file), content, overwrite)
        beside = self.layout.files_beside(record) if self.layout.files_beside else {}
        for file, content in beside.items():
            put_file(self.out, file, content, overwrite)
        if not self.layout.clear:
            listed = {**files, **{os.path.relpath(file, name): content for file, content in beside.items()}}
            files = {**files, SUMS: sums_text({file: digest_of(content) for file, content in listed.items()}).encode()}
        put_folder(self.out, name, files, self.layout.clear)
        return True


class ImageExport(Export):
    """One export of a format with image files and lists. Memory: a chunk of episodes, and digests of images.

    Attributes:
        is_new: whether `out` did not exist.
        lists: class of the format's lists.
    """

    def __init__(self, lists: Callable[[Export], ImageLists], *given: Any) -> None:
        super().__init__(*given)
        self.is_new = not self.out.exists()
        self.lists = lists(self)
        self._new: set[str] = set()
        self._ids: set[str] = set()
        self._digests: dict[str, str] = {}

    def run(self) -> None:
        """Write images and lists."""
        with self.lists.stack:
            episode_ids = chosen_ids(self.store, self.options)
            self._ids = {*episode_ids}
            write_records(self.store, episode_ids, self._write, self.out, self.report, self.progress)
            # If an image differs, the lists of an earlier export stay: new ones would lack that episode.
            if not self.report.differing:
                self._save_lists()

    def _write(self, record: EpisodeRecord) -> bool:
        check_nested_id(self.store, record.episode_id, self._ids, ("png",))
        images = self.lists.write(record)
        self.written.check(*self.lists.names())
        if not self.lists.shares_images:
            self._new.clear()
        if self.lists.has_sums:
            self._digests |= {path: digest_of(png) for path, png in images}
        self._new |= {path for path, png in images if put_file(self.out, path, png, self.options.overwrite)}
        return any(path in self._new for path, _ in images)

    def _save_lists(self) -> None:
        try:
            self.lists.finish(self.written)
            for name, stream in self.lists.streams.items():
                with self.written.replacing(name) as path:
                    stream.save(path)
            if self.lists.has_sums:
                self._save_sums()
            if self.lists.pattern:
                self.report.differing += self.written.remove_stale(self.lists.pattern, [*self.lists.names()])
        except OSError as error:
            raise StoreError(f"writing the lists below {self.out} failed: {error}") from error

    def _save_sums(self) -> None:
        """Write a SHA256SUMS into each folder. Raises OSError."""
        by_folder: dict[str, dict[str, str]] = {}
        for path, digest in {**self.written.digests(), **self._digests}.items():
            folder, _, name = path.partition("/")
            if name and name != SUMS:
                by_folder.setdefault(folder, {})[name] = digest
        self.written.put({f"{folder}/{SUMS}": sums_text(digests) for folder, digests in by_folder.items()}, shared=True)
