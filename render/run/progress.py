"""Progress on a terminal, as a tqdm line, and in the status file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from render.run.status import StatusFile

if TYPE_CHECKING:
    from render.run.summary import Summary


class Progress:
    """Shows episodes with rate and ETA on standard error, and images per second, failures and workers after them.

    Nothing is shown if standard error is not a terminal; tqdm is imported only if a line is drawn.
    status: file to keep up to date for `--status`, on any kind of terminal.
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
        """Count episodes, images and failures that are done since the last call."""
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
        """Show what is committed, how many workers are up, and the state (see render.run.status); once per second."""
        self._workers, self._state = workers, state
        if self._bar is not None:
            self.advance(0)
            self._bar.refresh()
        if self._status is not None and (self._status.due() or state != self._status.status.state):
            self._status.update(summary, workers, state)

    def end(self, summary: Summary) -> None:
        """Write the last status of a run."""
        if self._status is not None:
            self._status.update(summary, 0, "ended")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
