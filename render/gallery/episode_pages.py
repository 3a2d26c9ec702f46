"""The folders of single episodes: read, checked and written in batches, in several processes."""

from __future__ import annotations

import io
import logging
import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

from diorama.render.gallery.episode_facts import damaged_search_row, page_data, search_row
from diorama.render.gallery.gallery_files import folder_of, key_of, script_call
from diorama.render.io.atomic_output import put_folder
from diorama.render.model.errors import DioramaError, StoreError
from diorama.render.model.record import EpisodeRecord
from diorama.render.store.columns import episode_schema
from diorama.render.store.episode_store import KEY, DamagedError, EpisodeReader, ids_filter
from diorama.render.store.processes import map_in_processes
from diorama.render.store.row_checks import invalid_answer, problems_in, problems_of
from diorama.render.store.rows import finite_json, record_of
from diorama.scene_specs.language.errors import INCOMPLETE
from diorama.scene_specs.language.pictures import DAMAGED, open_png

# Twice the size of a card in the gallery, for screens with a device pixel ratio of 2.
SIZE = (480, 360)
_MAX_IMAGES = 9
_GAP = 6
_QUALITY = 78


def grid_of(count: int, aspect: float) -> tuple[int, int, int, int]:
    """(columns, rows, cell width, cell height) for `count` images of one aspect (width / height), as large as fit."""
    grids = []
    for columns in range(1, count + 1):
        rows = math.ceil(count / columns)
        space = ((SIZE[0] - _GAP * (columns - 1)) / columns, (SIZE[1] - _GAP * (rows - 1)) / rows)
        width = min(space[0], space[1] * aspect)
        grids.append((columns, rows, max(1, int(width)), max(1, int(width / aspect))))
    return max(grids, key=lambda grid: grid[2] * grid[3], default=(1, count, 1, 1))


def thumbnail(pngs: Sequence[bytes]) -> bytes:
    """Encode the first nine images as one WebP of at most SIZE pixels; a PNG that can't be decoded leaves a gap."""
    pictures = [_opened(png) for png in pngs[:_MAX_IMAGES]]
    first = next((picture for picture in pictures if picture), Image.new("RGB", (4, 3)))
    columns, rows, width, height = grid_of(len(pictures), first.width / first.height)
    if width > first.width:
        # Enlarging adds bytes without detail; the page can enlarge.
        width, height = first.size
    sheet = Image.new("RGBA", (columns * (width + _GAP) - _GAP, rows * (height + _GAP) - _GAP))
    for number, picture in enumerate(pictures):
        if picture is None:
            continue
        small = picture.resize(_inside(picture.size, (width, height)), Image.Resampling.BOX, reducing_gap=2.0)
        left = (number % columns) * (width + _GAP) + (width - small.width) // 2
        top = (number // columns) * (height + _GAP) + (height - small.height) // 2
        sheet.paste(small, (left, top))
    out = io.BytesIO()
    sheet.save(out, "WEBP", quality=_QUALITY, method=2)
    return out.getvalue()


def _opened(png: bytes) -> Image.Image | None:
    try:
        with open_png(png) as picture:
            return picture.convert("RGB")
    except DAMAGED:
        return None


def _inside(size: tuple[int, int], cell: tuple[int, int]) -> tuple[int, int]:
    factor = min(cell[0] / size[0], cell[1] / size[1])
    return (max(1, round(size[0] * factor)), max(1, round(size[1] * factor)))


log = logging.getLogger(__name__)

# Episodes per task of a worker: a second or two of work.
_BATCH = 32
# For fewer episodes, starting processes takes longer than the work.
_MIN_FOR_PROCESSES = 256
_DIED = (
    "a gallery worker died, possibly for lack of memory; finished episodes are kept: run the command again, with "
    "fewer --workers"
)


def write_episodes(
    store: EpisodeReader, out: Path, todo: Sequence[tuple[str, str]], workers: int | None
) -> Iterator[list[str]]:
    """Write the episodes in `todo`, (id, key) pairs, below `out`; yield their search rows as JSON, batch by batch.

    Args:
        workers: processes; None for one per core, or a single one for few episodes.

    Raises:
        StoreError: the store can't be read or written.
        OSError: a file can't be read or written.
    """
    batches = [todo[start : start + _BATCH] for start in range(0, len(todo), _BATCH)]
    few = len(todo) < _MIN_FOR_PROCESSES
    return map_in_processes(store, partial(_write_batch, out), batches, workers, few, _DIED)


def _write_batch(out: Path, store: EpisodeReader, batch: Sequence[tuple[str, str]]) -> list[str]:
    """Write the folders of a batch of (id, key) pairs and return their search rows as JSON, in the same order.

    An episode that can't be read gets a row with an empty key and no folder.
    """
    keys = dict(batch)
    rows: dict[str, str] = {}
    try:
        for row in store.scan(episode_schema().names, ids_filter(list(keys)), 8):
            _write_episode(out, row, keys, rows)
    except StoreError as error:
        if len(batch) == 1:
            problem = str(error).removeprefix(f"{store.url}: ")
            # Pages are published, so they don't name the store's path. Lance omits the leading "/" of paths.
            for path in (Path(store.url).absolute(), Path(store.url).resolve()):
                problem = problem.replace(f"{path.parent}/".lstrip("/"), "")
            return [finite_json(damaged_search_row(batch[0][0], {}, [f"can't be read: {problem}"]))]
        log.debug("reading %d episodes at once failed (%s); reading them one by one", len(batch), error)
        for episode, key in batch:
            if episode not in rows:
                (rows[episode],) = _write_batch(out, store, [(episode, key)])
    return [rows[episode] for episode, _ in batch]


def _write_episode(out: Path, row: dict[str, Any], keys: dict[str, str], rows: dict[str, str]) -> None:
    episode = row[KEY]
    key = keys[episode]
    if key_of(episode, row["sha256"], row["text_sha256"]) != key:
        # An older attempt at an episode that is stored twice.
        return
    try:
        files, found = _pages(row, key, record_of(row))
    except DamagedError:
        rows[episode] = finite_json(damaged_search_row(episode, row, problems_of(row)))
    except (DioramaError, *INCOMPLETE) as error:
        # Such as a stage or a plug-in that is no longer there.
        problem = f"can't be shown: {type(error).__name__}: {error}"
        rows[episode] = finite_json(damaged_search_row(episode, row, [problem]))
    else:
        # In an incomplete folder, the user may have files.
        put_folder(out, folder_of(key), files, lambda *_: None)
        rows[episode] = finite_json(found)


def _pages(row: dict[str, Any], key: str, record: EpisodeRecord) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of an episode, and its search row."""
    problems = [*problems_in(row, record), *invalid_answer(record.scene.task)]
    names = [f"{number}.png" for number in range(len(record.images))]
    files = {name: image.png for name, image in zip(names, record.images, strict=True)}
    page = script_call("Gallery.data.episode", key, page_data(record, names, problems))
    thumb = thumbnail([image.png for image in record.images])
    return {**files, "thumbnail.webp": thumb, "page.js": page.encode()}, search_row(key, record, problems)
