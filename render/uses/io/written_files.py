"""Files that a later run of a command replaces: only those that it wrote for the same store, if nobody changed them.

`<out>/.diorama-export.json` has their SHA-256. It is on the disk before a file gets its name, so a run that was killed
continues.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from heapq import nsmallest
from pathlib import Path

from pydantic import BaseModel, ValidationError

from diorama.render.store.episode_store import ID_BATCH_ROWS, KEY, EpisodeReader, ids_filter
from diorama.render.uses.io.atomic_output import below
from diorama.scene_specs.errors import ConflictError
from diorama.scene_specs.files.atomic import atomic_path, write_atomic

_log = logging.getLogger(__name__)

RECORD = ".diorama-export.json"
# A store is known by this many of its episodes, and is the same as long as it has one of them.
_KNOWN_BY = 3
_ADVICE = "pass --overwrite to replace it, or another --out folder"


class WrittenShard(BaseModel, extra="forbid", frozen=True):
    """A file of many episodes (diorama.render.uses.export._shards).

    Attributes:
        digest: hash of the ids and hashes of its episodes.
        samples: episodes in it.
        size: bytes.
        sha256: of the file.
    """

    digest: str
    split: str
    samples: int
    size: int
    sha256: str


class _Written(BaseModel, extra="forbid", frozen=True):
    """A file.

    Attributes:
        store: id -> hash of some episodes; {} if other stores may replace it.
        sha256: of its contents, and of those before.
    """

    store: dict[str, str]
    sha256: tuple[str, ...]


class _Record(BaseModel, extra="forbid", frozen=True):
    version: int = 0
    files: dict[str, WrittenShard] = {}
    lists: dict[str, _Written] = {}


class WrittenFiles:
    """The record of a folder. Use it inside `output_lock`.

    Attributes:
        shards: complete shards, by name.
        version: version of their format.
    """

    def __init__(self, out: Path, store: EpisodeReader, overwrite: bool, trusted: bool = False) -> None:
        """Read the record.

        Args:
            overwrite: whether files of others may be replaced.
            trusted: whether the folder is known to be of this store. Without a record, all its files are then trusted.

        Raises:
            ConflictError: the file is not a record.
        """
        self.out, self._reader, self._overwrite, self._trusted = out, store, overwrite, trusted
        self._check = cache(self._digest)
        record = _Record()
        path = below(out, RECORD)
        try:
            record = _Record.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            self._overwrite |= trusted
        except (OSError, ValidationError) as error:
            if not overwrite:
                raise ConflictError(f"{path} was not written by Diorama, or was changed since; {_ADVICE}") from error
        self.version, self.shards = record.version, dict(record.files)
        self._lists = {name: written for name, written in record.lists.items() if (out / name).exists()}

    def check(self, *names: str) -> None:
        """Raise ConflictError for a file that this command must not replace. Call it before anything is written."""
        for name in names:
            self._check(name)

    @contextmanager
    def replacing(self, name: str, shared: bool = False) -> Iterator[Path]:
        """Yield a temporary path; record its contents and rename it to `name` if the block ends without an error.

        Args:
            shared: exports of other stores may replace the file.

        Raises:
            ConflictError: the file was written by somebody else.
            OSError: a file can't be read or written.
        """
        with atomic_path(below(self.out, name)) as temporary:
            yield temporary
            digest, before = _digest_of(temporary), self._digest(name)
            old, store = self._lists.get(name), {} if shared else self._known_by
            if old is None or (old.store, old.sha256[0]) != (store, digest):
                # With that of the file to be replaced: a kill may come before the new one has its name.
                both = dict.fromkeys(one for one in (digest, before) if one)
                self._lists[name] = _Written(store=store, sha256=tuple(both))
                self.save()

    def put(self, files: Mapping[str, str | bytes], shared: bool = False) -> None:
        """Write the files that differ from what is there; see `replacing`."""
        for name, data in files.items():
            content = data.encode() if isinstance(data, str) else data
            if self._overwrite or self._digest(name) != hashlib.sha256(content).hexdigest():
                with self.replacing(name, shared) as path:
                    path.write_bytes(content)

    def drop(self, name: str) -> None:
        """Delete the file of an earlier export, if there is one. Raises ConflictError for a file of somebody else."""
        self._check(name)
        below(self.out, name).unlink(missing_ok=True)
        if self._lists.pop(name, None):
            self.save()

    def remove_stale(self, pattern: str, kept: Iterable[str]) -> list[str]:
        """Delete and report the lists of an earlier export that this one does not have.

        Args:
            pattern: of `Path.glob`, relative to the folder.
            kept: names of this export.

        Returns:
            A line for each file that no export of this store wrote, or that was changed since; these stay.
        """
        others = []
        for path in sorted(self.out.glob(pattern)):
            name = path.relative_to(self.out).as_posix()
            if name in kept:
                continue
            written = self._lists.get(name)
            # Not what the folder's record does not know, even with --overwrite: nothing takes its place.
            own = written is not None and _digest_of(below(self.out, name)) in written.sha256
            if written and own and (self._overwrite or self._is_same(written.store)):
                self.drop(name)
                _log.warning("%s removed: it comes from an earlier export with other episodes", path)
            else:
                others.append(f"{path} was not written by Diorama for this store, or was changed since; move it away")
        return others

    def sha256(self, name: str) -> str:
        """Return the hash of a file that was written."""
        return self._lists[name].sha256[0]

    def digests(self) -> dict[str, str]:
        """Return the hash of each list by its name."""
        return {name: written.sha256[0] for name, written in self._lists.items()}

    def save(self) -> None:
        """Write the record. Raises OSError."""
        lists, shards = dict(sorted(self._lists.items())), dict(sorted(self.shards.items()))
        record = _Record(version=self.version, files=shards, lists=lists)
        write_atomic(below(self.out, RECORD), record.model_dump_json(indent=1, exclude_defaults=True) + "\n")

    def _digest(self, name: str) -> str | None:
        """SHA-256 of a file; None if there is none. Raises ConflictError for a file of somebody else."""
        path = below(self.out, name)
        if path.is_dir():
            raise ConflictError(f"{path} is a folder; move it away, or pass another --out folder")
        if not path.exists():
            return None
        digest = _digest_of(path)
        written, shard = self._lists.get(name), self.shards.get(name)
        known = written.sha256 if written and self._is_same(written.store) else ()
        if digest in (*known, shard and shard.sha256) or self._overwrite:
            return digest
        raise ConflictError(
            f"{path} was not written by Diorama for this store, or was changed since (older versions kept no record); "
            f"{_ADVICE}"
        )

    @cached_property
    def _known_by(self) -> dict[str, str]:
        rows = self._reader.scan([KEY, "text_sha256"], None, ID_BATCH_ROWS)
        return dict(nsmallest(_KNOWN_BY, ((row[KEY], str(row["text_sha256"])) for row in rows)))

    def _is_same(self, episodes: Mapping[str, str]) -> bool:
        """Whether the store is the one that had these episodes, wherever it is now."""
        if self._trusted or not episodes or episodes == self._known_by:
            return True
        rows = self._reader.scan([KEY, "text_sha256"], ids_filter([*episodes]))
        return any(episodes[row[KEY]] == row["text_sha256"] for row in rows)


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
