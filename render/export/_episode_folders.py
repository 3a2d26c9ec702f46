"""For formats with one folder per episode: atomic folders that record which stored episode they are."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from diorama.render.export._image_files import ID
from diorama.render.export.protocol import IDENTITY_COLUMNS, ExportOptions, ExportReport, write_records
from diorama.render.io.atomic_output import FileConflictError, below, output_lock, put_file, put_folder
from diorama.render.model.record import EpisodeRecord
from diorama.render.store.episode_store import EpisodeReader
from diorama.render.store.selection import chosen_ids

# Relative path of a file -> content.
Files = Mapping[str, bytes]
# format_version, episode_id and IDENTITY_COLUMNS of a stored episode.
Identity = Mapping[str, Any]


def export_folders(
    store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None], *,
    version: int, marked: str, folder_of: Callable[[str], Path],
    files_of: Callable[[EpisodeRecord, Identity], Files],
    identity_in: Callable[[dict[str, Any]], Identity | None] = lambda data: data.get("diorama"),
    merge: Callable[[Path, Path], None] | None = None,
    files_beside: Callable[[EpisodeRecord], Files] = lambda record: {},
) -> ExportReport:  # fmt: skip
    """Write each episode to its folder below `out`; see diorama.render.export.protocol.Exporter.

    Args:
        marked: the JSON file of a folder that holds the identity of the stored episode.
        folder_of: episode id -> relative path; raises ValueError for an id of another benchmark.
        files_of: all files of an episode, given its identity; raises SpecError or ValueError for an episode that the
            format can't hold.
        identity_in: finds the identity in the data of the marked file.
        merge: moves a new folder to an existing one (diorama.render.io.atomic_output.put_folder), for formats in which
            a folder may hold the folders of other episodes.
        files_beside: an episode's files outside its folder, relative to `out`; written before the folder.
    """
    report = ExportReport()
    owners: dict[Path, str] = {}

    def is_missing(episode_id: str) -> bool:
        folder = below(out, folder_of(episode_id))
        owner = owners.setdefault(folder, episode_id)
        if owner != episode_id:
            # Folder names have no leading zeros.
            raise ValueError(
                f"{folder} is the folder of episode {owner}; export one of the two with --where to another folder"
            )
        found = _read_identity(folder, marked, identity_in, shared=merge is not None)
        if found is not None and found != identities[episode_id] and not options.overwrite:
            raise FileConflictError(f"{folder} holds something else than the store's episode")
        return found != identities[episode_id]

    def write(record: EpisodeRecord) -> bool:
        name = folder_of(record.episode_id)
        files = files_of(record, identities[record.episode_id])
        for path in (out / name, *(out / name).parents):
            if path.exists() and not path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        for file, content in files_beside(record).items():
            below(out, file).parent.mkdir(parents=True, exist_ok=True)
            put_file(out, file, content, overwrite=True)
        put_folder(out, name, files, merge)
        return True

    with output_lock(out):
        rows = store.scan(["episode_id", *IDENTITY_COLUMNS], batch_size=8192)
        identities = {row["episode_id"]: {"format_version": version, **row} for row in rows}
        missing = []
        for episode_id in chosen_ids(store, options):
            label = episode_id if ID.fullmatch(episode_id) else repr(episode_id)
            try:
                if is_missing(episode_id):
                    missing.append(episode_id)
                    continue
                report.skipped += 1
            except FileConflictError as error:
                report.differing.append(f"episode {label}: {error}")
            except ValueError as error:
                report.failed.append(f"episode {label}: {error}")
            progress(1)
        write_records(store, missing, write, out, report, progress)
    return report


def _read_identity(
    folder: Path, marked: str, identity_in: Callable[[dict[str, Any]], Identity | None], shared: bool
) -> Identity | None:
    """The identity of the episode in a folder; empty if the folder holds something else, None if it is free.

    shared: folders of other episodes may be in it. Raises ValueError if it can't be read.
    """
    try:
        if not shared and not any(folder.iterdir()):
            return None
        return identity_in(json.loads((folder / marked).read_bytes())) or {}
    except NotADirectoryError:
        # A file has the name of the folder or of one above it. Writing reports it.
        return None
    except FileNotFoundError:
        return None if shared or not folder.exists() else {}
    except (ValueError, AttributeError):
        return {}
    except OSError as error:
        raise ValueError(f"{error.filename} can't be read: {error.strerror or error}") from error
