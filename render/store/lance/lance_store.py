"""The dataset store on Lance. These settings are needed for correctness, each shown by running without it.

- `use_index(False)` and the key's metadata (diorama.render.store.columns): without both, racing upserts make
  duplicates.
- Always merge_insert: an append that races one makes duplicates.
- The same new id twice in one batch would be inserted twice: batches are deduplicated first.
- merge_insert commits by itself: committing its transaction through `LanceDataset.commit` loses what makes two inserts
  of one id conflict (seen in pylance 14), so nothing can be synced between data and manifest; see
  `durability.torn_file`.

lance is imported inside functions: the import takes most of a second. Don't fork after opening a store; pickling a
store opens it again in the other process.
"""

from __future__ import annotations

import logging
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from diorama.render.store.columns import SCHEMA_VERSION, VERSION_KEY, episode_schema
from diorama.render.store.episode_store import BATCH_ROWS, KEY, PutResult, ids_filter, is_remote
from diorama.render.store.lance.durability import sync_commit, sync_tree
from diorama.render.store.lance.errors import LANCE_ERRORS, is_conflict, translate_errors
from diorama.render.store.lance.location import check_conditional_put, check_writable, probe_location
from diorama.render.store.lance.reader import LanceReader, find_dataset, open_dataset
from diorama.render.store.rows import decode, table_of
from diorama.scene_specs.errors import StoreError, UsageError, counted
from diorama.scene_specs.model.record import EpisodeRecord

log = logging.getLogger(__name__)
_T = TypeVar("_T")

# Lance can't list a tag with other characters, or refuses it; one of digits would stand for a version number.
_TAG = re.compile(r"(?![0-9]+$)(?!.*\.(lock$|\.))[A-Za-z0-9_-]([A-Za-z0-9._-]*[A-Za-z0-9_-])?")

_NEWER_ATTEMPT = "source.attempt > target.attempt"
_COMMITS_BEFORE_COMPACTION = 200
# In addition to Lance's own retries. Waits at most 0.05 * 2**k s before try k + 2: about 13 s in total.
_TRIES = 9
_FIRST_WAIT = 0.05
# A commit looks through the ids of every fragment: 39 ms at a million rows in 75 fragments, 146 ms at 300,000 in 1,012.
_MOST_FRAGMENTS = 64
_FRAGMENT_ROWS = 1024
# Deleting younger versions while another process wrote corrupted 7 of 10 stores.
LEAST_AGE = timedelta(days=1)


