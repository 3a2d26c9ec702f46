"""fsync of what a commit wrote: Lance calls none, and without it a power cut can take acknowledged episodes."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

_LAST_VERSION = 2**64 - 1


def sync_commit(root: Path, dataset: Any) -> None:
    """Bring the newest commit of a local dataset to the disk: its files, then the folders that name them.

    dataset: lance.LanceDataset, at the version that was just committed.
    """
    transaction = dataset.read_transaction(dataset.version)
    files = [root / "_versions" / f"{_LAST_VERSION - dataset.version:020}.manifest"]
    if transaction is not None:
        files.append(root / "_transactions" / f"{transaction.read_version}-{transaction.uuid}.txn")
        files += _files_of(root, transaction.operation)
    for file in files:
        _sync(file)
    for folder in sorted({file.parent for file in files}):
        _sync(folder)


def sync_tree(root: Path) -> None:
    """Bring everything in a folder to the disk, and its own name: for a new store, and after compaction."""
    folders = [root, *sorted(path for path in root.rglob("*") if path.is_dir())]
    for folder in folders:
        for file in sorted(path for path in folder.iterdir() if path.is_file()):
            _sync(file)
    for folder in [*reversed(folders), root.parent]:
        _sync(folder)


def _files_of(root: Path, operation: Any) -> list[Path]:
    new, changed = getattr(operation, "new_fragments", ()), getattr(operation, "updated_fragments", ())
    files = [root / "data" / file.path for fragment in new for file in fragment.files]
    for fragment in [*new, *changed]:
        if fragment.deletion_file is not None:
            files.append(root / fragment.deletion_file.path(fragment.id))
    return files


def _sync(path: Path) -> None:
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        # Another process may have compacted and cleaned meanwhile; then what replaced it was synced there.
        log.debug("%s: gone before it was synced", path)
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
