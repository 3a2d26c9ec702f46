"""Limits of a worker: seconds per episode, and memory, with a guard that ends a process that takes too much."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

# Cycles compiles its kernels before the first image on a new GPU: 10 minutes are reported, more on a slow host.
KERNEL_SECONDS = 1800.0
# cgroup v1 writes about 2**63 if there is no limit.
_NO_LIMIT = 2**60
# Share of the machine's memory for all workers together.
_WORKERS_SHARE = 0.8
# A worker is replaced between two episodes once it exceeds its limit, and killed within one at this multiple of it.
HARD = 1.5
_LOOK_SECONDS = 0.5
KILLED_FOR_MEMORY = 77


def timeout_of(timeout: float | None, samples: int, width: int, height: int, images: float) -> float:
    """Return the seconds that an episode may take before its worker counts as hung. timeout: per image, if specified.

    The default is about thirty times what an idle core needs (two seconds per million samples), plus two minutes: on
    a machine with six processes per core, tighter limits ended workers that were only slow.
    """
    if timeout is not None:
        return timeout * images
    megasamples = samples * width * height / 1e6
    return 120.0 + images * (60.0 + 60.0 * megasamples)


def resident() -> int:
    """Return the bytes that this process has in memory; 0 if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def machine_memory(root: Path = Path("/")) -> int:
    """Return the memory in bytes of the machine, or of the container if its limit is lower; 0 if unknown."""
    amounts = []
    with suppress(OSError, ValueError, IndexError):
        lines = (root / "proc/meminfo").read_text().splitlines()
        amounts += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal:")]
    for name in ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            amounts.append(int((root / name).read_text()))
    return min((amount for amount in amounts if amount < _NO_LIMIT), default=0)


def share_of_machine(workers: int) -> int | None:
    """Return the default memory limit of a worker in bytes: an equal part of four fifths of the machine."""
    return int(machine_memory() * _WORKERS_SHARE / max(1, workers)) or None


def guard(limit: int, report: Path) -> None:
    """Start a thread that ends this process once it exceeds HARD times `limit` bytes. report: file for the reason."""

    def watch() -> None:
        while True:
            taken = resident()
            if taken > HARD * limit:
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