class LanceStore(LanceReader):
    """Read and write access to a store. Use `open`, `create`, `open_or_create` or `peek` to get one.

    All methods raise StoreError if the store can't be read or written. Reads see what was committed when the store was
    opened or last refreshed, and the store's own puts.

    Args:
        fsync: whether put waits until the data is on the disk (25 ms per commit on a usual disk; local stores only).
    """

    def __init__(self, url: str, dataset: Any, fsync: bool = True) -> None:
        super().__init__(url, dataset)
        self._fsync = fsync and not is_remote(url)
        self._commits = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return (LanceStore.open, (self.url, self._fsync))

    @classmethod
    def open(cls, url: str, fsync: bool = True) -> LanceStore:
        """Open the store at a path or URL. Raises StoreError if there is none."""
        return cls(url, open_dataset(url), fsync)

    @classmethod
    def peek(cls, url: str, fsync: bool = True) -> LanceStore | None:
        """Open a store as `open`, or return None if nothing is there."""
        dataset = find_dataset(url)
        return None if dataset is None else cls(url, dataset, fsync)

    @classmethod
    def create(cls, url: str, fsync: bool = True) -> LanceStore:
        """Create an empty store. Raises StoreError if anything is there."""
        if probe_location(url) == "dataset":
            raise StoreError(f"{url}: there is a store already")
        check_conditional_put(url)
        import lance

        with translate_errors(url, "creating a store"):
            dataset = lance.write_dataset(episode_schema().empty_table(), url, mode="create")
        store = cls(url, dataset, fsync)
        if store._fsync:
            sync_tree(Path(url))
        return store

    @classmethod
    def open_or_create(cls, url: str, fsync: bool = True) -> LanceStore:
        """Open the store at a path or URL, or create it; safe in several processes at once.

        For writing: fails here, not after the first images, for a store that can't be written, and for a server without
        conditional PUT.
        """
        store = cls.peek(url, fsync)
        if store is None:
            try:
                return cls.create(url, fsync)
            except StoreError:
                # If another process created the store first, it is complete: a manifest makes it a store.
                store = cls.peek(url, fsync)
                if store is None:
                    raise
        check_writable(url)
        return store

    def put(self, records: Sequence[EpisodeRecord]) -> PutResult:
        """Commit episodes in one atomic step. Safe to repeat; of each id the latest attempt stays."""
        return self._merge(table_of(records), _NEWER_ATTEMPT)

    def put_encoded(self, parts: Sequence[bytes]) -> PutResult:
        """Commit records encoded by diorama.render.store.rows.encode, in this process or another.

        Otherwise, it does what `put` does.
        """
        return self._merge(decode(parts), _NEWER_ATTEMPT)

    def replace(self, records: Sequence[EpisodeRecord]) -> PutResult:
        """Commit episodes in one atomic step and replace any stored attempt; of an id in the batch the latest stays.

        Replaced episodes stay in the history.
        """
        return self._merge(table_of(records), None)

    def _merge(self, table: pa.Table, condition: str | None) -> PutResult:
        table = _newest_of_each(table)
        count = table.num_rows
        if not count:
            return PutResult(0, 0, 0)
        self.migrate()

        def merge() -> dict[str, int]:
            builder = self._dataset.merge_insert(KEY).use_index(False)
            builder = builder.when_matched_update_all(condition).when_not_matched_insert_all()
            result: dict[str, int] = builder.execute(table)
            return result

        episodes = counted(count, "episode")
        result = self._commit(merge, f"committing {episodes}, {table.column(KEY)[0].as_py()} the first,")
        inserted, updated = result["num_inserted_rows"], result["num_updated_rows"]
        return PutResult(inserted, updated, count - inserted - updated)

    def _commit(self, change: Callable[[], _T], action: str) -> _T:
        """Make a change that is safe to repeat and sync it; retry while other writers are in the way."""
        check_conditional_put(self.url)
        for number in range(_TRIES):
            with translate_errors(self.url, action):
                try:
                    before = self._dataset.version
                    result = change()
                    if self._fsync and self._dataset.version != before:
                        sync_commit(Path(self.url), self._dataset)
                    self._commits += 1
                    return result
                except LANCE_ERRORS as error:
                    if not is_conflict(error) or number == _TRIES - 1:
                        raise
                wait = _FIRST_WAIT * 2**number * random.uniform(0.5, 1.0)
                log.info("%s: another writer committed first; retrying in %.2f s", self.url, wait)
                time.sleep(wait)
                self.refresh()
        raise AssertionError("the last try returns or raises")

    def migrate(self) -> int:
        """Mark a store of an older schema version as one of the newest, which older versions of Diorama then refuse.

        Its rows stay as they are. Every commit of episodes does this first. Returns the schema version that it had.
        """
        before = self.schema_version
        if before < SCHEMA_VERSION:
            newest = {VERSION_KEY.decode(): str(SCHEMA_VERSION)}
            action = f"migration from schema version {before}"
            self._commit(lambda: self._dataset.update_schema_metadata(newest), action)
            log.info("%s: schema version %d is now %d", self.url, before, SCHEMA_VERSION)
        return before

    def delete(self, episode_ids: Sequence[str]) -> int:
        """Delete episodes and return how many were stored. They stay in the history."""
        return self.delete_where(ids_filter(episode_ids)) if episode_ids else 0

    def delete_where(self, condition: str) -> int:
        """Delete the rows that match a SQL filter and return their number."""
        matching = self.count(condition)
        self._commit(lambda: self._dataset.delete(condition), f"deleting {counted(matching, 'episode')}")
        return matching

    def maybe_compact(self) -> None:
        """Compact after 200 commits. A conflict with a busy writer only postpones it."""
        if self._commits < _COMMITS_BEFORE_COMPACTION:
            return
        self._commits = 0
        try:
            self._compact_files()
        except StoreError as error:
            log.warning("compaction postponed: %s", error)
        else:
            self._check_unique()
        # A dataset that commits keeps 10 KB per episode until it is dropped, whatever its cache sizes (pylance 14:
        # 170 MB after 16,000 episodes, 140 of which are free again once it is gone).
        self._dataset = open_dataset(self.url)

    def compact(self) -> None:
        """Merge small files and update the index; run it when nobody writes. Raises StoreError for a duplicate id."""
        self._compact_files()
        self._check_unique()

    def _compact_files(self) -> None:
        """Merge small fragments and update the BTREE index on the id.

        Old versions stay: deleting them while another process writes corrupts, and they are the history of episodes.
        """
        check_conditional_put(self.url)
        self.refresh()
        with translate_errors(self.url, "compaction (nothing is lost)"):
            wanted, rows = _FRAGMENT_ROWS, self._dataset.count_rows()
            # In powers of two, so that an episode is copied a few times in the life of a store and not at every
            # compaction.
            while rows > wanted * _MOST_FRAGMENTS:
                wanted *= 2
            self._dataset.optimize.compact_files(
                target_rows_per_fragment=wanted, compaction_mode="try_binary_copy", num_threads=1, batch_size=BATCH_ROWS
            )
            if any(KEY in index.field_names for index in self._dataset.describe_indices()):
                self._dataset.optimize.optimize_indices()
            elif rows:
                self._dataset.create_scalar_index(KEY, "BTREE")
            if self._fsync:
                sync_tree(Path(self.url))

    def _check_unique(self) -> None:
        # Two settings keep racing writers from duplicates; neither is proven.
        duplicates = sorted(key for key, count in Counter(key for key, _ in self.ids()).items() if count > 1)
        if duplicates:
            count = f"{counted(len(duplicates), 'episode')} {'is' if len(duplicates) == 1 else 'are'}"
            raise StoreError(
                f"{self.url}: {count} stored twice, {duplicates[0]} the first; "
                f"`render-store verify {self.url} --repair` keeps the newest of each"
            )

    def clean_up(self, older_than: timedelta, least_age: timedelta = LEAST_AGE) -> int:
        """Delete untagged versions that are older than `older_than` and return the freed bytes. History ends there.

        Args:
            least_age: lower it only in tests without another writer.

        Raises:
            UsageError: if `older_than` is below it.
        """
        check_conditional_put(self.url)
        if older_than < least_age:
            raise UsageError(
                f"versions younger than {least_age} stay: deleting them while another process writes damages a store"
            )
        with translate_errors(self.url, "cleaning up old versions (nothing of the newest is lost)"):
            # delete_unverified would also delete files that a commit in progress has just written.
            stats = self._dataset.cleanup_old_versions(
                older_than=older_than, delete_unverified=False, error_if_tagged_old_versions=False
            )
        return int(stats.bytes_removed)

    def tag(self, name: str, version: int | None = None) -> int:
        """Tag a version, the newest for None; return its number.

        Raises:
            UsageError: for a name that is not allowed.
            StoreError: for a used tag or no version.
        """
        if not _TAG.fullmatch(name):
            raise UsageError(
                f"tag {name!r}: expected letters A-Z and a-z, digits, _ and -, and dots between them, not only digits"
            )
        with translate_errors(self.url, f"tagging {name!r}"):
            number = self.version if version is None else version
            self._dataset.tags.create(name, number)
        return number

    def untag(self, name: str) -> None:
        """Remove a tag; its version stays until it is cleaned up. Raises StoreError for an unknown tag."""
        with translate_errors(self.url, f"removing the tag {name!r}"):
            self._dataset.tags.delete(name)

    def refresh(self) -> None:
        """Make commits of other writers visible."""
        with translate_errors(self.url, "reading its latest version"):
            self._dataset.checkout_latest()


def _newest_of_each(table: pa.Table) -> pa.Table:
    """Return the rows with the latest attempt of each id; of equal attempts the first."""
    best: dict[str, tuple[int, int]] = {}
    for row, (key, attempt) in enumerate(
        zip(table.column(KEY).to_pylist(), table.column("attempt").to_pylist(), strict=True)
    ):
        if key not in best or attempt > best[key][0]:
            best[key] = (attempt, row)
    return table if len(best) == table.num_rows else table.take([row for _, row in best.values()])
