"""What all formats share: options, report, and the loop that writes episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from diorama.render.store.episode_store import EpisodeReader, OnProgress
from diorama.render.store.processes import map_in_processes
from diorama.render.store.selection import Selection, iter_valid_records, listed
from diorama.render.uses.io.atomic_output import FileConflictError, output_lock, remove_leftovers
from diorama.render.uses.io.written_files import WrittenFiles
from diorama.scene_specs.errors import INCOMPLETE, ConflictError, DioramaError, StoreError, UsageError, incomplete
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.benchmark import benchmark_of
from diorama.scene_specs.tasks.exporting.layouts import ID

# Below this many episodes, starting other processes takes longer than the export.
MIN_PARALLEL = 1024
_DIED = "a process that exported it died, possibly out of memory; run the export again, and it will continue"
_Part = TypeVar("_Part")


@dataclass(frozen=True, kw_only=True)
class ExportOptions(Selection):
    """Which episodes, and how they are written.

    Attributes:
        overwrite: replace files that differ from the store, or that no export of the store wrote.
        shard_size: episodes per file, for formats with many episodes in a file; None for the format's default.
    """

    overwrite: bool = False
    shard_size: int | None = None


class NestedIdError(DioramaError):
    """The id of an episode is the name of a file of another one. New specs can't have such ids."""


@dataclass
class ExportReport:
    """What an export did.

    Attributes:
        exported: number of episodes.
        skipped: number of those already there and equal.
        damaged: one line each.
        differing: one line each.
        failed: one line each.
        nested: one line each; see NestedIdError.
        removed: number of files of an earlier export.
        missing: what about.toml should still say, and which of its files are older than the data.
    """

    exported: int = 0
    skipped: int = 0
    removed: int = 0
    damaged: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    nested: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def add(self, part: ExportReport) -> None:
        """Add the report of a part of the export."""
        for name, value in vars(part).items():
            setattr(self, name, getattr(self, name) + value)

    def error(self) -> DioramaError | None:
        """Return the error that the command ends with, if any; all other episodes were exported."""
        broken = self.damaged + self.failed + self.nested
        texts = [listed("not exported", broken)] if broken else []
        if self.differing:
            advice = "pass --overwrite to replace files that differ, or another --out folder"
            texts.append(f"{listed('not exported', self.differing)}\n{advice}")
        if not texts:
            return None
        kind = StoreError if self.damaged or self.failed else ConflictError if self.differing else NestedIdError
        return kind("\n".join(texts))


class Exporter(Protocol):
    """Writes a store's episodes to the folder `out` in one format.

    An export can be stopped at any moment and run again: complete files are skipped, incomplete files never have their
    final name, and the same store gives the same bytes. `progress` receives the number of episodes done since the last
    call.

    Raises:
        StoreError: the store can't be read or written.
        UsageError: for problems of the whole export; problems of one episode are in the report.
    """

    def __call__(self, store: EpisodeReader, out: Path, options: ExportOptions, progress: OnProgress) -> ExportReport:
        """Export; see the class."""
        ...


class Export:
    """One export of Diorama's own formats: what it reads, where it writes, and its report. A format overrides `run`."""

    def __init__(self, store: EpisodeReader, out: Path, options: ExportOptions, progress: OnProgress) -> None:
        self.store, self.out, self.options, self.progress = store, out, options, progress
        self.report = ExportReport()
        # Makes an export like this in another process.
        self.remade: Callable[..., Export] = type(self)

    @classmethod
    def export(cls, *given: Any) -> ExportReport:
        """Export; see Exporter."""
        export = cls(*given)
        with output_lock(export.out):
            remove_leftovers(export.out)
            export.run()
        return export.report

    def run(self) -> None:
        """Write everything. Raises as Exporter."""
        raise NotImplementedError

    def write_parts(
        self,
        parts: Sequence[_Part],
        sizes: Sequence[int],
        write: Callable[[Any, _Part], Any],
        kept: Callable[[_Part, Any], None] = lambda part, result: None,
    ) -> None:
        """Write parts of the episodes, many of them in a process per core: each file of a part is in no other part.

        Args:
            sizes: episodes of each part.
            write: a method of the class, called with an export that has a report of its own, and a part.
            kept: called in this process with each part and its result, in order.
        """
        if sum(sizes) < MIN_PARALLEL:
            for part in parts:
                kept(part, write(self, part))
            return
        work = partial(_write_part, self.remade, self.out, self.options, write)
        done = map_in_processes(self.store, work, parts, None, False, _DIED)
        for part, size, (report, result) in zip(parts, sizes, done, strict=True):
            self.report.add(report)
            kept(part, result)
            self.progress(size)

    @cached_property
    def written(self) -> WrittenFiles:
        """The record of the files that a later export may replace."""
        return WrittenFiles(self.out, self.store, self.options.overwrite)


def _write_part(
    remade: Callable[..., Export], out: Path, options: ExportOptions, write: Callable[..., Any], store: Any, part: Any
) -> tuple[ExportReport, Any]:
    export = remade(store, out, options, lambda episodes: None)
    return export.report, write(export, part)


def write_records(
    store: EpisodeReader,
    episode_ids: Sequence[str],
    write: Callable[[EpisodeRecord], bool],
    out: Path,
    report: ExportReport,
    progress: OnProgress,
) -> None:
    """Write episodes one by one; those that can't be written go to the report.

    Args:
        write: returns whether any file of the episode is new.

    Raises:
        StoreError: if the disk fails.
        UsageError: a file can't be written that has nothing to do with the episode.
    """
    for record in iter_valid_records(store, episode_ids, report.damaged, progress):
        with reported(record.episode_id, out, report, record.scene.task):
            new = write(record)
            report.exported += new
            report.skipped += not new
        progress(1)


@contextmanager
def reported(episode_id: str, out: Path, report: ExportReport, task: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Put an error that is due to one episode into the report; see `write_records`."""
    label = f"episode {episode_id if ID.fullmatch(episode_id) else repr(episode_id)}"
    try:
        yield
    except FileConflictError as error:
        report.differing.append(f"{label}: {error}")
    except NestedIdError as error:
        report.nested.append(f"{label}: {error}")
    except UsageError:
        raise
    except (DioramaError, ValueError) as error:
        report.failed.append(f"{label}: {error}")
    except INCOMPLETE as error:
        report.failed.append(f"{label}: {incomplete(benchmark_of(task), error)}")
    except (NotADirectoryError, FileExistsError, IsADirectoryError) as error:
        report.differing.append(f"{label}: {error.filename2 or error.filename} is in the way")
    except OSError as error:
        if error.errno is not None:
            raise StoreError(f"{label}: writing below {out} failed: {error}") from error
        # Pillow's errors about an image have no number.
        report.failed.append(f"{label}: {error}")
