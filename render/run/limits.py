"""Limits of a worker's memory, with a guard that ends a process that takes too much."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

# Share of the usable memory for all workers together.
_WORKERS_SHARE = 0.8
# For the driver and Ray's own processes, which took 250 MiB for 400 episodes and 400 MiB for 37,800.
_DRIVER_BYTES = 512 * 2**20
# Ray's object store holds records of a few megabytes between worker and committer; its own default is a third of the
# memory, and its minimum 75 MiB.
_OBJECT_STORE_SHARE, _OBJECT_STORE_LEAST, _OBJECT_STORE_MOST = 1 / 16, 80 * 2**20, 512 * 2**20
# Cycles takes 395 to 430 MiB for small scenes.
_WORKER_LEAST = 512 * 2**20
# A worker is replaced between two episodes once it exceeds its limit, and killed within one at this multiple of it.
HARD = 1.5
_LOOK_SECONDS = 0.5
KILLED_FOR_MEMORY = 77


def resident() -> int:
    """Return the bytes that this process has in memory; 0 if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def object_store_bytes(memory: int) -> int:
    """Return the size of Ray's object store if so many bytes of memory are usable; 0 stands for unknown."""
    most = int(memory * _OBJECT_STORE_SHARE) if memory else _OBJECT_STORE_MOST
    return min(_OBJECT_STORE_MOST, max(_OBJECT_STORE_LEAST, most))


def _for_workers(memory: int) -> int:
    """Return the bytes that are left for all workers together, beside Ray's object store and the driver."""
    return max(0, memory - object_store_bytes(memory) - _DRIVER_BYTES)


def workers_that_fit(memory: int) -> int | None:
    """Return how many workers the default may start in so many bytes of usable memory; None if that is unknown."""
    return max(1, _for_workers(memory) // _WORKER_LEAST) if memory else None


def share_of_memory(workers: int, memory: int) -> tuple[int, int]:
    """Return the default memory limit of a worker in bytes, and the bytes at which it is killed.

    The limit is an equal part of four fifths of the usable memory. All workers that are about to be killed, Ray's
    object store and the driver fit into that memory together, because Slurm ends a job that exceeds its own.
    """
    hard = max(_for_workers(memory) // max(1, workers), _WORKER_LEAST)
    soft = min(int(memory * _WORKERS_SHARE / max(1, workers)), hard)
    return soft, min(hard, int(HARD * soft))


def guard(limit: int, report: Path, hard: int | None = None) -> None:
    """Start a thread that ends this process once it exceeds `hard` bytes, by default HARD times `limit`.

    report: file for the reason.
    """
    most = hard or HARD * limit

    def watch() -> None:
        while True:
            taken = resident()
            if taken > most:
                reason = (
                    f"ended at {taken / 2**20:.0f} MiB of memory in one episode; its limit is {limit / 2**20:.0f} MiB"
                )
                try:
                    with report.open("a") as stream:
                        stream.write(f"\n{reason}\n")
                    sys.stderr.flush()
                finally:
                    # Also if the reason cannot be written (the disk may be full): the machine's memory goes first.
                    os._exit(KILLED_FOR_MEMORY)
            time.sleep(_LOOK_SECONDS)

    threading.Thread(target=watch, name="memory guard", daemon=True).start()
