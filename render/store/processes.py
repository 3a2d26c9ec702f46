"""Work on one store in several processes, each of which opens the store itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from types import ModuleType
from typing import Any, TypeVar

from diorama.render.store import open_at
from diorama.render.store.episode_store import EpisodeReader
from diorama.scene_specs.errors import StoreError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
# A function of the store and an item.
_Work = Callable[[Any, _Item], _Result]
_reader: EpisodeReader | None = None


def map_in_processes(
    store: EpisodeReader, work: _Work[_Item, _Result], items: Sequence[_Item], workers: int | None, few: bool, died: str
) -> Iterator[_Result]:
    """Yield `work(store, item)` for each item, in their order.

    Args:
        work: a function that can be pickled.
        workers: processes; None for one per core, or for none besides this one if `few`: if starting processes takes
            longer than the work.

    Raises:
        StoreError: has the text `died` if a process ends, and whatever `work` raises.
    """
    workers = workers or (1 if few else len(os.sched_getaffinity(0)))
    if workers <= 1:
        yield from (work(store, item) for item in items)
        return
    # Spawned, because Lance has threads, which do not survive a fork.
    count = min(workers, len(items) or 1)
    pool = ProcessPoolExecutor(count, get_context("spawn"), _open_reader, (store.url, store.version))
    try:
        # Processes would run the script that called this, which needs no `if __name__ == "__main__"`.
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            results = pool.map(partial(_call_with_reader, work), items)
        finally:
            sys.modules["__main__"] = main
        yield from results
    except BrokenProcessPool as error:
        raise StoreError(f"{store.url}: {died}") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _open_reader(url: str, version: int) -> None:
    global _reader
    _reader = open_at(url, version)


def _call_with_reader(work: _Work[_Item, _Result], item: _Item) -> _Result:
    return work(_reader, item)
