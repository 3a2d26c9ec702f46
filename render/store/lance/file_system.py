"""Whether a file system can hold a store: hard links, fsync, and commits of several processes at once."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import partial
from multiprocessing import TimeoutError as ProcessTimeout
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa

from render.model.errors import StoreError
from render.store.lance.durability import sync_tree

_WRITERS, _COMMITS = 3, 4
# Locks of a network file system may never answer. The start of the processes takes most of the two usual seconds.
_RACE_SECONDS = 120.0
# File systems of several machines, or of a program, by the beginning of their names in /proc/mounts.
_SHARED = ("nfs", "cifs", "smb", "9p", "afs", "fuse", "lustre", "gpfs", "beegfs", "ceph", "panfs", "wekafs")


def kind_of(folder: Path, mounts: Path = Path("/proc/mounts")) -> tuple[str, bool]:
    """Return the kind of the file system of an existing folder ("" if unknown), and whether others may share it."""
    kind, longest = "", ""
    for line in mounts.read_text(errors="surrogateescape").splitlines() if mounts.exists() else ():
        _, place, found = line.split()[:3]
        place = place.replace("\\040", " ")
        if folder.is_relative_to(place) and len(place) >= len(longest):
            kind, longest = found, place
    return kind, kind.startswith(_SHARED)


def check_file_system(folder: Path, race: bool = True) -> None:
    """Do in a folder what commits do, in files that are removed. Raises StoreError with what failed.

    race: also commit from several processes at once to a trial store.
    """
    step = "a new file"
    try:
        with tempfile.TemporaryDirectory(prefix=".diorama-trial-", dir=folder) as name:
            first, second = Path(name) / "a", Path(name) / "b"
            first.write_bytes(b"1")
            # Lance names a version by a hard link, of which only one of several writers gets the name.
            step = "a hard link"
            os.link(first, second)
            step = "refusing a second file of one name"
            with suppress(FileExistsError):
                os.link(first, second)
                raise OSError("it was not refused")
            step = "fsync"
            sync_tree(Path(name))
            step = "commits of several processes at once"
            if race:
                _race(f"{name}/trial.lance")
    except (OSError, RuntimeError, ProcessTimeout) as error:
        # Some errors of Lance are RuntimeErrors.
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise StoreError(f"{folder}: {step} failed: {reason}") from error


def _race(url: str) -> None:
    """Raise OSError unless every row of every process is in the trial store afterwards; ProcessTimeout if it hangs."""
    import lance

    lance.write_dataset(pa.table({"row": pa.array([], pa.int64())}), url)
    # Spawned, because Lance has threads, which do not survive a fork.
    with get_context("spawn").Pool(_WRITERS) as pool:
        answer = pool.map_async(partial(_commit, url), range(_WRITERS))
        try:
            answer.get(_RACE_SECONDS)
        except ProcessTimeout:
            raise ProcessTimeout(f"no answer within {_RACE_SECONDS:.0f} s") from None
    found = sorted(lance.dataset(url).to_table()["row"].to_pylist())
    if found != list(range(_WRITERS * _COMMITS)):
        raise OSError(f"{_WRITERS * _COMMITS} rows were committed, and {len(found)} are there")


def _commit(url: str, writer: int) -> None:
    import lance

    for number in range(_COMMITS):
        lance.write_dataset(pa.table({"row": [writer * _COMMITS + number]}), url, mode="append")
