"""What the rest of Diorama may ask of a dataset store. Nothing here knows Lance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from render.model.errors import StoreError
from render.model.record import EpisodeRecord, RenderKey


class DamagedError(StoreError):
    """A stored episode that is not what was put: damaged bytes, or a row that can't be read."""


@dataclass(frozen=True)
class PutResult:
    """inserted: new ids. updated: replaced by a later attempt. unchanged: the stored attempt is as late or later."""

    inserted: int
    updated: int
    unchanged: int


class EpisodeReader(Protocol):
    """Episodes, each whole or not there, each once; of a store as it is, or as it was at a version.

    All methods raise StoreError where the store can't be read.
    """

    @property
    def url(self) -> str:
        """Where it is: a path or a URL."""
        ...

    def get(self, episode_id: str) -> EpisodeRecord:
        """One episode. Raises DamagedError if it isn't as it was put."""
        ...

    def get_many(self, episode_ids: Sequence[str]) -> list[EpisodeRecord]:
        """Episodes in the order asked for, all in memory at once (seven pictures are about half a megabyte)."""
        ...

    def ids(self) -> Iterator[tuple[str, str]]:
        """(episode id, job hash) of every episode, in no promised order."""
        ...

    def job(self, episode_id: str) -> RenderKey:
        """What an episode was made from."""
        ...

    def scan(self, columns: Sequence[str], where: str | None = None, batch_size: int = 32) -> Iterator[dict[str, Any]]:
        """Chosen columns (see render.store.lance.columns) of every row, or of rows that match the condition `where`."""
        ...

    def count(self, where: str | None = None) -> int:
        """How many episodes, or how many that `where` holds for."""
        ...

    def exists(self, episode_id: str) -> bool:
        """Whether an episode is there."""
        ...

    def close(self) -> None:
        """Give back what it holds. Nothing is lost without it: puts are committed when they return."""
        ...


class EpisodeStore(EpisodeReader, Protocol):
    """A store that can be written. All methods raise StoreError where it can't be read or written.

    Reading sees what was committed when the store was opened or last refreshed, and its own puts.
    """

    def put(self, records: Sequence[EpisodeRecord]) -> PutResult:
        """Commit episodes in one step; when it returns they are there.

        Safe to repeat; of one id the latest attempt stays.
        """
        ...

    def put_encoded(self, parts: Sequence[bytes]) -> PutResult:
        """As `put`, of records that render.store.lance.rows.encode was given, in this process or another."""
        ...

    def replace(self, records: Sequence[EpisodeRecord]) -> PutResult:
        """As `put`, whatever attempt is stored."""
        ...

    def delete(self, episode_ids: Sequence[str]) -> int:
        """Take episodes out; returns how many were there."""
        ...

    def compact(self) -> None:
        """Merge small files, bring the index up to date; for a quiet moment. StoreError if an id is there twice."""
        ...

    def maybe_compact(self) -> bool:
        """Compact if enough was written since the last time; whether it did."""
        ...

    def refresh(self) -> None:
        """See what others have committed since."""
        ...
