"""Progress for people: a tqdm line on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from render.run.status import StatusFile

if TYPE_CHECKING:
    from render.run.summary import Summary


class Progress:
    """Episodes with rate and ETA on standard error; images a second, failures and workers behind it.

    Quiet when standard error is no terminal. tqdm is imported only where a line is drawn.
    status: file that is kept up to date for `--status`, on any kind of terminal.
    """

    def __init__(self, total: int, what: str = "rendering", status: StatusFile | None = None) -> None:
        self._status = status
        self._workers = 0
        self._state = "running"
        self._bar: Any = None
        self._images = 0
        self._failed = 0
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc=what, unit="ep", dynamic_ncols=True, smoothing=0.1)

    def advance(self, episodes: int, images: int = 0, failed: int = 0) -> None:
        """So many more are done."""
        self._images += images
        self._failed += failed
        if self._bar is None:
            return
        elapsed = self._bar.format_dict["elapsed"]
        if elapsed > 0:
            parts = [f"{self._images / elapsed:.2f} images/s"]
            parts += [f"{self._workers} workers"] if self._workers else []
            parts += [f"{self._failed} failed"] if self._failed else []
            parts += [self._state] if self._state != "running" else []
            self._bar.set_postfix_str(", ".join(parts), refresh=False)
        self._bar.update(episodes)

    def tick(self, summary: Summary, workers: int, state: str) -> None:
        """About once a second: what is committed, how many workers are up, and the state (see render.run.status)."""
        self._workers, self._state = workers, state
        if self._bar is not None:
            self.advance(0)
            self._bar.refresh()
        if self._status is not None and (self._status.due() or state != self._status.status.state):
            self._write(summary, state)

    def _write(self, summary: Summary, state: str) -> None:
        assert self._status is not None
        status = self._status.status
        status.done, status.failed, status.images = summary.rendered, len(summary.failed), summary.images
        status.workers, status.state = self._workers, state
        elapsed = time.time() - status.started
        status.rate = summary.images / elapsed if elapsed > 0 else 0.0
        self._status.write()

    def end(self, summary: Summary) -> None:
        """The run is over, however it ended."""
        if self._status is not None:
            self._workers = 0
            self._write(summary, "ended")

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
