"""The episodes that wait for a worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from diorama.render.run.worker import Failure, Task


class Waiting(deque[Task | Failure]):
    """The next episodes, read one ahead, and those of lost workers.

    Args:
        tasks: all episodes of the run, as a stream; None while the next one is not ready.

    Attributes:
        ended: whether the stream has been read to its end.
    """

    def __init__(self, tasks: Iterator[Task | Failure | None]) -> None:
        super().__init__()
        self._tasks = tasks
        self.ended = False

    def read(self) -> bool:
        """Read one more; return whether there was one."""
        try:
            task = next(self._tasks)
        except StopIteration:
            self.ended = True
            return False
        if task is not None:
            self.append(task)
        return task is not None

    def take(self, fits: Callable[[Task], bool]) -> Task | Failure | None:
        """Remove and return the first failure or the first task that fits, None if there is neither."""
        passed = 0
        while passed < len(self) or self.read():
            task = self[passed]
            if isinstance(task, Failure) or fits(task):
                del self[passed]
                return task
            passed += 1
        return None
