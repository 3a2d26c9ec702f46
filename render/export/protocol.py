"""What every format shares: options, report, and the way through a store that names damaged episodes and goes on."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from render.model.errors import ConflictError, DioramaError, StoreError, UsageError
from render.model.record import EpisodeRecord
from render.store.episode_store import EpisodeReader

# Episodes in memory at once: seven pictures are about half a megabyte.
_CHUNK = 32
_SHOWN = 5
_MANY_ROWS = 8192


@dataclass(frozen=True)
class ExportOptions:
    """overwrite: replace what is there but differs from the store. limit: at most so many episodes, first by id.

    where: only episodes that this SQL-like condition holds for. shard_size: episodes a file, for formats of large
    files; None for the format's own.
    """

    overwrite: bool = False
    limit: int | None = None
    where: str | None = None
    shard_size: int | None = None


@dataclass
class ExportReport:
    """exported, skipped (there already, and the same): episodes. damaged, differing, failed: a line an episode."""

    exported: int = 0
    skipped: int = 0
    damaged: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def error(self) -> DioramaError | None:
        """What the command ends with; everything else was exported."""
        if self.damaged or self.failed:
            return StoreError(_listed("not exported", self.damaged + self.failed))
        if self.differing:
            advice = "give --overwrite to replace them, or another folder"
            return ConflictError(f"{_listed('not exported', self.differing)}\n{advice}")
        return None


def _listed(what: str, lines: Sequence[str]) -> str:
    more = [f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    head = f"{len(lines)} episode{'' if len(lines) == 1 else 's'} {what}:"
    return "\n".join([head, *(f"  {line}" for line in lines[:_SHOWN]), *more])


class Exporter(Protocol):
    """Writes a store's episodes to `out` in one format.

    Made for stopping and starting again: what is there whole is skipped, nothing half-written has a final name, and the
    same store gives the same bytes. `progress` is called with the number of episodes done since the last call.
    Raises StoreError and UsageError for what concerns all episodes; what concerns one is in the report.
    """

    def __call__(
        self, store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None]
    ) -> ExportReport:
        """Export; see the class."""
        ...


def chosen_ids(store: EpisodeReader, options: ExportOptions) -> list[str]:
    """Ids to export, sorted: the order rows have in a store depends on who was ready first."""
    if options.where is None:
        return sorted(key for key, _ in store.ids())[: options.limit]
    found = store.scan(["episode_id"], options.where, _MANY_ROWS)
    return sorted(row["episode_id"] for row in found)[: options.limit]


def iter_valid_records(
    store: EpisodeReader, episode_ids: Sequence[str], report: ExportReport, progress: Callable[[int], None]
) -> Iterator[EpisodeRecord]:
    """Episodes in the order asked for; damaged ones go to the report instead. Memory: a chunk of 32."""
    for start in range(0, len(episode_ids), _CHUNK):
        chunk = episode_ids[start : start + _CHUNK]
        try:
            yield from store.get_many(chunk)
        except StoreError:
            yield from _one_by_one(store, chunk, report, progress)


def _one_by_one(
    store: EpisodeReader, episode_ids: Sequence[str], report: ExportReport, progress: Callable[[int], None]
) -> Iterator[EpisodeRecord]:
    for episode_id in episode_ids:
        try:
            record = store.get(episode_id)
        except StoreError as error:
            report.damaged.append(str(error))
            progress(1)
        else:
            yield record


@contextmanager
def output_lock(out: Path) -> Iterator[None]:
    """Makes the folder and keeps other exports out of it meanwhile. Raises UsageError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UsageError(f"--out {out}: can't be a folder to export to: {error.strerror or error}") from error
    try:
        try:
            # A lock on the folder itself leaves no file behind, and goes with the process however it ends.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"--out {out}: another export is writing there; wait for it or name another folder"
            ) from error
        except OSError as error:
            # Some network file systems have no locks, and two exports into one folder would spoil each other's files.
            raise UsageError(
                f"--out {out}: the folder can't be locked against other exports ({error.strerror or error}); name one "
                "on a local disk and copy it from there"
            ) from error
        yield
    finally:
        os.close(handle)
