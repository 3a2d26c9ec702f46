"""The one committer of a run: a thread that brings rows into the store while the run goes on rendering."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

from render.model.errors import StoreError
from render.run.collisions import conflicting_commits
from render.run.worker import Done, Failure
from render.store.episode_store import EpisodeStore

log = logging.getLogger(__name__)

# A commit holds at most so many seconds of work that a kill would cost, and so many episodes.
_COMMIT_SECONDS = 5.0
_MOST_ROWS = 64
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 30.0


class Committer:
    """Commits what is added, in groups; each Done that `poll` gives is in the store, each Failure is not.

    every: episodes that make a commit due. patience: seconds to go on trying where the store fails; meanwhile `full`
    stops the run from rendering more than a bounded number of episodes. tell: called with a line about each trouble.
    seconds, last_seconds: spent committing, in all and the last time. All methods are for the run's own thread.
    """

    def __init__(
        self, store: EpisodeStore, every: int, patience: float, tell: Callable[[str], None] = log.warning
    ) -> None:
        self._store, self._every, self._patience, self._tell = store, every, patience, tell
        self._pending: list[Done] = []
        self._work: queue.SimpleQueue[list[Done] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[list[Done | Failure] | BaseException] = queue.SimpleQueue()
        self._in_work = 0
        self._since = time.monotonic()
        self.seconds = self.last_seconds = 0.0
        # Set to end the waiting between two tries: one last try is made.
        self.hurry = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="committer", daemon=True)
        self._thread.start()

    @property
    def unsaved(self) -> int:
        """Episodes that were made and are not known to be in the store."""
        return len(self._pending) + self._in_work

    @property
    def full(self) -> bool:
        """Whether to render no more until the store has taken some."""
        return len(self._pending) >= 4 * max(self._every, _MOST_ROWS)

    def add(self, done: Done) -> None:
        """An episode to commit, soon."""
        if not self._pending:
            self._since = time.monotonic()
        self._pending.append(done)

    def poll(self, force: bool = False) -> list[Done | Failure]:
        """Start a commit if one is due (force: if there is anything); returns what was committed since the last call.

        A Failure stands for an episode that another run stored before, made from something else.
        Raises StoreError when the store failed for longer than the patience.
        """
        finished = self._finished(0.0)
        due = len(self._pending) >= self._every or time.monotonic() - self._since > _COMMIT_SECONDS
        if self._pending and not self._in_work and (force or due):
            group, self._pending = self._pending[:_MOST_ROWS], self._pending[_MOST_ROWS:]
            self._since = time.monotonic()
            self._in_work = len(group)
            self._work.put(group)
        return finished

    def finish(self, seconds: float | None = None) -> list[Done | Failure]:
        """Commit everything, waiting for it (at most `seconds`); returns as `poll`. Raises StoreError."""
        end = None if seconds is None else time.monotonic() + seconds
        finished: list[Done | Failure] = []
        while self.unsaved and (end is None or time.monotonic() < end):
            finished += self.poll(force=True)
            if self._in_work:
                finished += self._finished(0.2)
        return finished

    def close(self) -> None:
        """End the thread, once it has finished what it is at."""
        self.hurry.set()
        self._work.put(None)

    def _finished(self, wait: float) -> list[Done | Failure]:
        # Asked first: what a thread that is dead by now has left is in the queue.
        alive = self._thread.is_alive()
        try:
            result = self._done.get(timeout=wait) if wait else self._done.get_nowait()
        except queue.Empty:
            if self._in_work and not alive:
                raise StoreError(
                    f"the thread that commits has ended, and {self.unsaved} episodes that were made are not known to "
                    "be in the store; run the same command again: what it has is whole, and only the rest is rendered"
                ) from None
            return []
        self._in_work = 0
        if isinstance(result, BaseException):
            raise result
        return result

    def _serve(self) -> None:
        while (group := self._work.get()) is not None:
            start = time.monotonic()
            try:
                outcome = self._commit(group)
            except BaseException as error:  # the run's thread is to see it, whatever it is
                self._done.put(error)
                return
            self.last_seconds = round(time.monotonic() - start, 4)
            self.seconds += self.last_seconds
            self._done.put(outcome)
            try:
                self._store.maybe_compact()
            except BaseException as error:
                self._done.put(error)
                return

    def _commit(self, group: list[Done]) -> list[Done | Failure]:
        """Put a group, again and again while the store fails: putting twice what was put is harmless."""
        give_up = time.monotonic() + self._patience
        wait = _FIRST_WAIT
        parts = [done.row for done in group]
        while True:
            last = self.hurry.is_set()
            try:
                left_alone = self._store.put_encoded(parts).unchanged
                failures = conflicting_commits(self._store, parts) if left_alone else []
                failed = {failure.episode_id: failure for failure in failures}
                return [failed.get(done.episode_id, done) for done in group]
            except StoreError as error:
                left = give_up - time.monotonic()
                if left <= 0 or last:
                    raise StoreError(
                        f"{error}\nThe store took nothing for {self._patience - left:.0f} s. Free its disk or make it "
                        "reachable, then run the same command again: what it has is whole, and only the rest "
                        "is rendered"
                    ) from error
                pause = min(wait, left)
                self._tell(f"{error}; rendering pauses soon; trying again in {pause:.0f} s, for {left:.0f} s at most")
                self.hurry.wait(pause)
                wait = min(2 * wait, _LONGEST_WAIT)
            self._refresh()

    def _refresh(self) -> None:
        try:
            self._store.refresh()
        except StoreError as error:
            log.debug("refreshing: %s", error)
