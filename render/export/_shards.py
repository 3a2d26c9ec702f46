"""For formats of large files with many episodes each: planned, written one by one, skipped where they are there whole.

What was written is noted in `<out>/.diorama-export.json`, a line a file, after the file has its name.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from render.export._pictures import split_of
from render.export.protocol import ExportOptions, ExportReport, chosen_ids, iter_valid_records, output_lock
from render.model.errors import StoreError
from render.model.record import EpisodeRecord
from render.store.episode_store import EpisodeReader

NOTES = ".diorama-export.json"
_MARKS = ("job_hash", "attempt", "sha256", "text_sha256")


@dataclass(frozen=True)
class Shard:
    """One file to be. name: below the folder. first: number of its first episode. digest: of what it is to hold."""

    name: str
    split: str
    ids: tuple[str, ...]
    first: int
    digest: str


@dataclass(frozen=True)
class Written:
    """What is noted of a file. samples: episodes in it. size: bytes. sha256: of the file."""

    digest: str
    split: str
    samples: int
    size: int
    sha256: str


@dataclass(frozen=True)
class ShardFormat:
    """version: a change makes all files anew. episodes: a file. name_of: (split, number, how many) -> path.

    write: a file's whole content; returns how many episodes went in. finish: the files beside them, from the notes.
    """

    version: int
    episodes: int
    name_of: Callable[[str, int, int], str]
    write: Callable[[Path, Shard, Iterator[EpisodeRecord]], int]
    finish: Callable[[EpisodeReader, Path, ExportOptions, dict[str, Written]], None]


@dataclass
class _Notes:
    """The notes of a folder."""

    out: Path
    version: int
    files: dict[str, Written] = field(default_factory=dict)

    @classmethod
    def of(cls, out: Path, version: int) -> _Notes:
        try:
            data = json.loads((out / NOTES).read_text())
            files = {name: Written(**facts) for name, facts in data["files"].items()}
            return cls(out, version, files if data["version"] == version else {})
        except FileNotFoundError:
            return cls(out, version)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{out / NOTES}: can't be read: {error}; remove it to export anew") from error

    def save(self) -> None:
        data = {"version": self.version, "files": {name: asdict(self.files[name]) for name in sorted(self.files)}}
        partial = self.out / f"{NOTES}.part"
        partial.write_text(json.dumps(data, indent=1) + "\n")
        partial.replace(self.out / NOTES)

    def has(self, shard: Shard) -> bool:
        there = self.files.get(shard.name)
        # Fewer samples: some were damaged then, and may have been mended.
        if there is None or there.digest != shard.digest or there.samples != len(shard.ids):
            return False
        try:
            return (self.out / shard.name).stat().st_size == there.size
        except OSError:
            return False

    def differs(self, shard: Shard) -> bool:
        """Whether a whole file with other episodes is in its place."""
        there = self.files.get(shard.name)
        return there is not None and there.digest != shard.digest and (self.out / shard.name).exists()


def export_shards(
    store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None], format_: ShardFormat
) -> ExportReport:
    """Write what is missing; see export.protocol.Exporter. Memory: a chunk of episodes and what `write` holds."""
    report = ExportReport()
    with output_lock(out):
        notes = _Notes.of(out, format_.version)
        planned = _plan(store, options, format_)
        _drop_others(notes, planned, options, report)
        for shard in planned:
            if notes.has(shard):
                report.skipped += len(shard.ids)
                progress(len(shard.ids))
            elif notes.differs(shard) and not options.overwrite:
                report.differing.append(f"{out / shard.name} holds other episodes than the store")
                progress(len(shard.ids))
            else:
                _write(store, shard, notes, format_, report, progress)
        if not report.differing:
            format_.finish(store, out, options, {name: notes.files[name] for name in sorted(notes.files)})
    return report


def _plan(store: EpisodeReader, options: ExportOptions, format_: ShardFormat) -> list[Shard]:
    rows = store.scan(["episode_id", "split", *_MARKS], options.where, 8192)
    facts = {row["episode_id"]: (row["split"], [row[name] for name in _MARKS]) for row in rows}
    splits: dict[str, list[str]] = {}
    for key in chosen_ids(store, options):
        try:
            splits.setdefault(split_of(facts[key][0]), []).append(key)
        except ValueError as error:
            raise StoreError(f"episode {key}: {error}") from error
    planned = []
    size = options.shard_size or format_.episodes
    for split in sorted(splits):
        ids = splits[split]
        parts = [tuple(ids[start : start + size]) for start in range(0, len(ids), size)]
        for number, part in enumerate(parts):
            text = json.dumps([[key, *facts[key][1]] for key in part])
            digest = hashlib.sha256(text.encode()).hexdigest()
            planned.append(Shard(format_.name_of(split, number, len(parts)), split, part, number * size, digest))
    names = [shard.name for shard in planned]
    if len(set(names)) < len(names):
        raise StoreError(
            f"splits {', '.join(splits)}: two of them would have the same file names; export one with --split"
        )
    return planned


def _drop_others(notes: _Notes, planned: list[Shard], options: ExportOptions, report: ExportReport) -> None:
    """Files of an earlier export that are no part of this one: a reader would take them for data."""
    names = {shard.name for shard in planned}
    for name in sorted(notes.files.keys() - names):
        if not options.overwrite:
            report.differing.append(f"{notes.out / name} is of an earlier export with other episodes")
            continue
        # Noted names are relative and were made here; one that leads elsewhere was not.
        if (notes.out / name).resolve().is_relative_to(notes.out.resolve()):
            (notes.out / name).unlink(missing_ok=True)
        del notes.files[name]
        notes.save()


def _write(
    store: EpisodeReader,
    shard: Shard,
    notes: _Notes,
    format_: ShardFormat,
    report: ExportReport,
    progress: Callable[[int], None],
) -> None:
    path = notes.out / shard.name
    partial = path.with_name(f".{path.name}.part")

    def counted() -> Iterator[EpisodeRecord]:
        for record in iter_valid_records(store, shard.ids, report, progress):
            yield record
            progress(1)

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        samples = format_.write(partial, shard, counted())
        size, digest = _finished(partial)
        partial.replace(path)
        notes.files[shard.name] = Written(shard.digest, shard.split, samples, size, digest)
        notes.save()
    except OSError as error:
        raise StoreError(f"{path}: writing failed: {error}") from error
    report.exported += samples


def _finished(path: Path) -> tuple[int, str]:
    """Bring a file to the disk; its size and SHA-256."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return path.stat().st_size, digest


def facts_by_split(files: dict[str, Written]) -> dict[str, Any]:
    """Split -> samples, bytes and files."""
    found: dict[str, dict[str, int]] = {}
    for one in files.values():
        facts = found.setdefault(one.split, {"samples": 0, "bytes": 0, "files": 0})
        facts["samples"] += one.samples
        facts["bytes"] += one.size
        facts["files"] += 1
    return found
