"""Which episodes of a store are read, in what order, and what happens to damaged ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pyarrow.dataset as ds

from diorama.render.store import open_store
from diorama.render.store.columns import RECORD_COLUMNS
from diorama.render.store.episode_store import (
    ID_BATCH_ROWS,
    KEY,
    DamagedError,
    EpisodeReader,
    ids_filter,
    is_in_filter,
    quote_sql,
)
from diorama.render.store.rows import record_of
from diorama.scene_specs.errors import StoreError, UsageError, counted
from diorama.scene_specs.language.diagnostics import did_you_mean
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.scene import Change

# Episodes in memory at once; seven images take about half a megabyte.
_CHUNK = 32
_MEMBER = re.compile(rf"(.+\+({'|'.join(get_args(Change))}))-[0-9]+")
_SHOWN_SPLITS = 10


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which episodes of a store are read.

    Attributes:
        limit: maximum number of episodes, the first by id.
        where: SQL filter on the store's columns.
        questions: maximum number per image, for evaluation items; None for the items of the benchmarks.
        families: of these questions; () for all but the forms.
    """

    limit: int | None = None
    where: str | None = None
    questions: int | None = None
    families: tuple[str, ...] = ()


def condition(
    where: str | None = None, ids: Sequence[str] = (), benchmark: str | None = None, splits: Sequence[str] = ()
) -> str | None:
    """Return one SQL filter that combines several with AND, or None if all are empty."""
    parts = [
        f"({where})" if where else None,
        ids_filter(ids) if ids else None,
        f"benchmark = {quote_sql(benchmark)}" if benchmark is not None else None,
        is_in_filter("split", splits) if splits else None,
    ]
    return " AND ".join(part for part in parts if part) or None


def check_splits(store: EpisodeReader, splits: Sequence[str]) -> None:
    """Raise UsageError for a split that no episode of the store has."""
    for split in splits:
        if not store.count(is_in_filter("split", [split])):
            known = {str(row["split"]) for row in store.scan(["split"], "split IS NOT NULL", ID_BATCH_ROWS)}
            hint = did_you_mean(split, known) or f"there are: {', '.join(sorted(known)[:_SHOWN_SPLITS]) or 'none'}"
            raise UsageError(f"{store.url}: no episode has the split {split!r}; {hint}")


def chosen_ids(store: EpisodeReader, selection: Selection) -> list[str]:
    """Return the selected ids, sorted: the order of a store's rows depends on which episode was rendered first."""
    return first_ids(sorted(row[KEY] for row in store.scan([KEY], selection.where, ID_BATCH_ROWS)), selection.limit)


def pair_of_id(episode_id: str) -> str:
    """Return the pair or chain that an episode id belongs to, "" if it is not one of a contrast's members."""
    match = _MEMBER.fullmatch(episode_id)
    return match.group(1) if match else ""


def first_ids(ids: list[str], limit: int | None) -> list[str]:
    """Return the first of sorted ids; a limit between the members of a contrast leaves out all of them."""
    while limit and limit < len(ids) and (pair := pair_of_id(ids[limit])) and pair_of_id(ids[limit - 1]) == pair:
        limit -= 1
    return ids[:limit]


def read_each(
    store: EpisodeReader, episode_ids: Sequence[str], caught: type[StoreError] = DamagedError
) -> list[EpisodeRecord | StoreError]:
    """Return episodes in the order of `episode_ids`, with the error in place of each one that can't be read.

    Args:
        caught: class of these errors; others are raised.
    """
    try:
        return [*store.get_many(episode_ids)]
    except caught as error:
        if len(episode_ids) == 1:
            return [error]
        return [item for episode_id in episode_ids for item in read_each(store, [episode_id], caught)]


def iter_valid_records(
    store: EpisodeReader, episode_ids: Sequence[str], damaged: list[str], progress: Callable[[int], None]
) -> Iterator[EpisodeRecord]:
    """Yield episodes in the given order; a damaged one is a line of `damaged` instead. Memory: a chunk of 32."""
    for start in range(0, len(episode_ids), _CHUNK):
        for item in read_each(store, episode_ids[start : start + _CHUNK], StoreError):
            if isinstance(item, StoreError):
                damaged.append(str(item))
                progress(1)
            else:
                yield item


class StoreEpisodes:
    """The episodes of a store, as commands of benchmarks read them.

    Attributes:
        damaged: a line for each damaged one found.
    """

    def __init__(self, url: str | EpisodeReader) -> None:
        self._store = open_store(url) if isinstance(url, str) else url
        self._url = self._store.url
        self.damaged: list[str] = []

    def ids(self) -> list[str]:
        """Return all ids, sorted."""
        return sorted(key for key, _ in self._store.ids())

    def read(self, ids: Sequence[str]) -> Iterator[EpisodeRecord]:
        """Yield the episodes with these ids, in their order. Raises UsageError if one is damaged."""
        for record in self.valid(ids):
            if self.damaged:
                break
            yield record
        if self.damaged:
            damaged = "; ".join(self.damaged)
            raise UsageError(f"{self._url}: damaged: {damaged}; `render-specs check --prove --store` lists all")

    def valid(self, ids: Sequence[str]) -> Iterator[EpisodeRecord]:
        """Yield the episodes with these ids that are not damaged; the others become lines of `damaged`."""
        return iter_valid_records(self._store, ids, self.damaged, lambda _: None)


def listed(problem: str, lines: Sequence[str], most: int = 5) -> str:
    """Return a message about several episodes, one per line; of many the first `most`.

    Args:
        problem: "not exported".
    """
    more = [f"  and {len(lines) - most} more"] if len(lines) > most else []
    return "\n".join([f"{counted(len(lines), 'episode')} {problem}:", *(f"  {line}" for line in lines[:most]), *more])


def read_exported_record(folder: Path, episode_id: str) -> EpisodeRecord:
    """Return an episode of an exported or downloaded folder; only the row groups that may have its id are read.

    Raises:
        UsageError: for an unknown id.
        StoreError: for files of another origin.
        DamagedError: as the store does.
    """
    files = sorted(map(str, (folder / "data").glob("*.parquet")))
    if not files:
        raise UsageError(f"{folder}: found no data/*.parquet; name a folder of `render-export --format huggingface`")
    try:
        table = ds.dataset(files, format="parquet").to_table([*RECORD_COLUMNS], ds.field(KEY) == episode_id)
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"{folder}: can't be read as an export: {error}") from error
    if not table.num_rows:
        raise UsageError(f"{folder}: episode {episode_id} is not in the export")
    return record_of(table.to_pylist()[0])
