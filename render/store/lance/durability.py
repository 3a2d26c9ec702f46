"""Power cuts and local stores: fsync after commits, and detection of torn versions.

Lance calls no fsync: without it a power cut can take acknowledged episodes.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from diorama.render.store.lance.errors import reason

log = logging.getLogger(__name__)

_LAST_VERSION = 2**64 - 1
MOST_TORN = 8


def sync_commit(root: Path, dataset: Any) -> None:
    """Sync the newest commit of a local dataset to the disk: its files, then the folders that hold their names.

    Args:
        dataset: lance.LanceDataset, at the version that was just committed.
    """
    transaction = dataset.read_transaction(dataset.version)
    files = [manifest_path(root, dataset.version)]
    if transaction is not None:
        files.append(root / "_transactions" / f"{transaction.read_version}-{transaction.uuid}.txn")
        files += _files_of(root, transaction.operation)
    for path in [*files, *sorted({file.parent for file in files})]:
        sync_path(path)


def sync_tree(root: Path) -> None:
    """Sync everything in a folder and the folder's own name: for a new store, and after compaction."""
    paths = sorted(root.rglob("*"))
    folders = [root, *(path for path in paths if path.is_dir())]
    for path in [*(path for path in paths if path.is_file()), *reversed(folders), root.parent]:
        sync_path(path)


def _files_of(root: Path, operation: Any) -> list[Path]:
    new, changed = getattr(operation, "new_fragments", ()), getattr(operation, "updated_fragments", ())
    files = [root / "data" / file.path for fragment in new for file in fragment.files]
    for fragment in [*new, *changed]:
        if fragment.deletion_file is not None:
            files.append(root / fragment.deletion_file.path(fragment.id))
    return files


def sync_path(path: Path) -> None:
    """Wait until the disk has a file or the names in a folder."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        # Another process compacted and cleaned up meanwhile; it synced what replaced this file.
        log.debug("%s: gone before it was synced", path)
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def torn_file(root: Path, dataset: Any) -> str | None:
    """Describe the first data file of a version that is missing or shorter than its manifest says, None without one.

    Lance writes data before the manifest that names it, but a disk may keep them in another order: a power cut between
    a commit and its fsync leaves the name without the data.
    """
    for fragment in dataset.get_fragments():
        for file in fragment.metadata.files:
            path = root / "data" / file.path
            try:
                size = path.stat().st_size
            except OSError as error:
                return f"{path} can't be read: {error.strerror or error}"
            if file.file_size_bytes and size != file.file_size_bytes:
                return f"{path} has {size} of {file.file_size_bytes} bytes"
    return None


def last_complete(url: str) -> int | None:
    """Return the newest complete version of a local store, None if all of the newest few are torn.

    A power cut tears commits in progress, one per writer. A file that many versions name was damaged otherwise, and
    going back to before it would lose undamaged episodes.
    """
    return next((number for number in list_versions(Path(url))[:MOST_TORN] if tear_in(url, number) is None), None)


def list_versions(root: Path) -> list[int]:
    """Return the numbers of the versions that have a manifest, newest first."""
    stems = [path.stem for path in (root / "_versions").glob("*.manifest")]
    return sorted((_LAST_VERSION - int(stem) for stem in stems if stem.isdecimal()), reverse=True)


def manifest_path(root: Path, version: int) -> Path:
    """Return the path of the file that makes a version."""
    # Lance counts names backwards, so that a listing has the newest first.
    return root / "_versions" / f"{_LAST_VERSION - version:020}.manifest"


def tear_in(url: str, version: int) -> str | None:
    """Describe what is missing of a version, as `torn_file`, None without anything."""
    import lance

    try:
        return torn_file(Path(url), lance.dataset(url, version=version))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # A damaged file can make Lance panic, which is not an Exception.
        return reason(error)
