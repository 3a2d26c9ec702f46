"""For formats with loose pictures and one list of everything: files that appear whole, JSON written as it comes."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from render.export.protocol import ExportOptions, ExportReport
from render.model.errors import StoreError
from render.model.record import EpisodeRecord

# As scene_specs.language.spec has them. Again, because a store may come from somebody else, and these become paths.
ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}){0,7}")
IMAGE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ +#-]{0,99}(\.[A-Za-z0-9_][A-Za-z0-9_ +#-]{0,99})?")
SPLIT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,49}")
UNSPLIT = "unsplit"


class Differs(Exception):
    """A file is there with other contents, and --overwrite was not given."""


def split_of(split: str | None, without: str = UNSPLIT) -> str:
    """The name of a split in files. Raises ValueError for one that can't be part of a file's name."""
    name = split or without
    if not SPLIT.fullmatch(name):
        raise ValueError(f"a split can't be called {name!r} in a file's name")
    return name


def picture_path(episode_id: str, image: str) -> str:
    """`<episode id>/<image name>.png`. Raises ValueError for names that can't be files."""
    if not ID.fullmatch(episode_id):
        raise ValueError("this id can't be a folder's name")
    if not IMAGE_NAME.fullmatch(image):
        raise ValueError(f"an image can't be called {image!r} in a folder")
    return f"{episode_id}/{image}.png"


def put_file(path: Path, content: bytes, options: ExportOptions) -> bool:
    """Make a file, whole or not at all; False if it was there with these bytes. Raises Differs, OSError."""
    try:
        if path.stat().st_size == len(content) and path.read_bytes() == content:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    else:
        if not options.overwrite:
            raise Differs(f"{path} is there with other contents")
    partial = path.with_name(f".{path.name}.part")
    partial.write_bytes(content)
    partial.replace(path)
    return True


def write_each(
    records: Iterable[EpisodeRecord],
    write: Callable[[EpisodeRecord], bool],
    out: Path,
    report: ExportReport,
    progress: Callable[[int], None],
) -> None:
    """Write episodes one by one, and go on where one can't be written: the report names it.

    write: whether an episode's files are new. Raises StoreError for what the disk refuses.
    """
    for record in records:
        try:
            new = write(record)
        except Differs as error:
            report.differing.append(f"episode {record.episode_id}: {error}")
        except ValueError as error:
            report.failed.append(f"episode {record.episode_id}: {error}")
        except (NotADirectoryError, FileExistsError, IsADirectoryError) as error:
            report.failed.append(f"episode {record.episode_id}: {error.filename} is in its way")
        except OSError as error:
            raise StoreError(f"episode {record.episode_id}: writing below {out} failed: {error}") from error
        else:
            report.exported += new
            report.skipped += not new
        progress(1)


class JsonLists:
    """One JSON file `{"info": ..., "<list>": [...], ...}` whose lists are too long for memory.

    Items go to files of their own; leaving the block without an error joins them and gives the result its name. Where
    the report has episodes that differ, the file of an earlier export stays: this one would lack them.
    """

    def __init__(self, path: Path, names: tuple[str, ...], report: ExportReport) -> None:
        self._path, self._report = path, report
        self._names = names
        self._folder = path.with_name(f".{path.name}.parts")
        self._files: dict[str, IO[str]] = {}
        self._counts = dict.fromkeys(names, 0)
        self.facts: dict[str, Any] = {}

    def __enter__(self) -> JsonLists:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        for name in self._names:
            self._files[name] = (self._folder / name).open("w", encoding="utf-8")
        return self

    def add(self, name: str, item: Mapping[str, Any]) -> None:
        """One more item of a list, a line."""
        if self._counts[name]:
            self._files[name].write(",\n")
        self._files[name].write(compact_json(item))
        self._counts[name] += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()
        if kind is None and not self._report.differing:
            self._join()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _join(self) -> None:
        whole = self._folder / "whole"
        with whole.open("wb") as out:
            out.write(b"{")
            for number, (key, value) in enumerate(self.facts.items()):
                out.write((",\n" if number else "").encode() + f"{json.dumps(key)}: {compact_json(value)}".encode())
            for number, name in enumerate(self._names):
                out.write((",\n" if number or self.facts else "").encode() + f"{json.dumps(name)}: [\n".encode())
                with (self._folder / name).open("rb") as part:
                    shutil.copyfileobj(part, out)
                out.write(b"]")
            out.write(b"}\n")
            out.flush()
            os.fsync(out.fileno())
        whole.replace(self._path)


def compact_json(value: Any) -> str:
    """JSON without spaces, as it is."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
