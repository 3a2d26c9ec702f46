"""Folders for files that live for moments: in $TMPDIR if that is set, else on a RAM disk if one exists."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

# Names the folder of a run, which the run removes even if a worker is killed.
SCRATCH = "DIORAMA_SCRATCH"
_SHARED = "/dev/shm"
# Inside a folder, locked by the process that made it: the system unlocks it, however that process ends.
_OWNER = ".owner"
_STALE_SECONDS = 86400.0
_locks: dict[Path, int] = {}


def scratch_folder() -> Path:
    """Make a folder, inside that of the run if there is one; the caller removes it.

    Clusters set TMPDIR to a folder that goes with the job. What a killed job leaves on a RAM disk takes the
    memory of others: the next caller removes it.
    """
    if os.environ.get(SCRATCH):
        return Path(tempfile.mkdtemp(prefix="diorama-", dir=os.environ[SCRATCH]))
    shared = _SHARED if os.access(_SHARED, os.W_OK) and not os.environ.get("TMPDIR") else None
    base = Path(shared or tempfile.gettempdir())
    for folder in find_abandoned(base, "diorama-", _STALE_SECONDS if shared else None):
        shutil.rmtree(folder, ignore_errors=True)
    return owned_folder(base, "diorama-")


def owned_folder(base: Path, prefix: str) -> Path:
    """Make a folder that `find_abandoned` returns once this process has ended, however it ends. Raises OSError."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=base))
    for gone in [path for path in _locks if not path.exists()]:
        os.close(_locks.pop(gone))
    # Some network disks have no locks: then nobody else removes the folder.
    with suppress(OSError):
        handle = os.open(folder / f"{_OWNER}-", os.O_CREAT | os.O_RDWR, 0o600)
        _locks[folder] = handle
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (folder / f"{_OWNER}-").rename(folder / _OWNER)
    return folder


def find_abandoned(base: Path, prefix: str, stale: float | None = None) -> list[Path]:
    """Return the folders of this user in a folder whose process has ended.

    Args:
        base: folder to look in.
        prefix: of their names.
        stale: also those that nothing has touched for so many seconds and that no process ever locked.
    """
    abandoned = []
    for folder in sorted(base.glob(f"{prefix}*")):
        with suppress(OSError):
            # Of the name itself: a link may lead to anything that is this user's.
            facts = folder.lstat()
            if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid():
                continue
            free = _is_free(folder / _OWNER)
            old = stale is not None and time.time() - facts.st_mtime > stale
            if free or (free is None and old):
                abandoned.append(folder)
    return abandoned


def _is_free(lock: Path) -> bool | None:
    """Return whether no process holds a lock, None if there is no such file. Raises OSError."""
    try:
        handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True
