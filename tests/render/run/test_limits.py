"""Limits of a worker: seconds per episode, and memory."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from diorama.render.episode.time_limit import timeout_of
from diorama.render.run import machine


def test_time_outs_grow_with_the_work() -> None:
    small = timeout_of(None, 24, 320, 240, 1)
    assert timeout_of(None, 512, 320, 240, 1) > small
    assert timeout_of(None, 24, 1280, 960, 1) > small
    assert timeout_of(None, 24, 320, 240, 7) > small
    assert timeout_of(3.0, 24, 320, 240, 2) == 6.0


@pytest.mark.parametrize("gibibytes", [0.5, 1, 2, 4, 16, 24, 64, 512])
def test_workers_object_store_and_driver_fit_into_the_memory(gibibytes: float) -> None:
    memory = int(gibibytes * 2**30)
    most = machine.workers_that_fit(memory)
    assert most is not None
    for workers in {1, most // 2 or 1, most}:
        soft, hard = machine.share_of_memory(workers, memory)
        assert soft <= hard <= machine.HARD * soft
        together = workers * hard + machine.object_store_bytes(memory) + 512 * 2**20
        # Below 1.1 GiB not even one worker has what Cycles needs.
        assert together <= memory or (workers == 1 and gibibytes <= 1)
    assert machine.workers_that_fit(0) is None


def test_this_process_has_a_size() -> None:
    before = machine.resident()
    taken = bytearray(os.urandom(1000)) * 100_000
    assert before > 10_000_000 and machine.resident() - before > len(taken) // 2


def test_a_process_that_grows_is_ended_though_its_last_words_find_no_room() -> None:
    code = (
        "import sys, threading; from pathlib import Path; from diorama.render.run.machine import start_memory_guard; "
        "start_memory_guard(1, Path('/dev/full')); "
        "[thread.join() for thread in threading.enumerate() if thread.name == 'memory guard']; sys.exit(5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == machine.KILLED_FOR_MEMORY, done.stderr
