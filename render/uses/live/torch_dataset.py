"""PyTorch datasets whose items are episodes of a store.

Lance has threads, so a process forked after it was imported may hang: pass `multiprocessing_context="spawn"` to a
DataLoader with workers. Each worker opens the store itself, at the same version.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from diorama.render.store.episode_store import ID_BATCH_ROWS, KEY, EpisodeReader
from diorama.render.store.lance.reader import LanceReader
from diorama.scene_specs.errors import StoreError, UsageError
from diorama.scene_specs.model.record import EpisodeRecord

try:
    import torch
    from torch.utils.data import Dataset, IterableDataset, get_worker_info
except ImportError:
    # Every module can be imported without PyTorch; only `torch_dataset` fails without it.
    torch, Dataset, IterableDataset = None, object, object

Transform = Callable[[EpisodeRecord], Any]
_CHUNK = 32


def need_torch() -> None:
    """Raise UsageError if PyTorch is not installed."""
    if torch is None:
        raise UsageError("torch_dataset needs PyTorch, which Diorama does not install: pip install torch")


def torch_dataset(
    store: LanceReader,
    style: Literal["map", "iterable"] = "map",
    where: str | None = None,
    transform: Transform | None = None,
    shuffle_seed: int | None = None,
) -> MapEpisodes | IterableEpisodes:
    """Return a Dataset of the episodes that match the SQL filter `where`, at one version of the store.

    Args:
        store: of `open_store`. Workers open it again at the same version.
        style: "map" has a length and any order (a sampler shuffles it); "iterable" reads chunks of 32 in the order of
            ids, or shuffled by `shuffle_seed` and the epoch (`set_epoch`), divided among the ranks of torch.distributed
            and their workers. Every rank gets equally many episodes, as with DistributedSampler: if their number can't
            be divided, the first ones of the order occur again. Its length is that of a rank.
        transform: record -> item, `item_of` by default; it must be a function that can be pickled.

    Raises:
        StoreError: the store can't be read or written.
        UsageError: an argument, option or name is wrong, or PyTorch is not installed.
    """
    need_torch()
    reader = store.at_number(store.version)
    if style == "map":
        if shuffle_seed is not None:
            raise UsageError("shuffle_seed is for style='iterable'; pass shuffle=True to the DataLoader")
        return MapEpisodes(reader, where, transform)
    if style == "iterable":
        return IterableEpisodes(reader, where, transform, shuffle_seed)
    raise UsageError(f"style {style!r}; allowed: map, iterable")


def image_tensor(images: Iterable[NDArray[np.uint8]]) -> Any:
    """Stack images (H, W, 3) as a tensor (N, 3, H, W)."""
    return torch.from_numpy(np.ascontiguousarray(np.stack([*images]).transpose(0, 3, 1, 2)))


def item_of(record: EpisodeRecord) -> dict[str, Any]:
    """Return id, images (N, 3, H, W) uint8, image_names, utterances, annotations (dicts), options, answer, task."""
    task = record.scene.task or {}
    return {
        "id": record.episode_id,
        "images": image_tensor(image.color() for image in record.images),
        "image_names": [image.name for image in record.images],
        "utterances": record.utterances(),
        "annotations": [image.annotation.model_dump(mode="json") for image in record.images],
        "options": task.get("options"),
        "answer": task.get("answer"),
        "task": json.loads(json.dumps(task)),
    }


class _Episodes:
    """Ids at a version, and a reader of it."""

    def __init__(self, reader: EpisodeReader, where: str | None, transform: Transform | None) -> None:
        super().__init__()
        self._transform = transform or item_of
        self._reader = reader
        self._process = os.getpid()
        # One block of memory: a list of a million strings is copied piece by piece into every worker.
        self._ids = np.array(sorted(row[KEY] for row in reader.scan([KEY], where, ID_BATCH_ROWS)), dtype=np.bytes_)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _process=os.getpid())

    def __len__(self) -> int:
        return len(self._ids)

    def _items(self, numbers: Sequence[int]) -> list[Any]:
        # A copy unpickled in another process has noted that one; a fork keeps the parent's.
        if self._process != os.getpid():
            raise StoreError(
                "a store can't be read in a forked process (it may hang); "
                "pass multiprocessing_context='spawn' to the DataLoader"
            )
        ids = [self._ids[number].decode() for number in numbers]
        return [self._transform(record) for record in self._reader.get_many(ids)]


class MapEpisodes(_Episodes, Dataset):  # type: ignore[misc]
    """Episodes by number, in the order of their ids. Use `torch_dataset` to get one."""

    def __getitem__(self, number: int) -> Any:
        if not -len(self) <= number < len(self):
            raise IndexError(f"episode {number} of {len(self)}")
        return self._items([number])[0]

    def __getitems__(self, numbers: Sequence[int]) -> list[Any]:
        """Read a batch in one query; called by DataLoader."""
        return self._items(numbers)


class RankedDataset(IterableDataset):  # type: ignore[misc]
    """Items that the ranks of torch.distributed and their workers divide, different ones in each epoch."""

    def __init__(self) -> None:
        super().__init__()
        # Shared with the workers, which may outlive an epoch (persistent_workers=True).
        self._epoch = torch.zeros(1, dtype=torch.int64).share_memory_()
        self._rank = (0, 1)

    def __getstate__(self) -> dict[str, Any]:
        # A worker of a DataLoader does not belong to the process group of its rank.
        return {**self.__dict__, "_rank": self._current_rank()}

    def _current_rank(self) -> tuple[int, int]:
        """Return the number of this rank and the number of ranks."""
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return torch.distributed.get_rank(), torch.distributed.get_world_size()
        return self._rank

    def _current_worker(self) -> tuple[int, int]:
        """Return the number of this worker of its rank and the number of workers."""
        info = get_worker_info()
        return (info.id, info.num_workers) if info else (0, 1)

    def set_epoch(self, epoch: int) -> None:
        """Select the items of an epoch, or their order; without effect on episodes that are not shuffled."""
        self._epoch[0] = epoch


class IterableEpisodes(_Episodes, RankedDataset):
    """Episodes in sequence, divided among ranks and their workers. Use `torch_dataset` to get one."""

    def __init__(
        self, reader: EpisodeReader, where: str | None, transform: Transform | None, shuffle_seed: int | None
    ) -> None:
        super().__init__(reader, where, transform)
        self._seed = shuffle_seed

    def __len__(self) -> int:
        return -(-len(self._ids) // self._current_rank()[1])

    def __iter__(self) -> Iterator[Any]:
        order = np.arange(len(self._ids))
        if self._seed is not None:
            order = np.random.Generator(np.random.Philox([self._seed, int(self._epoch)])).permutation(order)
        rank, ranks = self._current_rank()
        order = np.resize(order, len(self) * ranks)[rank::ranks]
        first, step = self._current_worker()
        chunks = [order[start : start + _CHUNK] for start in range(0, len(order), _CHUNK)]
        for chunk in chunks[first::step]:
            yield from self._items(chunk.tolist())
