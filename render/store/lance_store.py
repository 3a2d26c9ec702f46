"""The dataset store on Lance. The settings in here are correctness, each shown by running it without.

- `use_index(False)` and the key's metadata (render.store.schema): without both, racing upserts make duplicates.
- Always merge_insert: an append that races one makes duplicates.
- The same new id twice in one batch would be inserted twice: batches are deduplicated first.
- Reading in small batches: by default a batch is a whole file, with all its pictures in memory.

lance is imported inside functions: that costs most of a second. Don't fork after a store was opened; pickling one
opens it anew in the other process.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from render.errors import StoreError
from render.record import EpisodeRecord, Job
from render.store.base import PutResult
from render.store.compaction import compact_files, repeated
from render.store.durable import sync_commit, sync_tree
from render.store.failures import LANCE_ERRORS, explained, is_conflict
from render.store.place import check_conditional_put, is_remote, look, nothing_there
from render.store.rows import job_of_row, record_of, table_of
from render.store.schema import KEY, RECORD_COLUMNS, check_schema, episode_schema

log = logging.getLogger(__name__)
_T = TypeVar("_T")

_BATCH_ROWS = 32
_ID_BATCH_ROWS = 8192
_COMMITS_BEFORE_COMPACTION = 200
# Beside Lance's own retries. Waiting at most 0.05 * 2**k s before try k + 2: about 13 s in all.
_TRIES = 9
_FIRST_WAIT = 0.05


class LanceStore:
    """An EpisodeStore in a Lance dataset. Made by `open`, `create`, `open_or_create` or `peek`.

    fsync: whether put waits until the disk has it (25 ms a commit on a usual disk; local stores only).
    """

    def __init__(self, url: str, dataset: Any, fsync: bool = True) -> None:
        self._url = url
        self._dataset = dataset
        self._fsync = fsync and not is_remote(url)
        self._commits = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return (LanceStore.open, (self._url, self._fsync))

    @classmethod
    def open(cls, url: str, fsync: bool = True) -> LanceStore:
        """The store at a path or URL. Raises StoreError, naming what is there instead."""
        store = cls.peek(url, fsync)
        if store is None:
            raise nothing_there(url)
        return store

    @classmethod
    def peek(cls, url: str, fsync: bool = True) -> LanceStore | None:
        """As `open`, but None where nothing is yet."""
        found = look(url)
        if found == "nothing":
            return None
        import lance

        with explained(url, "opening"):
            try:
                dataset = lance.dataset(url)
            except ValueError as error:
                if found == "remote" and "not found" in str(error).lower():
                    return None
                raise
        check_schema(url, dataset.schema)
        check_conditional_put(url)
        return cls(url, dataset, fsync)

    @classmethod
    def create(cls, url: str, fsync: bool = True) -> LanceStore:
        """A new, empty store. Raises StoreError if anything is there."""
        if look(url) == "dataset":
            raise StoreError(f"{url}: there is a store already")
        import lance

        with explained(url, "making a store"):
            dataset = lance.write_dataset(episode_schema().empty_table(), url, mode="create")
        store = cls(url, dataset, fsync)
        if store._fsync:
            sync_tree(Path(url))
        check_conditional_put(url)
        return store

    @classmethod
    def open_or_create(cls, url: str, fsync: bool = True) -> LanceStore:
        """The store at a path or URL, made if nothing is there; several processes may do so at once."""
        store = cls.peek(url, fsync)
        if store is not None:
            return store
        try:
            return cls.create(url, fsync)
        except StoreError as error:
            # Where another process was first, its store is there whole: a manifest is what makes a store.
            store = cls.peek(url, fsync)
            if store is not None:
                return store
            raise error

    @property
    def url(self) -> str:
        """Where it is: a path or a URL."""
        return self._url

    def put(self, records: Sequence[EpisodeRecord]) -> PutResult:
        """Commit episodes in one step; when it returns they are there. Of one id the latest attempt stays."""
        newest: dict[str, EpisodeRecord] = {}
        for record in records:
            other = newest.get(record.episode_id)
            if other is None or record.provenance.attempt > other.provenance.attempt:
                newest[record.episode_id] = record
        if not newest:
            return PutResult(0, 0, 0)
        table = table_of(list(newest.values()))

        def merge() -> dict[str, int]:
            builder = self._dataset.merge_insert(KEY).use_index(False)
            builder = builder.when_matched_update_all("source.attempt > target.attempt").when_not_matched_insert_all()
            result: dict[str, int] = builder.execute(table)
            return result

        result = self._commit(merge, f"committing {len(newest)} episodes, {next(iter(newest))} the first,")
        inserted, updated = result["num_inserted_rows"], result["num_updated_rows"]
        return PutResult(inserted, updated, len(newest) - inserted - updated)

    def _commit(self, change: Callable[[], _T], what: str) -> _T:
        """Make a change that is safe to repeat, again while other writers are in the way, and bring it to the disk."""
        for number in range(_TRIES):
            with explained(self._url, what):
                try:
                    return self._once(change)
                except LANCE_ERRORS as error:
                    if not is_conflict(error) or number == _TRIES - 1:
                        raise
                wait = _FIRST_WAIT * 2**number * random.uniform(0.5, 1.0)
                log.info("%s: another writer was first; trying again in %.2f s", self._url, wait)
                time.sleep(wait)
                self.refresh()
        raise AssertionError("the last try returns or raises")

    def _once(self, change: Callable[[], _T]) -> _T:
        before = self._dataset.version
        result = change()
        if self._fsync and self._dataset.version != before:
            sync_commit(Path(self._url), self._dataset)
        self._commits += 1
        return result

    def get(self, episode_id: str) -> EpisodeRecord:
        """One episode. Raises StoreError if it isn't there, DamagedError if it isn't as it was put."""
        return self.get_many([episode_id])[0]

    def get_many(self, episode_ids: Sequence[str]) -> list[EpisodeRecord]:
        """Episodes in the order asked for, all in memory at once. Raises as `get`."""
        if not episode_ids:
            return []
        rows = {row[KEY]: row for row in self.scan(RECORD_COLUMNS, _among(episode_ids))}
        missing = [episode_id for episode_id in episode_ids if episode_id not in rows]
        if missing:
            raise StoreError(f"{self._url}: episode {missing[0]} is not in the store")
        return [record_of(rows[episode_id]) for episode_id in episode_ids]

    def job(self, episode_id: str) -> Job:
        """What an episode was made from. Raises StoreError if it isn't there."""
        for row in self.scan([KEY, "job"], _among([episode_id])):
            return job_of_row(row)
        raise StoreError(f"{self._url}: episode {episode_id} is not in the store")

    def ids(self) -> Iterator[tuple[str, str]]:
        """(episode id, job hash) of every episode, in no promised order."""
        for batch in self._batches([KEY, "job_hash"], None, _ID_BATCH_ROWS):
            yield from zip(batch.column(KEY).to_pylist(), batch.column("job_hash").to_pylist(), strict=True)

    def scan(
        self, columns: Sequence[str], where: str | None = None, batch_size: int = _BATCH_ROWS
    ) -> Iterator[dict[str, Any]]:
        """Chosen columns of every row, or of those that the SQL-like condition `where` holds for."""
        for batch in self._batches(columns, where, batch_size):
            yield from batch.to_pylist()

    def _batches(self, columns: Sequence[str], where: str | None, batch_size: int) -> Iterator[Any]:
        what = ", ".join(columns) + (f" where {where[:200]}" if where else "")
        with explained(self._url, f"reading {what}"):
            # Little read ahead: each batch on its way holds its pictures in memory.
            yield from self._dataset.to_batches(
                columns=list(columns), filter=where, batch_size=batch_size, batch_readahead=2, fragment_readahead=2
            )

    def count(self, where: str | None = None) -> int:
        """How many episodes, or how many that `where` holds for."""
        with explained(self._url, f"counting where {where}"):
            return int(self._dataset.count_rows(filter=where))

    def exists(self, episode_id: str) -> bool:
        """Whether an episode is there."""
        return self.count(_among([episode_id])) > 0

    def delete(self, episode_ids: Sequence[str]) -> int:
        """Take episodes out; returns how many were there."""
        if not episode_ids:
            return 0
        before = self.count(_among(episode_ids))
        self._commit(lambda: self._dataset.delete(_among(episode_ids)), f"deleting {len(episode_ids)} episodes")
        return before

    def maybe_compact(self) -> bool:
        """Compact if 200 commits were made since the last time; whether it did. Losing to a busy writer is no error."""
        if self._commits < _COMMITS_BEFORE_COMPACTION:
            return False
        self._commits = 0
        try:
            self._compact_files()
        except StoreError as error:
            log.warning("compaction put off: %s", error)
            self.refresh()
            return False
        self._check_unique()
        return True

    def compact(self) -> None:
        """Merge small files, bring the index up to date; for a quiet moment. StoreError if an id is there twice."""
        self._compact_files()
        self._check_unique()

    def _compact_files(self) -> None:
        self.refresh()
        with explained(self._url, "compaction (nothing is lost)"):
            compact_files(self._dataset, _BATCH_ROWS)
            if self._fsync:
                sync_tree(Path(self._url))

    def _check_unique(self) -> None:
        twice = repeated(key for key, _ in self.ids())
        if twice:
            raise StoreError(
                f"{self._url}: {len(twice)} episodes are there twice, {twice[0]} the first; "
                "delete them and render them again"
            )

    def refresh(self) -> None:
        """See what others have committed since."""
        with explained(self._url, "reading its latest version"):
            self._dataset.checkout_latest()

    def close(self) -> None:
        """Give back what it holds."""
        self._dataset = None


def _among(episode_ids: Sequence[str]) -> str:
    quoted = ["'" + episode_id.replace("'", "''") + "'" for episode_id in episode_ids]
    return f"{KEY} = {quoted[0]}" if len(quoted) == 1 else f"{KEY} IN ({', '.join(quoted)})"
