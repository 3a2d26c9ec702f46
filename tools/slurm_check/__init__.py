"""Run batches in a real Slurm on this machine: arrays, a cluster, limits, kills, two users.

    python -m tools slurm-check                    # everything: about 30 minutes on two cores
    python -m tools slurm-check arrays memory      # some of the checks

Needs root, a kernel with namespaces and with the control groups of version 1, and Debian's programs:
apt-get install --no-install-recommends slurm-wlm munge iproute2. Each node is a slurmd in namespaces of its own, with two
cores and 3,000 MB. Exit code 1: a check failed.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from render.store import open_store, peek
from tools.programs import ROOT, command, run_measured, write_specs
from tools.slurm_check.mini_slurm import MEGABYTES, USERS, MiniSlurm

log = logging.getLogger("slurm")

_JOB_SECONDS = 900.0
_KILL_SECONDS = 30.0
_JOB = ("--cpus-per-task=1", "--mem=1500M", "--time=30")
_FAKE = ("--renderer", "fake", "--size", "64x48", "--device", "cpu")
_SLOW = ("--renderer", "tools.chaos_renderer:Slow", "--size", "64x48", "--device", "cpu")
_REAL = ("--profile", "draft", "--size", "64x48", "--device", "cpu")


class Check:
    """Jobs of one user in a running Slurm. folder: that only this user can open."""

    def __init__(self, slurm: MiniSlurm, user: str = "root") -> None:
        self.slurm, self.user = slurm, user
        self.folder = slurm.folder / user

    def specs(self, count: int, name: str) -> Path:
        """Write specs of one object each."""
        frame = {"objects": [{"shape": "cube"}, {"shape": "sphere"}]}
        path = self.folder / f"{name}.jsonl"
        write_specs(path, ({"version": 1, "id": f"{name}/{k:05d}", "frames": [frame]} for k in range(count)))
        path.chmod(0o644)
        return path

    def submit(self, script: Path | str, *arguments: object, options: tuple[str, ...] = ()) -> str:
        """Submit a job and return its number."""
        output = f"--output={self.folder}/%x-%j.log"
        line = ["sbatch", "--parsable", output, *_JOB, *options, str(script), *map(str, arguments)]
        return self.slurm.call(*line, user=self.user).strip()

    def wait(self, job: str, seconds: float = _JOB_SECONDS) -> None:
        """Wait until a job has left the queue. Raises AssertionError."""
        deadline = time.monotonic() + seconds
        while self.slurm.call("squeue", "-h", "-j", job, "-t", "all", "-o", "%T", check=False).split() not in _ENDED:
            assert time.monotonic() < deadline, f"job {job} did not end within {seconds:.0f} s; see {self.folder}"
            time.sleep(1.0)

    def stored(self, store: Path, count: int) -> None:
        """Check that a store has exactly `count` episodes. Raises AssertionError."""
        names = [name for name, _ in open_store(str(store)).ids()]
        assert len(names) == len(set(names)) == count, f"{store}: {len(names)} episodes; logs: {self.folder}"
