"""A PyTorch dataset over a stream of items. Only `Live.torch_dataset` imports this module, because it needs torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from diorama.render.model.errors import UsageError

try:
    import torch
    from torch.utils.data import IterableDataset, get_worker_info
except ImportError:
    # Every module can be imported without PyTorch; only `torch_dataset` fails without it.
    torch, IterableDataset = None, object


def tensors_of(item: Any) -> dict[str, Any]:
    """Return id, images (N, 3, H, W) uint8, question, options, and answer, the number of the right option."""
    images = np.stack([image.transpose(2, 0, 1) for image in item.images])
    answer = item.options.index(item.answer)
    texts = {"id": item.id, "question": item.question, "options": list(item.options)}
    return {**texts, "images": torch.from_numpy(np.ascontiguousarray(images)), "answer": answer}


class LiveDataset(IterableDataset):  # type: ignore[misc]
    """Items of a stream, divided by blocks among the ranks of torch.distributed and their workers.

    Each pass of an epoch shows the same items; `set_epoch` selects others.

    Args:
        options: LiveOptions of the stream.
        stream: makes a stream of options.
        length: number of items of each rank.
        transform: LiveItem -> what the dataset returns, `tensors_of` by default.
    """

    def __init__(
        self, options: Any, stream: Callable[[Any], Any], length: int, transform: Callable[[Any], Any] | None = None
    ) -> None:
        if torch is None:
            raise UsageError("torch_dataset needs PyTorch, which Diorama does not install: pip install torch")
        self._options, self._stream, self._length, self._transform = options, stream, length, transform or tensors_of
        # Shared with the workers, which may outlive an epoch (persistent_workers=True).
        self._epoch = torch.zeros(1, dtype=torch.int64).share_memory_()
        self._rank = (0, 1)

    def __getstate__(self) -> dict[str, Any]:
        # A worker of a DataLoader does not belong to the process group of its rank.
        return {**self.__dict__, "_rank": self._current_rank()}

    def _current_rank(self) -> tuple[int, int]:
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return torch.distributed.get_rank(), torch.distributed.get_world_size()
        return self._rank

    def __len__(self) -> int:
        return self._length

    def set_epoch(self, epoch: int) -> None:
        """Select the items of an epoch."""
        self._epoch[0] = epoch

    def __iter__(self) -> Iterator[Any]:
        (rank, ranks), info = self._current_rank(), get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        number = self._length // workers + (worker < self._length % workers)
        shard = (rank * workers + worker, ranks * workers)
        store = self._options.record
        if store is not None and shard[1] > 1:
            store = f"{store.rstrip('/')}-{shard[0]}"
        with self._stream(replace(self._options, shard=shard, epoch=int(self._epoch), record=store)) as items:
            for _ in range(number):
                yield self._transform(next(items))
