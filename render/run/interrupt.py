"""Signals that stop a run: after one, it finishes and commits what is in flight; after two, it stops immediately."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType

from diorama.render.run.deadline import Deadline

log = logging.getLogger(__name__)


class Interrupts:
    """While entered, the first signal sets `stopping` to its reason; another SIGINT or SIGTERM raises
    KeyboardInterrupt.

    The reasons, as in Summary.stopped: `time` for SIGUSR1, and for SIGTERM if the run has a deadline, because Slurm
    sends it at the end of a job; else `interrupt`. Only the main thread receives signals; in others, nothing happens.
    """

    def __init__(self, deadline: Deadline | None = None) -> None:
        self.deadline = deadline or Deadline(None)
        self.stopping = ""
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP) if main else ():
            # nohup ignores SIGHUP, so that the run continues without its terminal.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]  # what signal() itself returned

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.stopping:
            # The system and the shell may both send SIGHUP when a terminal closes.
            if number in (signal.SIGUSR1, signal.SIGHUP):
                return
            raise KeyboardInterrupt
        ends = number == signal.SIGUSR1 or (number == signal.SIGTERM and self.deadline.end is not None)
        self.stopping = "time" if ends else "interrupt"
        log.warning("stopping: finishing what is in flight; press Ctrl-C again to stop now")
