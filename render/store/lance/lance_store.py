"""The dataset store on Lance. The settings in here are correctness, each shown by running it without.

- `use_index(False)` and the key's metadata (render.store.lance.columns): without both, racing upserts make duplicates.
- Always merge_insert: an append that races one makes duplicates.
- The same new id twice in one batch would be inserted twice: batches are deduplicated first.
- merge_insert commits by itself: committing its transaction through `LanceDataset.commit` loses what makes two inserts
  of one id conflict (seen in pylance 14), so nothing can be synced between data and manifest; see `opening.torn_file`.

lance is imported inside functions: that costs most of a second. Don't fork after a store was opened; pickling one
opens it anew in the other process.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from render.model.errors import StoreError
from render.model.record import EpisodeRecord
from render.store.episode_store import PutResult
from render.store.lance import versions
from render.store.lance.columns import KEY, episode_schema
from render.store.lance.compaction import compact_files, repeated
from render.store.lance.conditional_put import check_conditional_put
from render.store.lance.fsync_commit import sync_commit, sync_tree
from render.store.lance.location import is_remote, nothing_there, probe_location
from render.store.lance.opening import open_dataset
from render.store.lance.reader import BATCH_ROWS, LanceReader, ids_filter
from render.store.lance.rows import decode, table_of
from render.store.lance.translate_errors import LANCE_ERRORS, is_conflict, translate_errors

log = logging.getLogger(__name__)
_T = TypeVar("_T")

_COMMITS_BEFORE_COMPACTION = 200
# Beside Lance's own retries. Waiting at most 0.05 * 2**k s before try k + 2: about 13 s in all.
_TRIES = 9
_FIRST_WAIT = 0.05


class LanceStore(LanceReader):
    """An EpisodeStore in a Lance dataset. Made by `open`, `create`, `open_or_create` or `peek`.

    fsync: whether put waits until the disk has it (25 ms a commit on a usual disk; local stores only).
    """

    def __init__(self, url: str, dataset: Any, fsync: bool = True) -> None:
        super().__init__(url, dataset)
        self._fsync = fsync and not is_remote(url)
        self._commits = 0
        # Asking costs three round trips and the right to write; who only reads has neither to spare.
        self._server_checked = not is_remote(url)

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
        dataset = open_dataset(url)
        return None if dataset is None else cls(url, dataset, fsync)

    @classmethod
    def create(cls, url: str, fsync: bool = True) -> LanceStore:
        """A new, empty store. Raises StoreError if anything is there."""
        if probe_location(url) == "dataset":
            raise StoreError(f"{url}: there is a store already")
        check_conditional_put(url)
        import lance

        with translate_errors(url, "making a store"):
            dataset = lance.write_dataset(episode_schema().empty_table(), url, mode="create")
        store = cls(url, dataset, fsync)
        store._server_checked = True
        if store._fsync:
            sync_tree(Path(url))
        return store

    @classmethod
    def open_or_create(cls, url: str, fsync: bool = True) -> LanceStore:
        """The store at a path or URL, made if nothing is there; several processes may do so at once.

        For writing: a server without conditional PUT is refused here and not after the first pictures.
        """
        store = cls.peek(url, fsync)
        if store is None:
            try:
                return cls.create(url, fsync)
            except StoreError as error:
                # Where another process was first, its store is there whole: a manifest is what makes a store.
                store = cls.peek(url, fsync)
                if store is None:
                    raise error
        store._check_server()
        return store

    def _check_server(self) -> None:
        if not self._server_checked:
            check_conditional_put(self._url)
            self._server_checked = True

    def put(self, records: Sequence[EpisodeRecord]) -> PutResult:
        """Commit episodes in one step; when it returns they are there. Of one id the latest attempt stays."""
        return self._merge(table_of(records), "source.attempt > target.attempt")

    def put_encoded(self, parts: Sequence[bytes]) -> PutResult:
        """As `put`, of records that render.store.lance.rows.encode was given, in this process or another."""
        return self._merge(decode(parts), "source.attempt > target.attempt")

    def replace(self, records: Sequence[EpisodeRecord]) -> PutResult:
        """Commit episodes in one step whatever attempt is stored; of one id in the batch the latest attempt stays.

        What was there before stays in the history.
        """
        return self._merge(table_of(records), None)

    def _merge(self, table: pa.Table, condition: str | None) -> PutResult:
        table = _newest_of_each(table)
        count = table.num_rows
        if not count:
            return PutResult(0, 0, 0)

        def merge() -> dict[str, int]:
            builder = self._dataset.merge_insert(KEY).use_index(False)
            builder = builder.when_matched_update_all(condition).when_not_matched_insert_all()
            result: dict[str, int] = builder.execute(table)
            return result

        result = self._commit(merge, f"committing {count} episodes, {table.column(KEY)[0].as_py()} the first,")
        inserted, updated = result["num_inserted_rows"], result["num_updated_rows"]
        return PutResult(inserted, updated, count - inserted - updated)

    def _commit(self, change: Callable[[], _T], what: str) -> _T:
        """Make a change that is safe to repeat, again while other writers are in the way, and bring it to the disk."""
        self._check_server()
        for number in range(_TRIES):
            with translate_errors(self._url, what):
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

    def delete(self, episode_ids: Sequence[str]) -> int:
        """Take episodes out; returns how many were there. They stay in the history."""
        return self.delete_where(ids_filter(episode_ids)) if episode_ids else 0

    def delete_where(self, condition: str) -> int:
        """Take out the rows that an SQL-like condition holds for; returns how many there were."""
        before = self.count(condition)
        self._commit(lambda: self._dataset.delete(condition), f"deleting {before} episodes")
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
            self._reopen()
            return False
        self._check_unique()
        self._reopen()
        return True

    def _reopen(self) -> None:
        # A dataset that commits holds on to 10 KB an episode until it is dropped, whatever its caches' sizes (pylance
        # 14: 170 MB after 16,000 episodes, 140 of which are free again once it is gone).
        dataset = open_dataset(self._url)
        if dataset is None:
            raise nothing_there(self._url)
        self._dataset = dataset

    def compact(self) -> None:
        """Merge small files, bring the index up to date; for a quiet moment. StoreError if an id is there twice."""
        self._compact_files()
        self._check_unique()

    def _compact_files(self) -> None:
        self._check_server()
        self.refresh()
        with translate_errors(self._url, "compaction (nothing is lost)"):
            compact_files(self._dataset, BATCH_ROWS)
            if self._fsync:
                sync_tree(Path(self._url))

    def _check_unique(self) -> None:
        twice = repeated(key for key, _ in self.ids())
        if twice:
            raise StoreError(
                f"{self._url}: {len(twice)} episodes are there twice, {twice[0]} the first; "
                f"`render-store verify {self._url} --repair` keeps the newest of each"
            )

    def clean_up(self, older_than: timedelta) -> int:
        """Take away versions older than that, a day at least, but tagged ones; returns the bytes freed."""
        self._check_server()
        return versions.clean_up(self._url, self._dataset, older_than)

    def tag(self, name: str, version: int | None = None) -> int:
        """Name a version, the newest for None; returns it. Raises StoreError if the name is taken."""
        return versions.tag(self._url, self._dataset, name, version)

    def untag(self, name: str) -> None:
        """Take a tag away. Raises StoreError if there is none of this name."""
        versions.untag(self._url, self._dataset, name)

    def refresh(self) -> None:
        """See what others have committed since."""
        with translate_errors(self._url, "reading its latest version"):
            self._dataset.checkout_latest()


def _newest_of_each(table: pa.Table) -> pa.Table:
    """Rows without those of an id that has a later attempt in the same table, or an equal one before it."""
    best: dict[str, tuple[int, int]] = {}
    for row, (key, attempt) in enumerate(
        zip(table.column(KEY).to_pylist(), table.column("attempt").to_pylist(), strict=True)
    ):
        if key not in best or attempt > best[key][0]:
            best[key] = (attempt, row)
    return table if len(best) == table.num_rows else table.take([row for _, row in best.values()])
