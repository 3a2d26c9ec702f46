"""When a run stops: at a given time, at the end of its Slurm job, or because of a signal."""

from __future__ import annotations

import logging
import math
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from types import FrameType
from typing import Any

log = logging.getLogger(__name__)

# From the last finished episode to the end of the process: a commit, then the end of the workers and of Ray.
_LEAST_SECONDS = 10.0
_COMMITS = 3.0
_RECENT = 64
_SQUEUE_SECONDS = 10.0
# After SIGTERM: for what is in flight, and until the run has noticed the signal. It has to be over after 10 s.
_FINISH_SECONDS, _NOTICE_SECONDS = 3.0, 4.5


def parse_time(text: str) -> float:
    """Return a time as Unix seconds.

    Args:
        text: `2026-11-22T18:00` (local time, or with an offset) or Unix seconds.

    Raises:
        ValueError: the text is of another form.
    """
    if text.isascii() and text.isdigit() and len(text) <= 10:
        return float(text)
    return datetime.fromisoformat(text).timestamp()


def job_end(env: Mapping[str, str] = os.environ) -> float | None:
    """Return the Unix seconds at which Slurm ends this job; None outside of a job, or if the end is unknown."""
    if not env.get("SLURM_JOB_ID"):
        return None
    end = env.get("SLURM_JOB_END_TIME", "")
    if not end:
        # Of the last task of an array, SLURM_JOB_ID is the number of the whole array.
        array, task = env.get("SLURM_ARRAY_JOB_ID"), env.get("SLURM_ARRAY_TASK_ID")
        job = env["SLURM_JOB_ID"] if array is None or task is None else f"{array}_{task}"
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
        return parse_time(end)
    return None


class Deadline:
    """Decides when to stop so that everything finished is committed.

    Attributes:
        end: Unix seconds; None if the run may go on.
    """

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
        """Return whether it is time to commit what is finished, and to end.

        Args:
            commit: seconds that a commit takes.
        """
        return self.left(_LEAST_SECONDS + _COMMITS * commit) <= 0

    def enough(self, commit: float) -> bool:
        """Return whether there is time for another episode that takes as long as the longest of the last ones.

        Args:
            commit: seconds that a commit takes.
        """
        return not self.over(commit + max(self._recent, default=0.0) / _COMMITS)


class Interrupts:
    """Signals that stop a run: after one, it finishes and commits what is in flight; after two, it stops immediately.

    While entered, the first signal sets `stopping`; another SIGINT or SIGTERM raises KeyboardInterrupt. Whoever sends
    SIGTERM kills soon: what is in flight has seconds, and where the run does not notice the signal, because it waits
    for Ray or for a disk, it is interrupted. Only the main thread receives signals; in others, nothing happens.

    Attributes:
        deadline: of the run.
        stopping: the reason, as in Summary.stopped: `time` for SIGUSR1, and for SIGTERM if the run has a deadline,
            because Slurm sends it at the end of a job; else `interrupt`. "" without a signal.
        terminated: whether the first signal was SIGTERM.
    """

    def __init__(self, deadline: Deadline | None = None) -> None:
        self.deadline = deadline or Deadline(None)
        self.stopping = ""
        self.terminated = False
        self._give_up = math.inf
        self._calm = False
        # The handler of SIGALRM and its timer, as they were before SIGTERM.
        self._alarm: tuple[Any, tuple[float, float]] | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP) if main else ():
            # nohup ignores SIGHUP, so that the run continues without its terminal.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._handle_signal)
        return self

    @property
    def gave_up(self) -> bool:
        """Whether what is in flight after SIGTERM is given up."""
        return time.monotonic() > self._give_up

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Let work that ends soon by itself end, although SIGTERM came: a second signal still interrupts it."""
        self._calm = True
        self._disarm()
        try:
            yield
        finally:
            self._calm = False

    def _disarm(self) -> None:
        if self._alarm is not None:
            handler, timer = self._alarm
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, handler)
            self._alarm = None

    def __exit__(self, *_: object) -> None:
        self._disarm()
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]  # what signal() itself returned

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        if self.stopping:
            # The system and the shell may both send SIGHUP when a terminal closes.
            if number in (signal.SIGUSR1, signal.SIGHUP):
                return
            raise KeyboardInterrupt
        if number == signal.SIGTERM:
            self.terminated, self._give_up = True, time.monotonic() + _FINISH_SECONDS
            if not self._calm:
                handler = signal.signal(signal.SIGALRM, self._handle_signal)
                self._alarm = handler, signal.setitimer(signal.ITIMER_REAL, _NOTICE_SECONDS)
        ends = number == signal.SIGUSR1 or (number == signal.SIGTERM and self.deadline.end is not None)
        self.stopping = "time" if ends else "interrupt"
        limit = f", for at most {_FINISH_SECONDS:.0f} s" if self.terminated else ""
        log.warning("stopping: finishing what is in flight%s; press Ctrl-C again to stop now", limit)
