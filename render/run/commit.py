"""The committer of a run: a thread that writes rows into the store while the run goes on rendering."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence

from diorama.render.run.options import RunOptions
from diorama.render.run.worker import Done, Failure
from diorama.render.store.columns import JOB_COLUMNS
from diorama.render.store.episode_store import KEY, PutResult, ids_filter
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.resume import put_first
from diorama.render.store.rows import decode, job_of_row
from diorama.scene_specs.errors import ConflictError, StoreError, counted

log = logging.getLogger(__name__)

# Limits of one commit: seconds of work that a kill would cost, and episodes.
_COMMIT_SECONDS = 5.0
_MOST_ROWS = 64
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 30.0


class Committer:
    """Commits of added episodes, in groups, each in a thread of its own. Call all methods from one thread.

    While the store fails, it retries for `store_wait` seconds, and `full` bounds how many episodes the run renders.

    Args:
        store: open for writing.
        options: of the run.
        warn: called with a line about each failed try.

    Attributes:
        seconds: time spent on all commits.
        last_seconds: time spent on the last commit.
        hurry: set it to end the wait between two tries; one last try follows.
    """

    def __init__(self, store: LanceStore, options: RunOptions, warn: Callable[[str], None] = log.warning) -> None:
        self._store, self._warn = store, warn
        self._every, self._patience = options.commit_every, options.store_wait
        self._any_series = options.mix_series
        self._pending: list[Done] = []
        self._done: queue.SimpleQueue[list[Done | Failure] | BaseException] = queue.SimpleQueue()
        self._in_work = self._stored = 0
        self._since = time.monotonic()
        self.seconds = self.last_seconds = 0.0
        self.hurry = threading.Event()
        self._thread = threading.Thread()

    @property
    def unsaved(self) -> int:
        """Number of rendered episodes that are not known to be in the store."""
        return len(self._pending) + self._in_work

    @property
    def full(self) -> bool:
        """Whether to stop rendering until the store has taken some episodes."""
        return len(self._pending) >= 4 * max(self._every, _MOST_ROWS)

    def add(self, done: Done) -> None:
        """Add an episode to commit soon."""
        if not self._pending:
            self._since = time.monotonic()
        self._pending.append(done)

    def add_failure(self, failure: Failure) -> None:
        """Do nothing: the summary of the run lists failures."""

    def poll(self, force: bool = False) -> list[Done | Failure]:
        """Start a commit if one is due and return what was committed since the last call.

        Args:
            force: start a commit even if none is due.

        Returns:
            A Done for each episode that is now in the store, and a Failure for each that another run has stored, made
            from something else.

        Raises:
            StoreError: the store failed for longer than the options allow.
            ConflictError: the store holds images of another series of Blender.
        """
        finished = self._finished(0.0)
        due = len(self._pending) >= self._every or time.monotonic() - self._since > _COMMIT_SECONDS
        # After a commit, the thread may still tidy up the store.
        if self._pending and not self._in_work and not self._thread.is_alive() and (force or due):
            group, self._pending = self._pending[:_MOST_ROWS], self._pending[_MOST_ROWS:]
            self._since = time.monotonic()
            self._in_work = len(group)
            self._thread = threading.Thread(target=self._commit_group, args=(group,), name="committer", daemon=True)
            self._thread.start()
        return finished

    def finish(self, seconds: float | None = None) -> list[Done | Failure]:
        """Commit everything, waiting at most `seconds`; returns and raises what `poll` does."""
        end = None if seconds is None else time.monotonic() + seconds
        finished: list[Done | Failure] = []
        while self.unsaved and (end is None or time.monotonic() < end):
            finished += self.poll(force=True)
            finished += self._finished(0.2)
        return finished

    def close(self) -> None:
        """Let a commit that fails end with its next try."""
        self.hurry.set()

    def _finished(self, wait: float) -> list[Done | Failure]:
        # Checked before the queue: a thread that ends in between has left its result there.
        alive = self._thread.is_alive()
        try:
            result = self._done.get(wait > 0, wait)
        except queue.Empty:
            if self._in_work and not alive:
                raise StoreError(
                    f"the committing thread has ended; {self.unsaved} episodes were rendered but are not known to be "
                    "in the store. Run the same command again: it renders only what is missing"
                ) from None
            return []
        self._in_work = 0
        if isinstance(result, BaseException):
            raise result
        return result

    def _commit_group(self, group: list[Done]) -> None:
        try:
            start = time.monotonic()
            outcome = self._commit_or_retry(group)
            self.last_seconds = round(time.monotonic() - start, 4)
            self.seconds += self.last_seconds
            self._done.put(outcome)
            self._store.maybe_compact()
        except BaseException as error:  # raised again in the run's thread
            self._done.put(error)

    def _commit_or_retry(self, group: list[Done]) -> list[Done | Failure]:
        """Put a group, and retry while the store fails; putting the same rows twice is harmless."""
        give_up = time.monotonic() + self._patience
        wait = _FIRST_WAIT
        parts = [done.row for done in group]
        while True:
            last = self.hurry.is_set()
            try:
                left_alone = self._put_parts(parts).unchanged
                failures = conflicting_commits(self._store, parts) if left_alone else []
                failed = {failure.episode_id: failure for failure in failures}
                self._stored += len(group) - len(failed)
                return [failed.get(done.episode_id, done) for done in group]
            except StoreError as error:
                left = give_up - time.monotonic()
                if error.permanent:
                    raise
                if left <= 0 or last:
                    raise StoreError(
                        f"{error}\nThe store accepted nothing for {self._patience - left:.0f} s; "
                        f"{counted(self._stored, 'episode')} of this run are stored. Free its disk or make it "
                        "reachable, then run the same command again: it renders only what is missing"
                    ) from error
                pause = min(wait, left)
                self._warn(f"{error}; rendering pauses soon; retrying in {pause:.0f} s, for at most {left:.0f} s")
                self.hurry.wait(pause)
                wait = min(2 * wait, _LONGEST_WAIT)
            try:
                self._store.refresh()
            except StoreError as error:
                log.debug("refreshing: %s", error)

    def _put_parts(self, parts: list[bytes]) -> PutResult:
        if self._any_series:
            return self._store.put_encoded(parts)
        keys = {row[KEY]: job_of_row(row) for row in decode(parts).select(JOB_COLUMNS).to_pylist()}
        result = put_first(self._store, keys, lambda: self._store.put_encoded(parts))
        self._any_series = True
        return result


def conflicting_commits(store: LanceStore, parts: Sequence[bytes]) -> list[Failure]:
    """Return a failure for each of the rows just put whose id is stored with another RenderKey.

    Called if a put left ids unchanged. A row that was put twice, or that another run made with the same RenderKey, is
    no failure.

    Args:
        store: that has the rows.
        parts: of the rows, as for `put_encoded`.

    Raises:
        StoreError: the store can't be read.
    """
    columns = [KEY, "job_hash"]
    ours = {row[KEY]: row["job_hash"] for row in decode(parts).select(columns).to_pylist()}
    store.refresh()
    stored = {row[KEY]: row["job_hash"] for row in store.scan(columns, ids_filter([*ours]))}
    return [
        conflict_failure(name, store.url, f"render key {stored[name][:12]}, and {key[:12]} here")
        for name, key in ours.items()
        if stored.get(name, key) != key
    ]


def conflict_failure(episode_id: str, url: str, differs: str) -> Failure:
    """Return the failure of an episode that another run stored since this run began, made from something else.

    Args:
        episode_id: of the episode.
        url: of the store.
        differs: what is stored and what this run wanted, "" if unknown.
    """
    shown = f" ({differs})" if differs else ""
    return Failure(
        episode_id,
        ConflictError.__name__,
        f"episode {episode_id}: another run has stored it in {url} since this run began, made from something "
        f"else{shown}; the stored episode stays. Run the same command again to see what differs, with --replace to "
        "render it again, or with --keep to leave it",
    )
