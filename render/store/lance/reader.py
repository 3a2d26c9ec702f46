"""Reading a Lance dataset of episodes, at its newest version or at an older one.

Reading goes in small batches: by default a batch is a whole file, with all its pictures in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from render.model.errors import StoreError
from render.model.record import EpisodeRecord, RenderKey
from render.store.lance import versions
from render.store.lance.columns import KEY, RECORD_COLUMNS
from render.store.lance.location import nothing_there
from render.store.lance.opening import open_dataset
from render.store.lance.rows import job_of_row, record_of
from render.store.lance.translate_errors import translate_condition_errors, translate_errors
from render.store.lance.versions import Change, Version

BATCH_ROWS = 32
ID_BATCH_ROWS = 8192


class LanceReader:
    """What can be asked of a store. version: None for the newest, which `refresh` moves on."""

    def __init__(self, url: str, dataset: Any, version: int | None = None) -> None:
        self._url = url
        self._dataset = dataset
        self._version = version

    @classmethod
    def at_version(cls, url: str, version: int | str) -> LanceReader:
        """A store as it was at a version, given by number or tag; it can't be written. Raises StoreError."""
        dataset = open_dataset(url)
        if dataset is None:
            raise nothing_there(url)
        number = versions.version_of(url, dataset, version)
        with translate_errors(url, f"opening version {number} (cleaned up, or not made yet?)"):
            return cls(url, dataset.checkout_version(number), number)

    def __reduce__(self) -> tuple[Any, ...]:
        return (LanceReader.at_version, (self._url, self.version))

    @property
    def url(self) -> str:
        """Where it is: a path or a URL."""
        return self._url

    @property
    def version(self) -> int:
        """Number of the version that is read."""
        return int(self._dataset.version)

    def get(self, episode_id: str) -> EpisodeRecord:
        """One episode. Raises StoreError if it isn't there, DamagedError if it isn't as it was put."""
        return self.get_many([episode_id])[0]

    def get_many(self, episode_ids: Sequence[str]) -> list[EpisodeRecord]:
        """Episodes in the order asked for, all in memory at once. Raises as `get`."""
        if not episode_ids:
            return []
        rows = {row[KEY]: row for row in self.scan(RECORD_COLUMNS, ids_filter(episode_ids))}
        missing = [episode_id for episode_id in episode_ids if episode_id not in rows]
        if missing:
            raise StoreError(f"{self._url}: episode {missing[0]} is not in the store")
        return [record_of(rows[episode_id]) for episode_id in episode_ids]

    def job(self, episode_id: str) -> RenderKey:
        """What an episode was made from. Raises StoreError if it isn't there."""
        for row in self.scan([KEY, "job"], ids_filter([episode_id])):
            return job_of_row(row)
        raise StoreError(f"{self._url}: episode {episode_id} is not in the store")

    def ids(self) -> Iterator[tuple[str, str]]:
        """(episode id, job hash) of every episode, in no promised order."""
        for batch in self.batches([KEY, "job_hash"], None, ID_BATCH_ROWS):
            yield from zip(batch.column(KEY).to_pylist(), batch.column("job_hash").to_pylist(), strict=True)

    def scan(
        self, columns: Sequence[str], where: str | None = None, batch_size: int = BATCH_ROWS
    ) -> Iterator[dict[str, Any]]:
        """Chosen columns of every row, or of those that the SQL-like condition `where` holds for.

        Raises UsageError for a condition that can't be read, StoreError.
        """
        for batch in self.batches(columns, where, batch_size):
            yield from batch.to_pylist()

    def batches(self, columns: Sequence[str], where: str | None = None, batch_size: int = BATCH_ROWS) -> Iterator[Any]:
        """As `scan`, as pyarrow.RecordBatch of at most batch_size rows."""
        what = ", ".join(columns) + (f" where {where[:200]}" if where else "")
        with translate_condition_errors(self._url, f"reading {what}", where):
            # Little read ahead: each batch on its way holds its pictures in memory.
            yield from self._dataset.to_batches(
                columns=list(columns), filter=where, batch_size=batch_size, batch_readahead=2, fragment_readahead=2
            )

    def row_numbers(self, columns: Sequence[str], batch_size: int) -> Iterator[Any]:
        """As `batches`, with Lance's own number of each row as `_rowid`."""
        with translate_errors(self._url, f"reading {', '.join(columns)}"):
            yield from self._dataset.to_batches(columns=list(columns), with_row_id=True, batch_size=batch_size)

    def count(self, where: str | None = None) -> int:
        """How many episodes, or how many that `where` holds for. Raises UsageError, StoreError."""
        with translate_condition_errors(self._url, f"counting where {where}", where):
            return int(self._dataset.count_rows(filter=where))

    def exists(self, episode_id: str) -> bool:
        """Whether an episode is there."""
        return self.count(ids_filter([episode_id])) > 0

    def fragments(self) -> list[Any]:
        """lance.LanceFragment of every data file, in their order."""
        with translate_errors(self._url, "listing its files"):
            return list(self._dataset.get_fragments())

    def versions(self) -> list[Version]:
        """All versions that are left, oldest first."""
        return versions.list_versions(self._url, self._dataset)

    def history(self, episode_id: str) -> list[Change]:
        """When an episode came, was replaced and went, oldest first; empty if no version that is left has it."""

        def state_at(version: Version) -> Change:
            with translate_errors(self._url, f"reading version {version.number}"):
                old = LanceReader(self._url, self._dataset.checkout_version(version.number), version.number)
            for row in old.scan(["attempt", "job_hash", "sha256", "text_sha256"], ids_filter([episode_id])):
                return Change(version.number, version.committed, True, **row)
            return Change(version.number, version.committed, False)

        return versions.changes(self.versions(), state_at)

    def tags(self) -> dict[str, int]:
        """Tag -> version number, by name."""
        return versions.tags_of(self._url, self._dataset)

    def bytes_on_disk(self) -> int | None:
        """What a local store takes, old versions included; None for a remote one."""
        root = Path(self._url)
        return sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) if root.is_dir() else None

    def torch_dataset(self, **options: Any) -> Any:
        """A torch Dataset of this version; see render.store.lance.torch_dataset.torch_dataset. Raises StoreError."""
        from render.store.lance.torch_dataset import torch_dataset

        return torch_dataset(self._url, self.version, **options)

    def close(self) -> None:
        """Give back what it holds."""
        self._dataset = None


def ids_filter(episode_ids: Sequence[str]) -> str:
    """The condition that holds for these ids and no others."""
    quoted = ["'" + episode_id.replace("'", "''") + "'" for episode_id in episode_ids]
    return f"{KEY} = {quoted[0]}" if len(quoted) == 1 else f"{KEY} IN ({', '.join(quoted)})"
