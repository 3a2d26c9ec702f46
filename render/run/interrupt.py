"""Ctrl-C: pressed once, the run finishes and commits what is in flight; pressed twice, it stops immediately."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType

log = logging.getLogger(__name__)


class Interrupts:
    """While entered, the first SIGINT or SIGTERM sets `stopping`; the second raises KeyboardInterrupt.

    Only the main thread receives signals; in another one, nothing happens.
    """

    def __init__(self) -> None:
        self.stopping = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()
        for number in (signal.SIGINT, signal.SIGTERM) if main else ():
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]  # what signal() itself returned

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.stopping:
            raise KeyboardInterrupt
        self.stopping = True
        log.warning("stopping: finishing what is in flight; press Ctrl-C again to stop now")
