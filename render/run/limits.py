"""Memory of a process and of the machine, in bytes, and a guard that ends a process that takes too much."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

# cgroup v1 writes about 2**63 where there is no limit.
_NO_LIMIT = 2**60
# Of the machine's memory, what all workers together may take.
_WORKERS_SHARE = 0.8
# Between two episodes a worker is replaced at its limit; in the middle of one it is ended at so many times that.
HARD = 1.5
_LOOK_SECONDS = 0.5
KILLED_FOR_MEMORY = 77


def resident() -> int:
    """What this process has in memory now; 0 where it can't be known."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def machine_memory(root: Path = Path("/")) -> int:
    """What there is: the machine's, or the container's limit if that is less; 0 where it can't be known."""
    amounts = []
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemTotal:"):
                amounts.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError, IndexError):
        pass
    for name in ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limit = int((root / name).read_text())
        except (OSError, ValueError):
            continue
        if limit < _NO_LIMIT:
            amounts.append(limit)
    return min(amounts, default=0)


def share_of_machine(workers: int) -> int | None:
    """A worker's limit where none was given: its part of four fifths of the machine."""
    there = machine_memory()
    return int(there * _WORKERS_SHARE / max(1, workers)) or None


def guard(limit: int, said_to: Path | None) -> None:
    """From now on, end this process if it grows beyond HARD times `limit` bytes. said_to: file for its last words."""

    def watch() -> None:
        while True:
            taken = resident()
            if taken > HARD * limit:
                words = (
                    f"ended at {taken / 2**20:.0f} MiB of memory in one episode; its limit is {limit / 2**20:.0f} MiB"
                )
                try:
                    if said_to is not None:
                        with said_to.open("a") as stream:
                            stream.write(f"\n{words}\n")
                    sys.stderr.flush()
                finally:
                    # Whatever became of its last words (a full disk takes none): the machine's memory goes first.
                    os._exit(KILLED_FOR_MEMORY)
            time.sleep(_LOOK_SECONDS)

    threading.Thread(target=watch, name="memory guard", daemon=True).start()
