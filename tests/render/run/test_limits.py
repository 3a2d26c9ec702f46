"""Limits of a worker: seconds per episode, and memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from render.run import limits


def test_time_outs_grow_with_the_work() -> None:
    small = limits.timeout_of(None, 24, 320, 240, 1)
    assert limits.timeout_of(None, 512, 320, 240, 1) > small
    assert limits.timeout_of(None, 24, 1280, 960, 1) > small
    assert limits.timeout_of(None, 24, 320, 240, 7) > small
    assert limits.timeout_of(3.0, 24, 320, 240, 2) == 6.0


def test_a_containers_limit_counts(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal:        8388608 kB\nMemFree: 1 kB\n")
    assert limits.machine_memory(tmp_path) == 8 * 2**30
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    limit = tmp_path / "sys/fs/cgroup/memory.max"
    limit.write_text("max\n")
    assert limits.machine_memory(tmp_path) == 8 * 2**30
    limit.write_text(f"{2**30}\n")
    assert limits.machine_memory(tmp_path) == 2**30
    assert limits.machine_memory(tmp_path / "nothing") == 0


def test_this_process_has_a_size() -> None:
    before = limits.resident()
    taken = bytearray(os.urandom(1000)) * 100_000
    assert before > 10_000_000 and limits.resident() - before > len(taken) // 2


def test_a_process_that_grows_is_ended_though_its_last_words_find_no_room() -> None:
    code = (
        "import sys, threading; from pathlib import Path; from render.run.limits import guard; "
        "guard(1, Path('/dev/full')); "
        "[thread.join() for thread in threading.enumerate() if thread.name == 'memory guard']; sys.exit(5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == limits.KILLED_FOR_MEMORY, done.stderr
