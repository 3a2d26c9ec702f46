"""Parts of a run that need neither a running Ray nor Blender."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import ray

from render.model.errors import DeviceError, RenderError, UsageError
from render.run import limits as memory
from render.run.local_ray import local_ray, ray_nodes
from render.run.worker import check_device, stderr_tail, sweep_scratch
from render.run.worker_plan import WorkerPlan


def test_a_containers_limit_counts(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal:        8388608 kB\nMemFree: 1 kB\n")
    assert memory.machine_memory(tmp_path) == 8 * 2**30
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    limit = tmp_path / "sys/fs/cgroup/memory.max"
    limit.write_text("max\n")
    assert memory.machine_memory(tmp_path) == 8 * 2**30
    limit.write_text(f"{2**30}\n")
    assert memory.machine_memory(tmp_path) == 2**30
    assert memory.machine_memory(tmp_path / "nothing") == 0


def test_this_process_has_a_size() -> None:
    before = memory.resident()
    taken = bytearray(os.urandom(1000)) * 100_000
    assert before > 10_000_000 and memory.resident() - before > len(taken) // 2


def test_a_process_that_grows_is_ended_though_its_last_words_find_no_room() -> None:
    code = (
        "import sys, threading; from pathlib import Path; from render.run.limits import guard; "
        "guard(1, Path('/dev/full')); "
        "[thread.join() for thread in threading.enumerate() if thread.name == 'memory guard']; sys.exit(5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == memory.KILLED_FOR_MEMORY, done.stderr


def test_a_ray_that_does_not_start_is_reported_whatever_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", fail)
    with pytest.raises(RenderError, match="Ray did not start on this machine: RuntimeError"), local_ray():
        pass
    with pytest.raises(UsageError, match="no Ray cluster answers there: RuntimeError"), ray_nodes("far:1"):
        pass


@pytest.mark.parametrize(
    ("wanted", "said", "fits"),
    [
        ("gpu", "OPTIX NVIDIA H200", True),
        ("gpu", "CUDA NVIDIA H200", True),
        ("gpu", "CPU Xeon", False),
        ("gpu", "", False),
        ("cuda", "OPTIX NVIDIA H200", False),
        ("optix", "OPTIX NVIDIA H200", True),
    ],
)
def test_what_rendered_must_be_what_was_asked_for(wanted: str, said: str, fits: bool) -> None:
    plan = WorkerPlan(wanted, 1, 0, 1, card=0, gpu_share=1.0)
    if fits:
        check_device(plan, said)
    else:
        with pytest.raises(DeviceError, match="requested"):
            check_device(plan, said)
    check_device(WorkerPlan("cpu", 1, 0, 1), "CPU Xeon")


def test_last_words_leave_out_what_python_says_of_the_crash(tmp_path: Path) -> None:
    said = tmp_path / "said.txt"
    said.write_text(
        "Fra:1 one\nFra:1 two\n\nFra:1 three\nFra:1 four\n"
        "[2026-01-01 00:00:00 E 1 1] logging.cc:501: *** SIGSEGV received at time=1 ***\n"
        "Fatal Python error: Segmentation fault\nExtension modules: numpy\n"
    )
    assert stderr_tail(str(said)) == "Fra:1 two | Fra:1 three | Fra:1 four | SIGSEGV"
    assert not said.exists() and stderr_tail(str(said)) == ""


def test_only_scratch_that_nobody_uses_is_swept(tmp_path: Path) -> None:
    for name, age in (("diorama-old", 90_000), ("diorama-new", 60), ("other", 90_000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "view.exr").touch()
        os.utime(tmp_path / name, (time.time() - age, time.time() - age))
    sweep_scratch(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["diorama-new", "other"]
