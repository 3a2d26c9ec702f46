"""Opening and reading a Lance dataset of episodes, at its newest version or at an older one.

Reads use small batches: by default a batch is a complete file, with all its images in memory.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diorama.render.store.columns import JOB_COLUMNS, RECORD_COLUMNS, check_schema, schema_version
from diorama.render.store.episode_store import BATCH_ROWS, ID_BATCH_ROWS, KEY, ids_filter, is_remote, unknown_id_message
from diorama.render.store.lance.durability import last_complete, torn_file
from diorama.render.store.lance.errors import reason, translate_errors, translate_filter_errors
from diorama.render.store.lance.location import probe_location
from diorama.render.store.rows import job_of_row, record_of
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.model.record import EpisodeRecord, RenderKey

log = logging.getLogger(__name__)

# Lance's own limits are gigabytes: a long export would fill them with data that is never read again.
_INDEX_CACHE_BYTES = 128 << 20
_METADATA_CACHE_BYTES = 64 << 20
# For more ids than that, it is faster to learn once where each row is.
_FEW_IDS = 64
# No version has more, and Python refuses to parse numbers of thousands of digits.
_MOST_DIGITS = 19


def find_dataset(url: str) -> Any | None:
    """Open the lance.LanceDataset of a store; None if nothing is there. Raises StoreError if anything else is."""
    location = probe_location(url)
    if location == "nothing":
        return None
    import lance

    with translate_errors(url, "opening"):
        try:
            dataset = lance.dataset(
                url, index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES
            )
        except (ValueError, OSError) as error:
            if location == "remote" and isinstance(error, ValueError) and "not found" in str(error).lower():
                return None
            back = last_complete(url) if location == "dataset" else None
            advice = f"; version {back} is complete: `render-store repair {url}` goes back to it" if back else ""
            raise StoreError(f"{url}: opening failed: {reason(error)}{advice}") from error
    check_schema(url, dataset.schema)
    _refuse_foreign_files(url, dataset)
    if location == "dataset":
        _check_complete(url, dataset)
    return dataset


def open_dataset(url: str) -> Any:
    """Open the lance.LanceDataset of a store, see `find_dataset`. Raises StoreError if there is no store."""
    dataset = find_dataset(url)
    if dataset is None:
        empty = not is_remote(url) and Path(url).is_dir()
        problem = "is an empty folder, not a store" if empty else "there is no store"
        raise StoreError(f"{url}: {problem}; render-batch SPECS --out {url} creates one")
    return dataset


def _refuse_foreign_files(url: str, dataset: Any) -> None:
    """Raise StoreError for a version with data files in other folders, which Lance would read."""
    for base in dataset.base_paths().values():
        raise StoreError(
            f"{url}: version {dataset.version} has files in another folder, {base.path}; get a copy that has all its "
            "files, made with lance's deep_clone"
        )


def _check_complete(url: str, dataset: Any) -> None:
    torn = torn_file(Path(url), dataset)
    if torn is None:
        return
    back = last_complete(url)
    if back is None:
        # Not a commit that was cut short: an older file was damaged later. The rest of the store can be read.
        log.warning("%s: damaged: %s; `render-store verify %s` lists the episodes", url, torn, url)
        return
    raise StoreError(
        f"{url}: its newest version {dataset.version} is incomplete: {torn}. If the machine lost power during that "
        f"commit, `render-store repair {url}` goes back to version {back}, which has every acknowledged episode"
    )


@dataclass(frozen=True)
class Version:
    """A version of a store: every commit is one, a tag names one.

    It stays until `LanceStore.clean_up` deletes old ones; a tagged one stays as long as its tag.

    Attributes:
        number: counts from 1.
        committed: time in UTC.
        episodes: counts at that version.
        fragments: counts at that version.
    """

    number: int
    committed: datetime
    episodes: int
    fragments: int


class LanceReader:
    """An EpisodeReader of one version of a Lance dataset.

    Args:
        dataset: lance.LanceDataset, opened at that version.
    """

    def __init__(self, url: str, dataset: Any) -> None:
        self.url = url
        self._dataset = dataset
        # The number of ids that `get_many` was asked for at a version, and where that has them: sorted hashes and rows.
        self._placed, self._asked = -1, 0
        self._places: tuple[NDArray[np.int64], NDArray[np.intp]] | None = None

    @classmethod
    def at_version(cls, url: str, version: int | str) -> LanceReader:
        """Open a store for reading at a version, by number or tag. Raises StoreError."""
        store = cls(url, open_dataset(url))
        return store.at_number(store._version_number(version), " (cleaned up, or not committed yet?)")

    def at_number(self, number: int, hint: str = "") -> LanceReader:
        """Return a reader of another version. Raises StoreError, whose text gets the hint."""
        with translate_errors(self.url, f"opening version {number}{hint}"):
            dataset = self._dataset.checkout_version(number)
        _refuse_foreign_files(self.url, dataset)
        return LanceReader(self.url, dataset)

    def _version_number(self, version: int | str) -> int:
        # A number never means a tag: older versions of Diorama allowed tags of digits, and some that Lance can't list.
        if isinstance(version, int) and version >= 0:
            return version
        tags = self.tags()
        if str(version) in tags:
            return tags[str(version)]
        if str(version).isdecimal() and len(str(version)) <= _MOST_DIGITS:
            return int(version)
        raise StoreError(
            f"{self.url}: has no version and no tag {str(version)[:80]!r}; its tags: {', '.join(tags) or 'none'}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (LanceReader.at_version, (self.url, self.version))

    @property
    def version(self) -> int:
        """Number of the version that is read."""
        return int(self._dataset.version)

    @property
    def schema_version(self) -> int:
        """Schema version of the newest commit."""
        return schema_version(self.url, self._dataset.schema)

    def get(self, episode_id: str) -> EpisodeRecord:
        """Return one episode.

        Raises:
            StoreError: for an unknown id.
            DamagedError: if it differs from what was put.
        """
        return self.get_many([episode_id])[0]

    def get_many(self, episode_ids: Sequence[str]) -> list[EpisodeRecord]:
        """Return episodes in the order of `episode_ids`, all in memory at once. Raises as `get`."""
        if not episode_ids:
            return []
        rows = self._take(episode_ids) or {row[KEY]: row for row in self.scan(RECORD_COLUMNS, ids_filter(episode_ids))}
        missing = [episode_id for episode_id in episode_ids if episode_id not in rows]
        if missing:
            raise StoreError(unknown_id_message(self, missing[0]))
        return [record_of(rows[episode_id]) for episode_id in episode_ids]

    def _take(self, episode_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return id -> row by the places of rows; {} for few ids, and if a place is not known.

        A filter reads the column of all ids for each call, which takes longer than reading the rows.
        """
        if self._placed != self.version:
            self._placed, self._asked, self._places = self.version, 0, None
        self._asked += len(episode_ids)
        if self._asked <= _FEW_IDS:
            return {}
        if self._places is None:
            keys = [hash(key) for batch in self.batches([KEY], None, ID_BATCH_ROWS) for key in batch[KEY].to_pylist()]
            hashes = np.array(keys, dtype=np.int64)
            order = np.argsort(hashes, kind="stable")
            self._places = (hashes[order], order)
        hashes, order = self._places
        at = np.searchsorted(hashes, np.array([hash(key) for key in episode_ids], dtype=np.int64))
        if not len(order) or at.max() == len(order):
            return {}
        with translate_errors(self.url, f"reading {', '.join(RECORD_COLUMNS)}"):
            rows = self._dataset.take(order[at].tolist(), columns=list(RECORD_COLUMNS)).to_pylist()
        # A commit of this process meanwhile, an unknown id, or two ids of one hash.
        return {row[KEY]: row for row in rows} if [row[KEY] for row in rows] == [*episode_ids] else {}

    def job(self, episode_id: str) -> RenderKey:
        """Return the render key of an episode. Raises StoreError for an unknown id."""
        for row in self.scan(JOB_COLUMNS, ids_filter([episode_id])):
            return job_of_row(row)
        raise StoreError(unknown_id_message(self, episode_id))

    def ids(self) -> Iterator[tuple[str, str]]:
        """Yield (episode id, job hash) of every episode, in any order."""
        for batch in self.batches([KEY, "job_hash"], None, ID_BATCH_ROWS):
            yield from zip(batch.column(KEY).to_pylist(), batch.column("job_hash").to_pylist(), strict=True)

    def scan(
        self, columns: Sequence[str], where: str | None = None, batch_size: int = BATCH_ROWS
    ) -> Iterator[dict[str, Any]]:
        """Yield columns of every row, or of the rows that match a SQL filter.

        Raises:
            UsageError: for a filter that can't be parsed.
            StoreError: the store can't be read or written.
        """
        for batch in self.batches(columns, where, batch_size):
            yield from batch.to_pylist()

    def batches(self, columns: Sequence[str], where: str | None = None, batch_size: int = BATCH_ROWS) -> Iterator[Any]:
        """Yield the rows of `scan` as pyarrow.RecordBatch of at most `batch_size` rows."""
        with translate_filter_errors(self.url, f"reading {', '.join(columns)}", where):
            # Little readahead: each batch in flight holds its images in memory.
            yield from self._dataset.to_batches(
                columns=list(columns), filter=where, batch_size=batch_size, batch_readahead=2, fragment_readahead=2
            )

    def row_numbers(self, columns: Sequence[str], batch_size: int) -> Iterator[Any]:
        """Yield batches with Lance's own number of each row as `_rowid`."""
        with translate_errors(self.url, f"reading {', '.join(columns)}"):
            yield from self._dataset.to_batches(columns=list(columns), with_row_id=True, batch_size=batch_size)

    def count(self, where: str | None = None) -> int:
        """Return the number of episodes, or of those that match a SQL filter.

        Raises:
            UsageError: an argument, option or name is wrong.
            StoreError: the store can't be read or written.
        """
        with translate_filter_errors(self.url, "counting", where):
            return int(self._dataset.count_rows(filter=where))

    def exists(self, episode_id: str) -> bool:
        """Return whether an episode is stored."""
        return self.count(ids_filter([episode_id])) > 0

    def fragments(self) -> list[Any]:
        """Return the lance.LanceFragment of every data file, in their order."""
        with translate_errors(self.url, "listing its files"):
            return list(self._dataset.get_fragments())

    def versions(self) -> list[Version]:
        """Return all remaining versions, oldest first."""
        with translate_errors(self.url, "listing its versions"):
            versions = self._dataset.versions()
        return [
            Version(
                item["version"],
                # Lance gives local time without a zone.
                item["timestamp"].astimezone(UTC),
                int(item["metadata"]["total_rows"]),
                int(item["metadata"]["total_fragments"]),
            )
            for item in sorted(versions, key=lambda item: int(item["version"]))
        ]

    def tags(self) -> dict[str, int]:
        """Return tag -> version number, sorted by tag."""
        with translate_errors(self.url, "listing its tags"):
            tags = self._dataset.tags.list()
        return {name: int(tags[name]["version"]) for name in sorted(tags)}

    def bytes_on_disk(self) -> int | None:
        """Return the size of a local store with its old versions; None for a remote one."""
        root = Path(self.url)
        return sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) if root.is_dir() else None

    def close(self) -> None:
        """Release resources. After that, reading raises StoreError."""
        self._dataset = _Closed(self.url)


class _Closed:
    """Stands for the dataset of a closed store."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __getattr__(self, name: str) -> Any:
        raise StoreError(f"{self._url}: the store is closed; open it again")
