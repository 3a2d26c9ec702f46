"""The folders of single episodes: read, checked and written, a few at a time, in as many processes as fit."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from render.gallery.facts import page_of, row_of, row_of_damaged
from render.gallery.files import folder_of, key_of, write_folder
from render.gallery.script import script_call, to_json
from render.gallery.thumbnail import thumbnail
from render.model.errors import StoreError
from render.store import open_at
from render.store.columns import episode_schema
from render.store.episode_store import KEY, DamagedError, EpisodeReader, ids_filter
from render.store.row_checks import problems_in, problems_of
from render.store.rows import record_of

log = logging.getLogger(__name__)

# Episodes a task of a worker: a second or two of work.
_UNIT = 32
# Below this, starting other processes takes longer than the work.
_WORTH_PROCESSES = 256


def write_episodes(
    store: EpisodeReader, out: Path, todo: Sequence[tuple[str, str]], workers: int | None
) -> Iterator[list[str]]:
    """Write the episodes given as (id, key) below `out`; their rows as JSON, a list for each few of them.

    workers: processes, None for as many as cores where that is worth it. Raises StoreError, OSError.
    """
    units = [todo[start : start + _UNIT] for start in range(0, len(todo), _UNIT)]
    count = workers or len(os.sched_getaffinity(0))
    if count <= 1 or (workers is None and len(todo) < _WORTH_PROCESSES):
        yield from (make_episodes(store, out, unit) for unit in units)
        return
    # Never forked: Lance has threads.
    pool = ProcessPoolExecutor(
        min(count, len(units) or 1), get_context("spawn"), _open_here, (store.url, store.version)
    )
    try:
        yield from pool.map(_make_here, [str(out)] * len(units), units)
    except BrokenProcessPool as error:
        raise StoreError(
            f"{store.url}: a process that made episodes of the gallery died, as for lack of memory; what is done stays "
            "done: run it again, with fewer --workers"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


_here: EpisodeReader | None = None


def _open_here(url: str, version: int) -> None:
    global _here
    _here = open_at(url, version)


def _make_here(out: str, unit: Sequence[tuple[str, str]]) -> list[str]:
    assert _here is not None
    return make_episodes(_here, Path(out), unit)


def make_episodes(store: EpisodeReader, out: Path, unit: Sequence[tuple[str, str]]) -> list[str]:
    """Write the folders of a few episodes, given as (id, key), and return their rows as JSON, in the same order.

    Those that can't be read get a row with an empty key and no folder.
    """
    keys = dict(unit)
    made: dict[str, str] = {}
    try:
        for row in store.scan(episode_schema().names, ids_filter(list(keys)), 8):
            _make_one(out, row, keys, made)
    except StoreError as error:
        log.debug("reading %d episodes at once failed (%s); one by one", len(unit), error)
        for episode, _ in unit:
            if episode not in made:
                _make_alone(store, out, episode, keys, made)
    return [made[episode] for episode, _ in unit]


def _make_one(out: Path, row: dict[str, Any], keys: dict[str, str], made: dict[str, str]) -> None:
    episode = row[KEY]
    key = keys[episode]
    if key_of(episode, row["sha256"], row["text_sha256"]) != key:
        # The older one of an id that is there twice.
        return
    try:
        record = record_of(row)
    except DamagedError:
        made[episode] = to_json(row_of_damaged(episode, row, problems_of(row)))
        return
    problems = problems_in(row, record)
    names = [f"{number}.png" for number in range(len(record.images))]
    files = {name: image.png for name, image in zip(names, record.images, strict=True)}
    page = script_call("Gallery.data.episode", key, page_of(record, names, problems))
    thumb = thumbnail([image.png for image in record.images])
    write_folder(folder_of(out, key), {**files, "thumbnail.webp": thumb, "page.js": page.encode()})
    made[episode] = to_json(row_of(key, record, problems))


def _make_alone(store: EpisodeReader, out: Path, episode: str, keys: dict[str, str], made: dict[str, str]) -> None:
    try:
        for row in store.scan(episode_schema().names, ids_filter([episode]), 1):
            _make_one(out, row, keys, made)
    except StoreError as error:
        problem = str(error).removeprefix(f"{store.url}: ")
        made[episode] = to_json(row_of_damaged(episode, {}, [f"can't be read: {problem}"]))
