"""For formats with many episodes per file (shards).

The manifest `<out>/.diorama-export.json` lists every complete file, so that a rerun writes only the missing ones.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from diorama.render.export._image_files import split_of
from diorama.render.export.protocol import IDENTITY_COLUMNS, ExportOptions, ExportReport
from diorama.render.io.atomic_output import below, output_lock, remove_leftovers
from diorama.render.model.errors import StoreError
from diorama.render.model.record import EpisodeRecord
from diorama.render.store.episode_store import EpisodeReader
from diorama.render.store.selection import chosen_ids, iter_valid_records
from diorama.scene_specs.language.atomic import atomic_path, write_atomic

_log = logging.getLogger(__name__)
MANIFEST = ".diorama-export.json"


@dataclass(frozen=True)
class Shard:
    """A planned file.

    Attributes:
        name: path below the folder.
        first: number of its first episode.
        digest: of the ids and hashes of its episodes.
    """

    name: str
    split: str
    ids: tuple[str, ...]
    first: int
    digest: str


@dataclass(frozen=True)
class WrittenShard:
    """A file in the manifest.

    Attributes:
        samples: episodes in it.
        size: bytes.
        sha256: of the file.
    """

    digest: str
    split: str
    samples: int
    size: int
    sha256: str


@dataclass(frozen=True)
class ShardFormat:
    """What a format with many episodes per file defines.

    Attributes:
        version: a new version rewrites all files.
        episodes: default per file.
        name_of: (split, number, count) -> path.
        write: writes a complete file and returns the number of its episodes.
        finish: writes the files beside the shards, given the manifest.
    """

    version: int
    episodes: int
    name_of: Callable[[str, int, int], str]
    write: Callable[[Path, Shard, Iterator[EpisodeRecord]], int]
    finish: Callable[[EpisodeReader, Path, ExportOptions, dict[str, WrittenShard]], None]


@dataclass
class _Manifest:
    out: Path
    version: int
    files: dict[str, WrittenShard] = field(default_factory=dict)

    @classmethod
    def load(cls, out: Path, version: int) -> _Manifest:
        try:
            data = json.loads((out / MANIFEST).read_text())
            files = {name: WrittenShard(**facts) for name, facts in data["files"].items()}
            return cls(out, version, files if data["version"] == version else {})
        except FileNotFoundError:
            return cls(out, version)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{out / MANIFEST}: can't be read: {error}; delete it to export again") from error

    def save(self) -> None:
        data = {"version": self.version, "files": {name: asdict(self.files[name]) for name in sorted(self.files)}}
        write_atomic(below(self.out, MANIFEST), json.dumps(data, indent=1) + "\n", fsync=False)

    def has(self, shard: Shard) -> bool:
        written = self.files.get(shard.name)
        # With fewer samples some episodes were damaged, and may have been repaired since.
        if written is None or written.digest != shard.digest or written.samples != len(shard.ids):
            return False
        try:
            return (self.out / shard.name).stat().st_size == written.size
        except OSError:
            return False

    def conflicts(self, shard: Shard) -> bool:
        """Whether a complete file with other episodes has the name of this one."""
        written = self.files.get(shard.name)
        return written is not None and written.digest != shard.digest and (self.out / shard.name).exists()


def hub_split(split: str) -> str:
    """The name of a split for the package `datasets`, which allows letters, digits and _ only."""
    return re.sub(r"[^A-Za-z0-9_]", "_", split)


def export_shards(
    store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None], format_: ShardFormat
) -> ExportReport:
    """Write missing files.

    See diorama.render.export.protocol.Exporter. Memory: a chunk of episodes and what `write` holds.
    """
    report = ExportReport()
    with output_lock(out):
        remove_leftovers(out)
        manifest = _Manifest.load(out, format_.version)
        planned = _plan(store, options, format_, report)
        progress(len(report.failed))
        _drop_others(manifest, planned, options, report)
        for shard in planned:
            if manifest.has(shard):
                report.skipped += len(shard.ids)
                progress(len(shard.ids))
            elif manifest.conflicts(shard) and not options.overwrite:
                report.differing.append(f"{out / shard.name} holds other episodes than the store")
                progress(len(shard.ids))
            else:
                _write(store, shard, manifest, format_, report, progress)
        if not report.differing:
            format_.finish(store, out, options, {name: manifest.files[name] for name in sorted(manifest.files)})
    return report


def _plan(store: EpisodeReader, options: ExportOptions, format_: ShardFormat, report: ExportReport) -> list[Shard]:
    rows = store.scan(["episode_id", "split", *IDENTITY_COLUMNS], options.where, 8192)
    facts = {row["episode_id"]: (row["split"], [row[name] for name in IDENTITY_COLUMNS]) for row in rows}
    splits: dict[str, list[str]] = {}
    for key in chosen_ids(store, options):
        try:
            splits.setdefault(split_of(facts[key][0]), []).append(key)
        except ValueError as error:
            report.failed.append(f"episode {key}: {error}")
    planned = []
    size = options.shard_size or format_.episodes
    for split in sorted(splits):
        ids = splits[split]
        parts = [tuple(ids[start : start + size]) for start in range(0, len(ids), size)]
        for number, part in enumerate(parts):
            text = json.dumps([[key, *facts[key][1]] for key in part])
            digest = hashlib.sha256(text.encode()).hexdigest()
            planned.append(Shard(format_.name_of(split, number, len(parts)), split, part, number * size, digest))
    if len({shard.name for shard in planned}) < len(planned):
        raise StoreError(f"splits {', '.join(splits)}: two of them have the same file names; export one with --split")
    return planned


def _drop_others(manifest: _Manifest, planned: list[Shard], options: ExportOptions, report: ExportReport) -> None:
    """Handle files of an earlier export that this one does not have: a reader would take them for data."""
    names = {shard.name for shard in planned}
    for name in sorted(manifest.files.keys() - names):
        path = manifest.out / name
        if not options.overwrite:
            report.differing.append(f"{path} comes from an earlier export with other episodes")
            continue
        # The names in a manifest are relative; one that leads outside the folder was not written by an export.
        if path.resolve().is_relative_to(manifest.out.resolve()):
            path.unlink(missing_ok=True)
            report.removed += 1
            _log.warning("%s removed: it comes from an earlier export with other episodes", path)
        del manifest.files[name]
        manifest.save()


def _write(
    store: EpisodeReader,
    shard: Shard,
    manifest: _Manifest,
    format_: ShardFormat,
    report: ExportReport,
    progress: Callable[[int], None],
) -> None:
    path = below(manifest.out, shard.name)

    def counted() -> Iterator[EpisodeRecord]:
        for record in iter_valid_records(store, shard.ids, report.damaged, progress):
            yield record
            progress(1)

    try:
        with atomic_path(path) as temporary:
            samples = format_.write(temporary, shard, counted())
            with temporary.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        manifest.files[shard.name] = WrittenShard(shard.digest, shard.split, samples, path.stat().st_size, sha256)
        manifest.save()
    except OSError as error:
        raise StoreError(f"{path}: writing failed: {error}") from error
    report.exported += samples
