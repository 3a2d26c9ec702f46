"""What an export format of a benchmark is made of; diorama.render.uses.export reads the store and writes the files.

A format has one folder per episode (EpisodeFolders), or one file per image and JSON lists of all images (ImageLists).
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from typing import IO, Any, ClassVar, Protocol

from diorama.scene_specs.files.writing import compact_json
from diorama.scene_specs.model.record import EpisodeRecord

# As in diorama.scene_specs.model.spec. A store may have another origin, and ids and names become paths.
ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}){0,7}")
IMAGE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ +#-]{0,99}(\.[A-Za-z0-9_][A-Za-z0-9_ +#-]{0,99})?")
# Relative path of a file -> content.
Files = Mapping[str, bytes]
# format_version, episode_id and hashes of a stored episode.
Identity = Mapping[str, Any]
# (path below the folder of the export, PNG) of each image.
Images = Sequence[tuple[str, bytes]]


def split_of(split: str | None, without: str = "unsplit") -> str:
    """Return the name of a split in file names. Raises ValueError if it can't be part of a file name."""
    name = split or without
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,49}", name):
        raise ValueError(f"the split {name!r} can't be part of a file name")
    return name


def image_path(episode_id: str, image: str) -> str:
    """`<episode id>/<image name>.png`. Raises ValueError for names that can't be files."""
    if not ID.fullmatch(episode_id):
        raise ValueError("this id can't be a folder name")
    if not IMAGE_NAME.fullmatch(image):
        raise ValueError(f"the image name {image!r} can't be a file name")
    return f"{episode_id}/{image}.png"


@dataclass(frozen=True)
class EpisodeFolders:
    """What a format writes. Its functions are those of modules, because other processes call them, too.

    Attributes:
        version: version of the format.
        marked: the JSON file of a folder that holds the identity of the stored episode.
        folder_of: episode id -> relative path; raises ValueError for an id of another benchmark.
        files_of: all files of an episode, given its identity; raises SpecError or ValueError for an episode that the
            format can't hold.
        files_beside: an episode's files outside its folder, relative to that of the export; written before the folder.
        identity_in: the identity in the data of the marked file; by default its key `diorama`.
        clear: for formats in which a folder may hold the folders of other episodes: removes the old files from a
            folder to which new ones are then moved, the last one of `files_of` last.
    """

    version: int
    marked: str
    folder_of: Callable[[str], Path]
    files_of: Callable[[EpisodeRecord, Identity], Files]
    files_beside: Callable[[EpisodeRecord], Files] | None = None
    identity_in: Callable[[dict[str, Any]], Identity | None] = methodcaller("get", "diorama")
    clear: Callable[[Path, Files], None] | None = None


class StreamedJson:
    """A JSON file `{"info": ..., "<list>": [...], ...}` with lists that do not fit in memory.

    Items go to unnamed temporary files in `folder`; `save` joins them.

    Attributes:
        facts: the keys before the lists.
    """

    def __init__(self, folder: Path, lists: Iterable[str], stack: ExitStack) -> None:
        self.facts: dict[str, Any] = {}
        self._lists: dict[str, IO[bytes]] = {}
        for name in lists:
            # SIM115: the stack closes the file.
            self._lists[name] = stack.enter_context(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115

    def add(self, name: str, item: Any, key: str | None = None) -> None:
        """Append an item to a list, on its own line; with a key, an entry of an object."""
        text = compact_json(item) if key is None else f"{compact_json(key)}: {compact_json(item)}"
        self._lists[name].write(((",\n" if self._lists[name].tell() else "") + text).encode())

    def save(self, path: Path) -> None:
        """Write the file. Raises OSError."""
        with path.open("wb") as out:
            for part in self.parts():
                if isinstance(part, bytes):
                    out.write(part)
                else:
                    part.seek(0)
                    shutil.copyfileobj(part, out)

    def parts(self) -> Iterator[bytes | IO[bytes]]:
        """Yield the content of the file: bytes, and the files of the lists."""
        before = "{"
        for key, value in self.facts.items():
            yield f"{before}{json.dumps(key)}: {compact_json(value)}".encode()
            before = ",\n"
        for name, items in self._lists.items():
            yield f"{before}{json.dumps(name)}: [\n".encode()
            yield items
            yield b"]"
            before = ",\n"
        yield b"}\n"


class Written(Protocol):
    """The lists that a later export of a store replaces; see diorama.render.uses.io.written_files."""

    def put(self, files: Mapping[str, str | bytes], shared: bool = False) -> None:
        """Write files; if they are shared, exports of other stores may replace them. Raises OSError."""

    def replacing(self, name: str) -> AbstractContextManager[Path]:
        """Yield a temporary path that becomes the file `name`. Raises OSError."""

    def drop(self, name: str) -> None:
        """Delete the file of an earlier export, if there is one."""


class Folder(Protocol):
    """The folder of an export, and its store, a diorama.render.store.episode_store.EpisodeReader."""

    out: Path
    store: Any


class ImageLists:
    """The images of one export, and lists of them. A format is a subclass. Memory: what it keeps between episodes.

    Attributes:
        export: of which these are the lists; formats of diorama.render.uses.export use more of it than its folder.
        pattern: of the names of lists per split; an earlier export's that this one does not write are stale.
        shares_images: whether several episodes have the same images, so that each counts as exported.
        has_sums: whether each folder of `out` gets a SHA256SUMS (diorama.scene_specs.tasks.copies).
        streams: the lists so far, by name.
        counts: for formats that number their images, the numbers so far by split.
        stack: closes the lists.
    """

    pattern: ClassVar[str] = ""
    shares_images: ClassVar[bool] = False
    has_sums: ClassVar[bool] = False

    def __init__(self, export: Folder) -> None:
        self.export = export
        self.streams: dict[str, StreamedJson] = {}
        self.counts: Counter[str] = Counter()
        self.stack = ExitStack()

    def write(self, record: EpisodeRecord) -> Images:
        """Add an episode to the lists, and return its images.

        Raises:
            SpecError: it is an episode of another benchmark, or its truth is wrong.
            ValueError: the format can't hold it.
        """
        raise NotImplementedError

    def names(self) -> Iterable[str]:
        """Return the names of all lists so far."""
        return self.streams

    def finish(self, written: Written) -> None:
        """Complete the streams after the last episode, and write the other lists. Raises OSError."""

    def stream(self, name: str, lists: Sequence[str], kind: Callable[..., StreamedJson] = StreamedJson) -> StreamedJson:
        """Return the JSON file `name` of the export, opened on first use."""
        if name not in self.streams:
            self.streams[name] = kind(self.export.out, lists, self.stack)
        return self.streams[name]
