"""When a run has to be over: a given time, or the end of its Slurm job."""

from __future__ import annotations

import math
import os
import subprocess
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

# From the last finished episode to the end of the process: a commit, then the end of the workers and of Ray.
_LEAST_SECONDS = 10.0
_COMMITS = 3.0
_RECENT = 64
_SQUEUE_SECONDS = 10.0


def parse_time(text: str) -> float:
    """Return `2026-11-22T18:00` (local time, or with an offset) or Unix seconds as Unix seconds. Raises ValueError."""
    if text.isascii() and text.isdigit() and len(text) <= 10:
        return float(text)
    return datetime.fromisoformat(text).timestamp()


def job_end(env: Mapping[str, str] = os.environ) -> float | None:
    """Return the Unix seconds at which Slurm ends this job; None outside of a job, or if the end is unknown."""
    # Of the last task of an array, SLURM_JOB_ID is the number of the whole array.
    job = (
        "{SLURM_ARRAY_JOB_ID}_{SLURM_ARRAY_TASK_ID}"
        if {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"} <= env.keys()
        else "{SLURM_JOB_ID}"
    )
    job = job.format_map(env) if "SLURM_JOB_ID" in env else ""
    end = env.get("SLURM_JOB_END_TIME", "") if job else None
    if end == "":
        # Older Slurm does not set it. Containers often lack squeue.
        with suppress(OSError, subprocess.SubprocessError):
            line = ["squeue", "-h", "-j", job, "-o", "%e"]
            # The usual format has the local time of a machine whose zone may differ from the container's.
            answer = subprocess.run(
                line, capture_output=True, text=True, timeout=_SQUEUE_SECONDS, check=True,
                env={**env, "SLURM_TIME_FORMAT": "%s"},
            )  # fmt: skip
            end = answer.stdout.strip()
    # "N/A" if there is no limit.
    with suppress(ValueError):
        return parse_time(end) if end else None
    return None


class Deadline:
    """Decides when to stop so that everything finished is committed. end: Unix seconds, None if the run may go on."""

    def __init__(self, end: float | None) -> None:
        self.end = end
        self._recent: deque[float] = deque(maxlen=_RECENT)

    def finished(self, seconds: float) -> None:
        """Note how long an episode took."""
        self._recent.append(seconds)

    def left(self, reserve: float = 0.0) -> float:
        """Return the seconds until the end, less a reserve; infinity without a deadline."""
        return math.inf if self.end is None else self.end - time.time() - reserve

    def over(self, commit: float) -> bool:
        """Return whether it is time to commit what is finished, and to end. commit: seconds that a commit takes."""
        return self.left(_LEAST_SECONDS + _COMMITS * commit) <= 0

    def enough(self, commit: float) -> bool:
        """Return whether there is time for another episode that takes as long as the longest of the last ones."""
        return not self.over(commit + max(self._recent, default=0.0) / _COMMITS)
