"""Whether a file system can hold a store: hard links, fsync, and commits of several processes at once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from diorama.render.store.lance.durability import sync_tree
from diorama.scene_specs.errors import StoreError

_WRITERS, _COMMITS = 3, 4
# Locks of a network file system may never answer. The start of the processes takes most of the two usual seconds.
_RACE_SECONDS = 120.0
# The program of each process; its arguments: path, number of rows, first row.
_WRITER = """
import sys, lance, pyarrow
url, count, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for row in range(first, first + count):
    lance.write_dataset(pyarrow.table({"row": [row]}), url, mode="append")
"""
# File systems of several machines, or of a program, by the beginning of their names in /proc/mounts.
_SHARED = (
    "nfs", "cifs", "smb", "9p", "afs", "fuse", "lustre", "gpfs", "beegfs", "ceph", "panfs", "wekafs", "virtiofs",
    "gfs2", "ocfs2", "dvs",
)  # fmt: skip


def kind_of(folder: Path, mounts: Path = Path("/proc/mounts")) -> tuple[str, bool]:
    """Return the kind of the file system of an existing folder ("" if unknown), and whether others may share it."""
    kind, longest = "", ""
    for line in mounts.read_text(errors="surrogateescape").splitlines() if mounts.exists() else ():
        _, place, mounted = line.split()[:3]
        place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), place)
        if folder.is_relative_to(place) and len(place) >= len(longest):
            kind, longest = mounted, place
    return kind, kind.startswith(_SHARED)


def check_file_system(folder: Path, race: bool = True) -> None:
    """Do in a folder what commits do, in files that are removed.

    Args:
        race: also commit from several processes at once to a trial store.

    Raises:
        StoreError: has what failed.
    """
    step = "a new file"
    try:
        with tempfile.TemporaryDirectory(prefix=".diorama-trial-", dir=folder, ignore_cleanup_errors=True) as name:
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
                _race_commits(f"{name}/trial.lance")
    except (OSError, RuntimeError, ValueError) as error:
        # Some errors of Lance are RuntimeErrors or ValueErrors.
        raise StoreError(f"{folder}: {step} failed: {getattr(error, 'strerror', None) or error}") from error


def _race_commits(url: str) -> None:
    """Raise OSError unless every row of every process is in the trial store afterwards, or if one does not end."""
    import lance

    lance.write_dataset(pa.table({"row": pa.array([], pa.int64())}), url)
    # -P: a module in the working directory, which may hold others' files, must not take the place of a library.
    command = [sys.executable, "-P", "-c", _WRITER, url, str(_COMMITS)]

    def write(first: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, str(first)], capture_output=True, errors="replace", timeout=_RACE_SECONDS, check=False
        )

    with ThreadPoolExecutor(_WRITERS) as pool:
        try:
            ended = list(pool.map(write, range(0, _WRITERS * _COMMITS, _COMMITS)))
        except subprocess.TimeoutExpired:
            raise OSError(f"no answer within {_RACE_SECONDS:.0f} s") from None
    for writer in ended:
        if writer.returncode:
            raise OSError((writer.stderr.strip().splitlines() or [f"exit code {writer.returncode}"])[-1])
    if (rows := sorted(lance.dataset(url).to_table()["row"].to_pylist())) != list(range(_WRITERS * _COMMITS)):
        raise OSError(f"{_WRITERS * _COMMITS} rows were committed, and {len(rows)} are there")
