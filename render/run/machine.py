"""The memory, cores and GPUs that this process may use, what a worker gets of them, and the end of a greedy one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

# cgroup v1 writes about 2**63 if there is no limit.
_NO_LIMIT = 2**60
_ROOT = Path("/")
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
_SMI_SECONDS = 20.0
# Kind of device -> maker of its GPUs, with the id on the PCI bus; Metal has none.
_VENDORS = {"hip": ("AMD", "0x1002"), "oneapi": ("Intel", "0x8086")}
OTHER_KINDS = (*_VENDORS, "metal")


class Limit(NamedTuple):
    """A limit of memory or cores.

    Attributes:
        amount: bytes, or number of cores.
        source: the file or variable that says so.
    """

    amount: float
    source: str


def memory_limits(root: Path = _ROOT, env: Mapping[str, str] = os.environ) -> list[Limit]:
    """Return every known limit of this process's memory in bytes, the least first; [] if none is known.

    A job of Slurm has its limit in a control group far below the root, and each group above it counts, too.

    Args:
        root: folder of proc and sys.
        env: environment.
    """
    limits = []
    with suppress(OSError, ValueError, IndexError):
        lines = (root / "proc/meminfo").read_text().splitlines()
        limits += [Limit(int(line.split()[1]) * 1024, "machine") for line in lines if line.startswith("MemTotal:")]
    for folder in _control_groups(root, "memory"):
        for name in ("memory.max", "memory.high", "memory.limit_in_bytes"):
            with suppress(OSError, ValueError):
                limits.append(Limit(int((folder / name).read_text()), str(folder / name)))
    megabytes = {"SLURM_MEM_PER_NODE": 1, "SLURM_MEM_PER_CPU": _count_from_environment(env, "SLURM_CPUS_ON_NODE")}
    limits += [Limit(_count_from_environment(env, name) * times * 2**20, name) for name, times in megabytes.items()]
    return sorted(limit for limit in limits if 0 < limit.amount < _NO_LIMIT)


def core_limits(root: Path = _ROOT, env: Mapping[str, str] = os.environ) -> list[Limit]:
    """Return every known limit of the number of cores, the least first; arguments as in `memory_limits`."""
    affinity = hasattr(os, "sched_getaffinity")
    limits = [Limit(len(os.sched_getaffinity(0)), "affinity") if affinity else Limit(os.cpu_count() or 1, "machine")]
    for folder in _control_groups(root, "cpu"):
        with suppress(OSError, ValueError):
            quota, period = (folder / "cpu.max").read_text().split()
            limits.append(Limit(int(quota) / int(period), str(folder / "cpu.max")))
        with suppress(OSError, ValueError, ZeroDivisionError):
            quota, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
            limits.append(Limit(int(quota) / int(period), str(folder / "cpu.cfs_quota_us")))
    limits.append(Limit(_count_from_environment(env, "SLURM_CPUS_ON_NODE"), "SLURM_CPUS_ON_NODE"))
    return sorted(limit for limit in limits if limit.amount > 0)


def memory_here(root: Path = _ROOT, env: Mapping[str, str] = os.environ) -> int:
    """Return the bytes of memory that this process may use together with its children; 0 if unknown."""
    return next((int(limit.amount) for limit in memory_limits(root, env)), 0)


def cores_here(root: Path = _ROOT, env: Mapping[str, str] = os.environ) -> int:
    """Return the number of cores that this process may use, at least 1."""
    return max(1, int(core_limits(root, env)[0].amount))


def _count_from_environment(env: Mapping[str, str], name: str) -> int:
    """Return a variable that is a positive integer, else 0; Slurm writes 0 for all memory of a node."""
    value = env.get(name, "")
    return int(value) if value.isascii() and value.isdigit() else 0


def _control_groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of this process's control groups, v1 and v2, each from its own up to the mount point."""
    folders: dict[Path, None] = {}
    try:
        lines = (root / "proc/self/cgroup").read_text(errors="surrogateescape").splitlines()
        mounts = (root / "proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        lines, mounts = [], []
    own = {name: path for _, names, path in (line.split(":", 2) for line in lines) for name in names.split(",")}
    for line in mounts:
        # "36 31 0:33 /ROOT /MOUNT rw,relatime - cgroup cgroup rw,memory"; v2 has the type cgroup2 and an empty name.
        left, _, right = line.partition(" - ")
        (top, mount), (kind, _, settings) = left.split()[3:5], right.split(" ", 2)
        name = "" if kind == "cgroup2" else controller
        if not kind.startswith("cgroup") or name not in own or (name and name not in settings.split(",")):
            continue
        base = root / mount.lstrip("/")
        # Below another root than the mounted one, as in some containers, only the mounted part is visible.
        inside = os.path.relpath(own[name], top)
        folder = base if inside.startswith("..") else base / inside
        folders.update(dict.fromkeys([folder, *folder.parents][: len(folder.parts) - len(base.parts) + 1]))
    folders.update(dict.fromkeys([root / "sys/fs/cgroup", root / "sys/fs/cgroup" / controller]))
    yield from folders


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


def workers_that_fit(usable_memory: int) -> int | None:
    """Return how many workers the default may start in so many bytes; None if that is unknown."""
    return max(1, _for_workers(usable_memory) // _WORKER_LEAST) if usable_memory else None


def share_of_memory(workers: int, memory: int) -> tuple[int, int]:
    """Return the default memory limit of a worker in bytes, and the bytes at which it is killed.

    The limit is an equal part of four fifths of the usable memory. All workers that are about to be killed, Ray's
    object store and the driver fit into that memory together, because Slurm ends a job that exceeds its own.

    Args:
        workers: number of workers that share the memory.
        memory: usable bytes.
    """
    hard = max(_for_workers(memory) // max(1, workers), _WORKER_LEAST)
    soft = min(int(memory * _WORKERS_SHARE / max(1, workers)), hard)
    return soft, min(hard, int(HARD * soft))


def start_memory_guard(limit: int, report: Path, hard: int | None = None) -> None:
    """Start a thread that ends this process once it takes too much memory.

    Args:
        limit: bytes at which a worker is replaced between two episodes, for the message.
        report: file to which the reason is appended.
        hard: bytes at which the process ends; the default is HARD times `limit`.
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


@dataclass(frozen=True)
class Cards:
    """The GPUs of this machine.

    Attributes:
        count: number of GPUs that may be used.
        report: what was inspected and found, for messages.
    """

    count: int
    report: str


def find_cards(
    env: Mapping[str, str] = os.environ, root: Path = Path("/"), smi: str | None = "nvidia-smi", device: str = "auto"
) -> Cards:
    """Find the GPUs of this machine that CUDA_VISIBLE_DEVICES leaves visible, or those of another maker.

    Args:
        env: environment.
        root: folder of dev and sys.
        smi: the nvidia-smi program, None to run none.
        device: as --device.
    """
    if device == "metal":
        return Cards(int(sys.platform == "darwin"), "Metal needs macOS, where it is one GPU")
    if device in _VENDORS:
        maker, number = _VENDORS[device]
        files = (root / "sys/class/drm").glob("renderD*/device/vendor")
        count = sum(file.read_text().strip() == number for file in files)
        return Cards(count, f"{count or 'no'} GPU by {maker} in {root / 'sys/class/drm'}")
    total, report = _installed_gpus(root, smi)
    visible = env.get("CUDA_VISIBLE_DEVICES")
    if visible is None or not total:
        return Cards(total, report)
    # CUDA stops reading at the first invalid name.
    names = (name.strip() for name in visible.split(","))
    valid = list(takewhile(lambda name: name not in ("", "-1", "NoDevFiles", "none", "void"), names))
    count = min(total, len(valid))
    return Cards(count, f"{report}; CUDA_VISIBLE_DEVICES={visible!r} leaves {count}")


def _installed_gpus(root: Path, smi: str | None) -> tuple[int, str]:
    """Ask the driver's own program first, because in a container it lists exactly the container's GPUs."""
    program = shutil.which(smi) if smi else None
    if program is not None:
        try:
            answer = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=_SMI_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = f"nvidia-smi failed: {error}"
        else:
            names = re.findall(r"^GPU \d+: (.*?) \(UUID", answer.stdout, re.MULTILINE)
            if names:
                kinds = ", ".join(f"{count} x {name}" for name, count in Counter(names).items())
                return len(names), f"nvidia-smi lists {len(names)}: {kinds}"
            output = (answer.stdout + answer.stderr).strip().splitlines() or ["nothing"]
            problem = f"nvidia-smi printed: {output[-1]}"
    else:
        problem = "no nvidia-smi on the PATH"
    files = [path for path in (root / "dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name)]
    if files:
        return len(files), f"{problem}; {len(files)} of /dev/nvidia[0-9]"
    return 0, f"{problem}, and no /dev/nvidia0: no NVIDIA GPU, or its driver is not loaded or not in this container"
