"""For formats with one file per image and JSON lists of all images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from diorama.render.export.protocol import Export, write_records
from diorama.render.io.atomic_output import put_file
from diorama.render.model.errors import StoreError
from diorama.render.store.selection import chosen_ids
from diorama.scene_specs.exporting.layouts import ImageLists
from diorama.scene_specs.language.rendered import EpisodeRecord


class ImageExport(Export):
    """One export of a format with image files and lists. Memory: a chunk of episodes.

    Attributes:
        is_new: whether `out` did not exist.
        lists: of the format.
    """

    def __init__(self, lists: Callable[[Export], ImageLists], *given: Any) -> None:
        super().__init__(*given)
        self.is_new = not self.out.exists()
        self.lists = lists(self)
        self._new: set[str] = set()

    def run(self) -> None:
        """Write images and lists."""
        with self.lists.stack:
            episode_ids = chosen_ids(self.store, self.options)
            write_records(self.store, episode_ids, self._write, self.out, self.report, self.progress)
            # If an image differs, the lists of an earlier export stay: new ones would lack that episode.
            if not self.report.differing:
                self._save_lists()

    def _write(self, record: EpisodeRecord) -> bool:
        images = self.lists.write(record)
        self.written.check(*self.lists.names())
        if not self.lists.shares_images:
            self._new.clear()
        self._new |= {path for path, png in images if put_file(self.out, path, png, self.options.overwrite)}
        return any(path in self._new for path, _ in images)

    def _save_lists(self) -> None:
        try:
            self.lists.finish(self.written)
            for name, stream in self.lists.streams.items():
                with self.written.replacing(name) as path:
                    stream.save(path)
        except OSError as error:
            raise StoreError(f"writing the lists below {self.out} failed: {error}") from error
