"""What the rest of Diorama can ask of a dataset store. Nothing here imports Lance or pyarrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from diorama.scene_specs.errors import StoreError, UsageError
from diorama.scene_specs.language.diagnostics import did_you_mean
from diorama.scene_specs.model.record import EpisodeRecord, RenderKey

# Called with the number of episodes done since its last call.
OnProgress = Callable[[int], None]

KEY = "episode_id"
# Small batches where images are read: each batch is in memory with all its images.
BATCH_ROWS = 32
# Large ones where only ids and other short columns are read.
ID_BATCH_ROWS = 8192
# What tells whether a copied or exported episode is the stored one.
IDENTITY_COLUMNS = ("job_hash", "attempt", "sha256", "text_sha256")
# Of a larger store, no nearest id is looked for.
_MOST_IDS = 100_000


class DamagedError(StoreError):
    """A stored episode differs from what was put: damaged bytes, or an unreadable row."""


@dataclass(frozen=True)
class PutResult:
    """The outcome of a commit.

    Attributes:
        inserted: new ids.
        updated: replaced by a later attempt.
        unchanged: the stored attempt is as late or later.
    """

    inserted: int
    updated: int
    unchanged: int


class EpisodeReader(Protocol):
    """Read access to complete episodes with unique ids, of a store as it is or as it was at a version.

    All methods raise StoreError if the store can't be read.
    """

    @property
    def url(self) -> str:
        """Path or URL of the store."""

    @property
    def version(self) -> int:
        """Number of the version that is read."""

    def get(self, episode_id: str) -> EpisodeRecord:
        """Return one episode.

        Raises:
            StoreError: for an unknown id.
            DamagedError: if it differs from what was put.
        """

    def get_many(self, episode_ids: Sequence[str]) -> list[EpisodeRecord]:
        """Return episodes in the order of `episode_ids`, all in memory at once (seven images: half a megabyte)."""

    def ids(self) -> Iterator[tuple[str, str]]:
        """Yield (episode id, job hash) of every episode, in any order."""

    def job(self, episode_id: str) -> RenderKey:
        """Return the render key of an episode. Raises StoreError for an unknown id."""

    def scan(
        self, columns: Sequence[str], where: str | None = None, batch_size: int = BATCH_ROWS
    ) -> Iterator[dict[str, Any]]:
        """Yield columns (see diorama.render.store.columns) of every row, or of the rows that match a SQL filter.

        Raises UsageError for a filter that can't be parsed.
        """

    def batches(self, columns: Sequence[str], where: str | None = None, batch_size: int = BATCH_ROWS) -> Iterator[Any]:
        """Yield the rows of `scan` as pyarrow.RecordBatch of at most `batch_size` rows."""

    def count(self, where: str | None = None) -> int:
        """Return the number of episodes, or of those that match a SQL filter. Raises UsageError as `scan`."""

    def exists(self, episode_id: str) -> bool:
        """Return whether an episode is stored."""

    def close(self) -> None:
        """Release resources. Not needed to save data: a put is committed when it returns."""


def is_remote(url: str) -> bool:
    """Return whether a URL names an object store. Raises StoreError for an unsupported scheme."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", url)
    if scheme is None:
        return False
    if scheme[1].lower() != "s3":
        raise StoreError(f"{url}: a store is a local folder or s3://BUCKET/NAME, not {scheme[1]}://")
    return True


def ids_filter(episode_ids: Sequence[str]) -> str:
    """Return the SQL filter that matches exactly these ids; at least one."""
    return f"{KEY} = {quote_sql(episode_ids[0])}" if len(episode_ids) == 1 else is_in_filter(KEY, episode_ids)


def unknown_id_message(store: EpisodeReader, episode_id: str) -> str:
    """Return the message about an id that is not stored, with the nearest one that is."""
    known = [name for name, _ in store.ids()] if store.count() <= _MOST_IDS else []
    hint = did_you_mean(episode_id, known) or f"`render-store ls {store.url}` lists all"
    return f"{store.url}: episode {episode_id} is not in the store; {hint}"


def is_in_filter(column: str, values: Sequence[str]) -> str:
    """Return the SQL filter that matches exactly these values of a column."""
    return f"{column} IN ({', '.join(map(quote_sql, values))})"


def quote_sql(text: str) -> str:
    """Return text as an SQL string. Raises UsageError for other values, which callers from Python may pass."""
    if not isinstance(text, str):
        raise UsageError(f"found {text!r}; allowed: an id or split, which is text")
    return "'" + text.replace("'", "''") + "'"


def short_columns(store: EpisodeReader, columns: Sequence[str], where: str | None = None) -> dict[str, tuple[Any, ...]]:
    """Return id -> values of short columns (digests, numbers), in the order of `columns`."""
    return {row[KEY]: tuple(row[name] for name in columns) for row in store.scan([KEY, *columns], where, ID_BATCH_ROWS)}
