"""A PyTorch dataset over a stream of items. Only `Live.torch_dataset` imports this module, because it imports torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from diorama.render.uses.live.torch_dataset import RankedDataset, image_tensor, need_torch


def tensors_of(item: Any) -> dict[str, Any]:
    """Return id, images (N, 3, H, W) uint8, question, options, and answer, the number of the right option."""
    answer, texts = item.options.index(item.answer), {"id": item.id, "question": item.question}
    return {**texts, "images": image_tensor(item.images), "options": list(item.options), "answer": answer}


class LiveDataset(RankedDataset):
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
        need_torch()
        super().__init__()
        self._options, self._stream, self._length, self._transform = options, stream, length, transform or tensors_of

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        (rank, ranks), (worker, workers) = self._current_rank(), self._current_worker()
        number = self._length // workers + (worker < self._length % workers)
        shard = (rank * workers + worker, ranks * workers)
        store = self._options.record
        if store is not None and shard[1] > 1:
            store = f"{store.rstrip('/')}-{shard[0]}"
        with self._stream(replace(self._options, shard=shard, epoch=int(self._epoch), record=store)) as items:
            for _ in range(number):
                yield self._transform(next(items))
