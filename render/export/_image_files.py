"""For formats with one file per image and JSON lists of all images."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from diorama.render.export.protocol import ID, Export, write_records
from diorama.render.io.atomic_output import below, compact_json, put_file
from diorama.render.model.errors import StoreError
from diorama.render.store.selection import chosen_ids
from diorama.scene_specs.language.rendered import EpisodeRecord

# The patterns of diorama.scene_specs.language.spec, as those of ids.
IMAGE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ +#-]{0,99}(\.[A-Za-z0-9_][A-Za-z0-9_ +#-]{0,99})?")
SPLIT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,49}")
UNSPLIT = "unsplit"
# (path below `out`, PNG) of each image.
Images = Sequence[tuple[str, bytes]]


def split_of(split: str | None, without: str = UNSPLIT) -> str:
    """The name of a split in file names. Raises ValueError if it can't be part of a file name."""
    name = split or without
    if not SPLIT.fullmatch(name):
        raise ValueError(f"the split {name!r} can't be part of a file name")
    return name


def image_path(episode_id: str, image: str) -> str:
    """`<episode id>/<image name>.png`. Raises ValueError for names that can't be files."""
    if not ID.fullmatch(episode_id):
        raise ValueError("this id can't be a folder name")
    if not IMAGE_NAME.fullmatch(image):
        raise ValueError(f"the image name {image!r} can't be a file name")
    return f"{episode_id}/{image}.png"


class StreamedJson:
    """A JSON file `{"info": ..., "<list>": [...], ...}` with lists that do not fit in memory.

    Items go to unnamed temporary files; `save` joins them.

    Attributes:
        facts: the keys before the lists.
    """

    def __init__(self, folder: Path, lists: Iterable[str], stack: ExitStack) -> None:
        folder.mkdir(parents=True, exist_ok=True)
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
        """The content of the file: bytes, and the files of the lists."""
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


class ImageExport(Export):
    """One export of a format with image files and lists. Memory: a chunk of episodes.

    Attributes:
        write: adds an episode to the lists, and returns its images. Raises ValueError.
        is_new: whether `out` did not exist.
        counts: for formats that number their images, the numbers so far by split.
    """

    write: Callable[[EpisodeRecord], Images]

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.is_new = not self.out.exists()
        self.streams: dict[str, StreamedJson] = {}
        self.counts: Counter[str] = Counter()
        self._stack = ExitStack()

    def lists(self) -> Iterable[str]:
        """The names of all lists so far."""
        return self.streams

    def finish(self) -> None:
        """Complete the lists after the last episode."""

    def run(self) -> None:
        """Write images and lists."""
        with self._stack:
            episode_ids = chosen_ids(self.store, self.options)
            write_records(self.store, episode_ids, self._write, self.out, self.report, self.progress)
            # If an image differs, the lists of an earlier export stay: new ones would lack that episode.
            if not self.report.differing:
                self._save_lists()

    def _write(self, record: EpisodeRecord) -> bool:
        images = self.write(record)
        self.written.check(*self.lists())
        return self.put_images(images)

    def put_images(self, images: Images) -> bool:
        """Write the images of an episode; return whether any is new."""
        new = [put_file(self.out, path, png, self.options.overwrite) for path, png in images]
        return any(new)

    def _save_lists(self) -> None:
        try:
            self.finish()
            for name, stream in self.streams.items():
                with self.written.replacing(name) as path:
                    stream.save(path)
        except OSError as error:
            raise StoreError(f"writing the lists below {self.out} failed: {error}") from error

    def stream(self, name: str, lists: Sequence[str], kind: Callable[..., StreamedJson] = StreamedJson) -> StreamedJson:
        """The JSON file `name` below `out`, opened on first use."""
        if name not in self.streams:
            self.streams[name] = kind(below(self.out, name).parent, lists, self._stack)
        return self.streams[name]
