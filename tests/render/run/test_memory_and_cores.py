"""Limits of memory and cores, in the layouts of control groups that clusters and containers have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from diorama.render.run.machine import core_limits, cores_here, memory_here, memory_limits

GIB = 2**30
# As mountinfo has them: on Debian 12 (v2), with v1, and with both.
V2 = "35 24 0:30 {root} /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate"
V1 = "36 31 0:33 {root} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory"
V1_CPU = "37 31 0:34 {root} /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct"
SCOPE = "system.slice/worker-1_slurmstepd.scope/job_4749"
UNLIMITED_V1 = "9223372036854771712"
JOB = "slurm/uid_2687/job_13759490"


def machine(root: Path, own: str, mounts: str, files: dict[str, str]) -> Path:
    """A folder with the proc and sys of a machine with 64 GiB. files: below /sys/fs/cgroup -> contents."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text("MemTotal:       67108864 kB\nMemFree: 1 kB\n")
    (root / "proc/self/cgroup").write_text(own + "\n")
    (root / "proc/self/mountinfo").write_text(f"24 1 8:1 / / rw - ext4 /dev/sda1 rw\n{mounts}\n")
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


@pytest.mark.parametrize(
    ("own", "mounts", "files", "expected"),
    [
        pytest.param("0::/", V2.format(root="/"), {}, (64 * GIB, "machine"), id="machine without limits"),
        pytest.param(
            f"0::/{SCOPE}/step_0/user/task_0", V2.format(root="/"),
            # As reported in NVIDIA/enroot#169: the group of the task has no limit, the one above it has.
            {f"{SCOPE}/step_0/user/task_0/memory.max": "max", f"{SCOPE}/step_0/user/memory.max": "4194304000",
             f"{SCOPE}/memory.max": "8388608000", "system.slice/memory.max": "max"},
            (4194304000, f"{SCOPE}/step_0/user/memory.max"), id="Slurm, v2",
        ),
        pytest.param(
            f"0::/{SCOPE}/step_0/user/task_0", V2.format(root="/"),
            {f"{SCOPE}/memory.high": str(3 * GIB), f"{SCOPE}/step_0/memory.max": str(4 * GIB)},
            (3 * GIB, f"{SCOPE}/memory.high"), id="Slurm, v2, a soft limit of the job",
        ),
        pytest.param(
            # As reported in rstudio/rstudio#13690.
            f"5:cpu,cpuacct:/\n4:memory:/{JOB}/step_batch/task_0\n1:name=systemd:/x\n0::/x",
            V1.format(root="/") + "\n" + V2.format(root="/").replace("cgroup rw,", "cgroup/unified rw,", 1),
            {f"memory/{JOB}/step_batch/task_0/memory.limit_in_bytes": UNLIMITED_V1,
             f"memory/{JOB}/memory.limit_in_bytes": str(2 * GIB), "memory/memory.limit_in_bytes": UNLIMITED_V1},
            (2 * GIB, f"memory/{JOB}/memory.limit_in_bytes"), id="Slurm, v1",
        ),
        pytest.param(
            "0::/", V2.format(root="/"), {"memory.max": str(GIB)}, (GIB, "memory.max"), id="container, v2",
        ),
        pytest.param(
            # Without a namespace of its own, the mount shows a part of what the path names.
            "4:memory:/docker/7f3a", V1.format(root="/docker/7f3a"), {"memory/memory.limit_in_bytes": str(GIB)},
            (GIB, "memory/memory.limit_in_bytes"), id="Docker, v1",
        ),
        pytest.param(
            "4:memory:/other", V1.format(root="/docker/7f3a"), {"memory/memory.limit_in_bytes": str(GIB)},
            (GIB, "memory/memory.limit_in_bytes"), id="a group outside of the mount",
        ),
    ],
)  # fmt: skip
def test_the_least_limit_above_a_process_counts(
    tmp_path: Path, own: str, mounts: str, files: dict[str, str], expected: tuple[int, str]
) -> None:
    root = machine(tmp_path, own, mounts, files)
    amount, source = expected
    assert memory_here(root, {}) == amount
    limit = memory_limits(root, {})[0]
    assert limit.source == (source if source == "machine" else str(root / "sys/fs/cgroup" / source))


def test_slurm_counts_where_its_control_group_is_hidden(tmp_path: Path) -> None:
    root = machine(tmp_path, f"0::/{SCOPE}/step_0", V2.format(root=f"/{SCOPE}/step_0"), {"memory.max": "max"})
    assert memory_limits(root, {"SLURM_MEM_PER_NODE": "4000"})[0] == (4000 * 2**20, "SLURM_MEM_PER_NODE")
    per_core = {"SLURM_MEM_PER_CPU": "1500", "SLURM_CPUS_ON_NODE": "4"}
    assert memory_limits(root, per_core)[0] == (6000 * 2**20, "SLURM_MEM_PER_CPU")
    # Of --mem=0, and of other programs.
    for value in ("0", "", "all", "-1"):
        assert memory_here(root, {"SLURM_MEM_PER_NODE": value}) == 64 * GIB


def test_mounts_may_have_names_that_are_not_utf8(tmp_path: Path) -> None:
    root = machine(tmp_path, "0::/", V2.format(root="/"), {"memory.max": str(GIB)})
    with (root / "proc/self/mountinfo").open("ab") as stream:
        stream.write(b"40 24 8:2 / /media/caf\xe9 rw - ext4 /dev/sdb1 rw\n")
    assert memory_here(root, {}) == GIB


def test_what_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    assert memory_here(tmp_path, {}) == 0 and cores_here(tmp_path, {}) == len(os.sched_getaffinity(0))


def test_the_least_number_of_cores_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    own = f"5:cpu,cpuacct:/{JOB}/step_0\n0::/{SCOPE}"
    mounts = V1_CPU.format(root="/") + "\n" + V2.format(root="/")
    v1 = {f"cpu,cpuacct/{JOB}/cpu.cfs_quota_us": "1200000", f"cpu,cpuacct/{JOB}/cpu.cfs_period_us": "100000"}
    none = {"cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpu.cfs_period_us": "100000"}
    root = machine(tmp_path, own, mounts, {**v1, **none, f"{SCOPE}/cpu.max": "max 100000"})
    assert [limit.amount for limit in core_limits(root, {})] == [12, 64]
    assert cores_here(root, {"SLURM_CPUS_ON_NODE": "8"}) == 8
    (root / f"sys/fs/cgroup/{SCOPE}/cpu.max").write_text("50000 100000\n")
    assert cores_here(root, {}) == 1
