"""For formats with many episodes per file (shards).

The record `<out>/.diorama-export.json` lists every complete file, so that a rerun writes only the missing ones.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diorama.render.store.episode_store import IDENTITY_COLUMNS
from diorama.render.store.selection import chosen_ids, iter_valid_records
from diorama.render.uses.export.hub import check_hub_splits, question_rows
from diorama.render.uses.export.protocol import Export, reported
from diorama.render.uses.export.publish import DESCRIPTION, is_published
from diorama.render.uses.io.atomic_output import below
from diorama.render.uses.io.written_files import WrittenShard
from diorama.render.uses.items.scores import items_maker
from diorama.scene_specs.errors import ConflictError, StoreError
from diorama.scene_specs.files.atomic import atomic_path
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.exporting.layouts import split_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shard:
    """A planned file.

    Attributes:
        name: path below the folder.
        first: number of its first episode.
        digest: hash of the ids and hashes of its episodes.
    """

    name: str
    split: str
    ids: tuple[str, ...]
    first: int
    digest: str


class ShardExport(Export):
    """One export of a format with many episodes per file. Memory: a chunk of episodes and what `write` holds.

    Attributes:
        version: a new version rewrites all files.
        episodes: default per file.
        name_of: (split, number, count) -> path.
        encode: an episode, and the questions about it, as `write` takes them; raises as the function `write` of
            write_records.
        write: writes a complete file, and returns the number of its episodes.
        side_names: the names of the files beside the shards.
        side_files_from_store: their contents.
    """

    version: int
    episodes: int
    name_of: Callable[[str, int, int], str]
    encode: Callable[[EpisodeRecord, list[dict[str, Any]]], Any]
    write: Callable[[Path, Shard, Iterator[Any]], int]
    side_names: tuple[str, ...]
    side_files_from_store: Callable[[Mapping[str, WrittenShard]], Mapping[str, str]]

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._items = None if self.options.questions is None else items_maker(self.options)
        self._unasked: list[str] = []

    def _question_rows(self, record: EpisodeRecord) -> list[dict[str, Any]]:
        return [] if self._items is None else question_rows(record.episode_id, self._items(record))

    def run(self) -> None:
        """Write missing files."""
        # A dataset that was published keeps its card; --about updates it.
        kept = {*DESCRIPTION} if is_published(self.out) else set[str]()
        if self.written.version != self.version:
            self.written.version, self.written.shards = self.version, {}
        self.written.check(*(name for name in self.side_names if name not in kept))
        planned = self._plan_shards()
        self.progress(len(self.report.failed))
        self._drop_others(planned)
        missing = []
        for shard in planned:
            if self._is_written(shard):
                self.report.skipped += len(shard.ids)
                self.progress(len(shard.ids))
                self._unasked += shard.ids
                continue
            try:
                self._check_replaceable(shard)
            except ConflictError as error:
                self.report.differing.append(str(error))
                self.progress(len(shard.ids))
            else:
                missing.append(shard)
        # Which questions follow depends on those before.
        sizes = [len(shard.ids) if self._items is None else 0 for shard in missing]
        self.write_parts(missing, sizes, type(self)._write, self._move_into_place)
        if not self.report.differing:
            files = self.side_files_from_store(dict(sorted(self.written.shards.items())))
            self.written.put({name: text for name, text in files.items() if name not in kept})

    def _plan_shards(self) -> list[Shard]:
        rows = self.store.scan(["episode_id", "split", *IDENTITY_COLUMNS], self.options.where, 8192)
        facts = {row["episode_id"]: (row["split"], [row[name] for name in IDENTITY_COLUMNS]) for row in rows}
        splits: dict[str, list[str]] = {}
        for key in chosen_ids(self.store, self.options):
            try:
                splits.setdefault(split_of(facts[key][0]), []).append(key)
            except ValueError as error:
                self.report.failed.append(f"episode {key}: {error}")
        check_hub_splits(splits)
        planned = []
        size = self.options.shard_size or self.episodes
        for split in sorted(splits):
            ids = splits[split]
            parts = [tuple(ids[start : start + size]) for start in range(0, len(ids), size)]
            for number, part in enumerate(parts):
                # With the questions: what is asked about an episode depends on those before it.
                asked = [] if self.options.questions is None else [[self.options.questions, *self.options.families]]
                text = json.dumps([*([key, *facts[key][1]] for key in part), *asked])
                digest = hashlib.sha256(text.encode()).hexdigest()
                planned.append(Shard(self.name_of(split, number, len(parts)), split, part, number * size, digest))
        return planned

    def _drop_others(self, planned: list[Shard]) -> None:
        """Handle files of an earlier export that this one does not have: a reader would take them for data."""
        for name in sorted(self.written.shards.keys() - {shard.name for shard in planned}):
            path = self.out / name
            if not self.options.overwrite:
                self.report.differing.append(f"{path} comes from an earlier export with other episodes")
                continue
            # The names in a record are relative; one that leads outside the folder was not written by an export.
            if path.resolve().is_relative_to(self.out.resolve()):
                path.unlink(missing_ok=True)
                self.report.removed += 1
                _log.warning("%s removed: it comes from an earlier export with other episodes", path)
            del self.written.shards[name]
            self.written.save()

    def _is_written(self, shard: Shard) -> bool:
        written = self.written.shards.get(shard.name)
        # With fewer samples some episodes were damaged, and may have been repaired since.
        if written is None or written.digest != shard.digest or written.samples != len(shard.ids):
            return False
        try:
            return (self.out / shard.name).stat().st_size == written.size
        except OSError:
            return False

    def _check_replaceable(self, shard: Shard) -> None:
        """Raise ConflictError if a file in the place of a shard must not be replaced."""
        written, path = self.written.shards.get(shard.name), self.out / shard.name
        if written and written.digest != shard.digest and path.exists() and not self.options.overwrite:
            raise ConflictError(f"{path} holds other episodes than the store")
        self.written.check(shard.name)

    def _finished_path(self, shard: Shard) -> Path:
        # A name that `remove_leftovers` removes.
        path = below(self.out, shard.name)
        return path.with_name(f".{path.name}.finished.part")

    def _write(self, shard: Shard) -> int:
        try:
            with atomic_path(self._finished_path(shard), fsync=False) as temporary:
                return self.write(temporary, shard, self._samples(shard))
        except OSError as error:
            raise StoreError(f"{self.out / shard.name}: writing failed: {error}") from error

    def _move_into_place(self, shard: Shard, samples: int) -> None:
        try:
            with self.written.replacing(shard.name) as temporary:
                self._finished_path(shard).replace(temporary)
                size = temporary.stat().st_size
            sha256 = self.written.sha256(shard.name)
            self.written.shards[shard.name] = WrittenShard(
                digest=shard.digest, split=shard.split, samples=samples, size=size, sha256=sha256
            )
            self.written.save()
        except OSError as error:
            raise StoreError(f"{self.out / shard.name}: writing failed: {error}") from error
        self.report.exported += samples

    def _samples(self, shard: Shard) -> Iterator[Any]:
        if self.options.questions is not None:
            # Shards that are there: which questions follow depends on theirs.
            for record in iter_valid_records(self.store, self._unasked, [], lambda _: None):
                self._question_rows(record)
            self._unasked.clear()
        for record in iter_valid_records(self.store, shard.ids, self.report.damaged, self.progress):
            sample = None
            with reported(record.episode_id, self.out, self.report, record.scene.task):
                sample = self.encode(record, self._question_rows(record))
            if sample is not None:
                yield sample
            self.progress(1)
