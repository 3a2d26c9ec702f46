"""The episodes that wait for a worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from diorama.render.run.worker import Failure, Task


class Waiting(deque[Task | Failure]):
    """The next episodes, read one ahead, and those of lost workers.

    Args:
        tasks: all episodes of the run, as a stream; None where the next one is not ready.
    """

    def __init__(self, tasks: Iterator[Task | Failure | None]) -> None:
        super().__init__()
        self._tasks = tasks

    def read(self) -> bool:
        """Read one more; return whether there was one."""
        task = next(self._tasks, None)
        if task is not None:
            self.append(task)
        return task is not None

    def take(self, fits: Callable[[Task], bool]) -> Task | Failure | None:
        """Remove and return the first failure or the first task that fits, None if there is neither."""
        passed = 0
        while passed < len(self) or self.read():
            found = self[passed]
            if isinstance(found, Failure) or fits(found):
                del self[passed]
                return found
            passed += 1
        return None
