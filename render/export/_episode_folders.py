"""For formats with a folder an episode: each takes its name once all is in it, and says which stored episode it is."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from render.export.protocol import ExportOptions, ExportReport, chosen_ids, iter_valid_records, output_lock
from render.model.errors import SpecError, StoreError
from render.model.record import EpisodeRecord
from render.store.episode_store import EpisodeReader

_MARKS = ["episode_id", "job_hash", "attempt", "sha256", "text_sha256"]
# Relative path of a file -> content.
Files = Mapping[str, bytes]


def export_folders(
    store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None], *,
    version: int, marked: str, folder_of: Callable[[str], Path],
    files_of: Callable[[EpisodeRecord, Mapping[str, Any]], Files],
) -> ExportReport:  # fmt: skip
    """Write each episode to its folder below `out`; see render.export.protocol.Exporter.

    marked: the JSON file of a folder whose key `diorama` holds the marks of the stored episode. folder_of: of an
    episode id; raises ValueError for one of another kind. files_of: all files, given the record and its marks; raises
    SpecError or ValueError for what can't be written, and the report names it.
    """
    report = ExportReport()
    with output_lock(out):
        rows = {row["episode_id"]: row for row in store.scan(_MARKS, batch_size=8192)}
        marks = {key: {"format_version": version, **row} for key, row in rows.items()}
        todo = []
        seen: dict[Path, str] = {}
        for episode_id in chosen_ids(store, options):
            wanted = False
            try:
                there = out / folder_of(episode_id)
            except ValueError as error:
                report.failed.append(f"episode {episode_id}: {error}")
            else:
                first = seen.setdefault(there, episode_id)
                if first == episode_id:
                    wanted = _wanted(there, marked, episode_id, marks[episode_id], options, report)
                else:
                    # Numbers lose their zeros in folders' names.
                    report.failed.append(
                        f"episode {episode_id}: {there} is the folder of episode {first}; export one of the two with "
                        "--where to another folder"
                    )
            if wanted:
                todo.append(episode_id)
            else:
                progress(1)
        for record in iter_valid_records(store, todo, report, progress):
            try:
                _write(out / folder_of(record.episode_id), files_of(record, marks[record.episode_id]))
                report.exported += 1
            except (SpecError, ValueError) as error:
                report.failed.append(f"episode {record.episode_id}: {error}")
            except (FileExistsError, NotADirectoryError) as error:
                report.failed.append(f"episode {record.episode_id}: {error.filename} is in its way")
            except OSError as error:
                raise StoreError(f"episode {record.episode_id}: writing below {out} failed: {error}") from error
            progress(1)
    return report


def _wanted(
    folder: Path, marked: str, episode_id: str, marks: Mapping[str, Any], options: ExportOptions, report: ExportReport
) -> bool:
    """Whether an episode is to be written; if not, the report says why.

    A folder with anything in it is an episode of ours, or somebody else's: a stopped export leaves none half-written.
    """
    there = None
    try:
        if not any(folder.iterdir()):
            return True
        there = json.loads((folder / marked).read_bytes()).get("diorama")
    except NotADirectoryError:
        # A file in its place, or in that of a folder above: writing names it.
        return True
    except FileNotFoundError:
        if not folder.exists():
            return True
    except (ValueError, AttributeError):
        pass
    except OSError as error:
        report.failed.append(f"episode {episode_id}: {error.filename} can't be read: {error.strerror or error}")
        return False
    if there == marks:
        report.skipped += 1
        return False
    if not options.overwrite:
        report.differing.append(f"episode {episode_id}: {folder} holds something else than the store's episode")
        return False
    return True


def _write(target: Path, files: Files) -> None:
    for there in (target, *target.parents):
        if there.exists() and not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there))
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.parent / f".{target.name}.partial"
    # Left by an export that was stopped here.
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name, content in files.items():
        path = partial / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    if target.exists():
        shutil.rmtree(target)
    partial.rename(target)
