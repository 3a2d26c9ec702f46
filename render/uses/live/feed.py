"""The episodes of `diorama.live` between the render loop, which runs in a thread, and the caller."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

from diorama.render.run.worker import Done, Failure, Task
from diorama.scene_specs.errors import RenderError, UsageError

_WAIT_SECONDS = 1.0
FORKED = "a fork can't use the streams or the Ray of its parent; pass multiprocessing_context='spawn' to the DataLoader"


class Feed(Iterator[Task | None]):
    """The episodes of a stream: an iterator of tasks for the render loop, and the sink of what it renders.

    Args:
        tasks: without end; None while the next one is not ready.
        ahead: maximum number of episodes that the caller has not taken.

    Attributes:
        hurry: unused; the others are those of a Committer that has nothing to do.
        process: that made the feed, and may use it.
        error: why the loop has ended; None while it runs.
    """

    seconds = last_seconds = 0.0
    unsaved, full = 0, False

    def __init__(self, tasks: Iterator[Task | None], ahead: int) -> None:
        self._tasks, self.ahead, self.process = tasks, ahead, os.getpid()
        self._changed = threading.Condition()
        self._numbers: dict[str, int] = {}
        self._done: dict[int, Done | Failure] = {}
        self._read = self._taken = 0
        self._closed = False
        self.hurry = threading.Event()
        self.error: BaseException | None = None

    def __next__(self) -> Task | None:
        """Return the next task, None if none is ready, or while enough are ahead of the caller."""
        task = next(self._tasks) if self._read - self._taken < self.ahead else None
        if task is not None:
            self._numbers[task.episode.id] = self._read
            self._read += 1
        return task

    def add(self, done: Done | Failure) -> None:
        """Take an episode."""
        with self._changed:
            self._done[self._numbers.pop(done.episode_id)] = done
            self._changed.notify_all()

    def add_failure(self, failure: Failure) -> None:
        """Take the failure of an episode, which has its place in the order."""
        self.add(failure)

    def poll(self, force: bool = False) -> list[Done | Failure]:
        """Return nothing. Raises RenderError once the caller has closed the stream, which ends the loop."""
        if self._closed:
            raise RenderError("the stream was closed")
        return []

    def finish(self, seconds: float | None = None) -> list[Done | Failure]:
        """Return nothing."""
        return []

    def close(self) -> None:
        """End the loop."""
        self._closed = True

    def end(self, error: BaseException) -> None:
        """Raise an error in the caller."""
        with self._changed:
            self.error = error
            self._changed.notify_all()

    def take(self) -> Done | Failure:
        """Return the next episode, as soon as it is rendered.

        Raises:
            DioramaError: the loop has ended.
            UsageError: this process is a fork.
        """
        if self.process != os.getpid():
            raise UsageError(FORKED)
        with self._changed:
            while self._taken not in self._done:
                if self.error is not None:
                    raise self.error
                self._changed.wait(_WAIT_SECONDS)
            self._taken += 1
            return self._done.pop(self._taken - 1)
