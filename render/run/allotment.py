"""The memory and cores that this process may use, each with its source: the machine, control groups, Slurm."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# cgroup v1 writes about 2**63 if there is no limit.
_NO_LIMIT = 2**60
_ROOT = Path("/")


class Limit(NamedTuple):
    """amount: bytes of memory, or cores. source: the file or variable that says so."""

    amount: float
    source: str


def memory_limits(root: Path = _ROOT, env: Mapping[str, str] = os.environ) -> list[Limit]:
    """Return every known limit of this process's memory in bytes, the least first; [] if none is known.

    A job of Slurm has its limit in a control group far below the root, and each group above it counts, too.
    root: folder of proc and sys. env: environment.
    """
    found = []
    with suppress(OSError, ValueError, IndexError):
        lines = (root / "proc/meminfo").read_text().splitlines()
        found += [Limit(int(line.split()[1]) * 1024, "machine") for line in lines if line.startswith("MemTotal:")]
    for folder in _control_groups(root, "memory"):
        for name in ("memory.max", "memory.high", "memory.limit_in_bytes"):
            with suppress(OSError, ValueError):
                found.append(Limit(int((folder / name).read_text()), str(folder / name)))
    megabytes = {"SLURM_MEM_PER_NODE": 1, "SLURM_MEM_PER_CPU": _count(env, "SLURM_CPUS_ON_NODE")}
    found += [Limit(_count(env, name) * times * 2**20, name) for name, times in megabytes.items()]
    return sorted(limit for limit in found if 0 < limit.amount < _NO_LIMIT)


def core_limits(root: Path = _ROOT, env: Mapping[str, str] = os.environ) -> list[Limit]:
    """Return every known limit of the number of cores, the least first. Parameters as in `memory_limits`."""
    affinity = hasattr(os, "sched_getaffinity")
    found = [Limit(len(os.sched_getaffinity(0)), "affinity") if affinity else Limit(os.cpu_count() or 1, "machine")]
    for folder in _control_groups(root, "cpu"):
        with suppress(OSError, ValueError):
            quota, period = (folder / "cpu.max").read_text().split()
            found.append(Limit(int(quota) / int(period), str(folder / "cpu.max")))
        with suppress(OSError, ValueError, ZeroDivisionError):
            quota, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
            found.append(Limit(int(quota) / int(period), str(folder / "cpu.cfs_quota_us")))
    found.append(Limit(_count(env, "SLURM_CPUS_ON_NODE"), "SLURM_CPUS_ON_NODE"))
    return sorted(limit for limit in found if limit.amount > 0)


def memory_here(root: Path = _ROOT, env: Mapping[str, str] = os.environ) -> int:
    """Return the bytes of memory that this process may use together with its children; 0 if unknown."""
    return next((int(limit.amount) for limit in memory_limits(root, env)), 0)


def cores_here(root: Path = _ROOT, env: Mapping[str, str] = os.environ) -> int:
    """Return the number of cores that this process may use, at least 1."""
    return max(1, int(core_limits(root, env)[0].amount))


def _count(env: Mapping[str, str], name: str) -> int:
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
