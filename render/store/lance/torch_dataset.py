"""Reading a store in PyTorch: datasets whose items are episodes. The only module that needs torch.

Lance has threads, so a process forked after it was imported may hang: give the DataLoader
`multiprocessing_context="spawn"` where it has workers. Each worker opens the store by itself, at the same version.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from render.model.errors import StoreError, UsageError
from render.model.png import decode_png
from render.model.record import EpisodeRecord
from render.store.lance.columns import KEY
from render.store.lance.reader import ID_BATCH_ROWS, LanceReader

try:
    import torch
    from torch.utils.data import Dataset, IterableDataset
except ImportError:
    # This module can be imported without PyTorch, as every other; only `torch_dataset` can't be used.
    torch, Dataset, IterableDataset = None, object, object

Transform = Callable[[EpisodeRecord], Any]
_CHUNK = 32


def torch_dataset(
    url: str,
    version: int,
    style: Literal["map", "iterable"] = "map",
    where: str | None = None,
    transform: Transform | None = None,
    shuffle_seed: int | None = None,
) -> MapEpisodes | IterableEpisodes:
    """A Dataset of the episodes that `where` holds for, at one version of the store.

    style: "map" has a length and any order (a sampler shuffles it); "iterable" reads chunks of 32 in the order of ids,
    or shuffled by `shuffle_seed` and the epoch (`set_epoch`), shared out among workers and the ranks of
    torch.distributed. transform: record -> item, `item_of` by default; it must be a function that can be pickled.
    Raises StoreError, UsageError.
    """
    if torch is None:
        raise StoreError("torch_dataset needs PyTorch, which Diorama does not bring: pip install torch")
    if style == "map":
        if shuffle_seed is not None:
            raise UsageError("shuffle_seed is for style='iterable'; give the DataLoader shuffle=True")
        return MapEpisodes(url, version, where, transform)
    if style == "iterable":
        return IterableEpisodes(url, version, where, transform, shuffle_seed)
    raise UsageError(f"style {style!r}; allowed: map, iterable")


def item_of(record: EpisodeRecord) -> dict[str, Any]:
    """id, images (N, 3, H, W) uint8, image_names, utterances, annotations (a dict an image), options, answer, task."""
    task = record.scene.task or {}
    utterances = {frame.name: frame.utterance for frame in record.scene.frames}
    pictures = np.stack([decode_png(image.png) for image in record.images])
    return {
        "id": record.episode_id,
        "images": torch.from_numpy(np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))),
        "image_names": [image.name for image in record.images],
        "utterances": [utterances.get(image.frame) for image in record.images],
        "annotations": [image.annotation.model_dump(mode="json") for image in record.images],
        "options": task.get("options"),
        "answer": task.get("answer"),
        "task": json.loads(json.dumps(task)),
    }


class _Episodes:
    """Ids at a version, and the store opened in whatever process asks."""

    def __init__(self, url: str, version: int, where: str | None, transform: Transform | None) -> None:
        self._url, self._version = url, version
        self._transform = transform or item_of
        store = LanceReader.at_version(url, version)
        ids = sorted(row[KEY] for row in store.scan([KEY], where, ID_BATCH_ROWS))
        # One block of memory: a list of a million strings is copied piece by piece into every worker.
        self._ids = np.array(ids, dtype=np.bytes_)
        self._store: LanceReader | None = store
        self._process = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_store": None, "_process": None}

    def __len__(self) -> int:
        return len(self._ids)

    def _opened(self) -> LanceReader:
        # Pickled into another process it has no process noted; a fork keeps the parent's.
        if self._process is not None and self._process != os.getpid():
            raise StoreError(
                "a store can't be read in a forked process (it may hang); "
                "give the DataLoader multiprocessing_context='spawn'"
            )
        if self._store is None:
            self._store, self._process = LanceReader.at_version(self._url, self._version), os.getpid()
        return self._store

    def _items(self, numbers: Sequence[int]) -> list[Any]:
        wanted = [self._ids[number].decode() for number in numbers]
        return [self._transform(record) for record in self._opened().get_many(wanted)]


class MapEpisodes(_Episodes, Dataset):  # type: ignore[misc]
    """Episodes by number, in the order of their ids. Made by `torch_dataset`."""

    def __getitem__(self, number: int) -> Any:
        if not -len(self) <= number < len(self):
            raise IndexError(f"episode {number} of {len(self)}")
        return self._items([number])[0]

    def __getitems__(self, numbers: Sequence[int]) -> list[Any]:
        """A batch in one question to the store; DataLoader calls it."""
        return self._items(numbers)


class IterableEpisodes(_Episodes, IterableDataset):  # type: ignore[misc]
    """Episodes one after the other, each in one worker of one rank. Made by `torch_dataset`."""

    def __init__(
        self, url: str, version: int, where: str | None, transform: Transform | None, shuffle_seed: int | None
    ) -> None:
        super().__init__(url, version, where, transform)
        self._seed = shuffle_seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Another order for each epoch, if shuffled."""
        self._epoch = epoch

    def __iter__(self) -> Iterator[Any]:
        order = np.arange(len(self._ids))
        if self._seed is not None:
            order = np.random.Generator(np.random.Philox([self._seed, self._epoch])).permutation(order)
        first, step = _share()
        chunks = [order[start : start + _CHUNK] for start in range(0, len(order), _CHUNK)]
        for chunk in chunks[first::step]:
            yield from self._items(chunk.tolist())


def _share() -> tuple[int, int]:
    """Number of this worker of this rank, and how many there are in all."""
    info = torch.utils.data.get_worker_info()
    worker, workers = (info.id, info.num_workers) if info else (0, 1)
    rank, ranks = 0, 1
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
    return rank * workers + worker, ranks * workers
