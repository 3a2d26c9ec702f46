"""Builds and updates the gallery of a store: a folder of pages that a browser opens without a server.

Episodes are read in small batches, so memory does not grow with their images. An index row of each episode (about half
a kilobyte) is kept until the end.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

from diorama.render.store.columns import episode_schema
from diorama.render.store.episode_store import ID_BATCH_ROWS, KEY, DamagedError, EpisodeReader, ids_filter, is_remote
from diorama.render.store.processes import map_in_processes
from diorama.render.store.row_checks import invalid_answer, problems_in, problems_of
from diorama.render.store.rows import finite_json, record_of
from diorama.render.store.selection import first_ids, listed
from diorama.render.uses.gallery import gallery_files
from diorama.render.uses.gallery.episode_facts import damaged_search_row, page_data, search_row
from diorama.render.uses.io.atomic_output import output_lock, put_file, put_folder, remove_folder
from diorama.render.uses.io.written_files import WrittenFiles
from diorama.scene_specs.errors import INCOMPLETE, DioramaError, StoreError
from diorama.scene_specs.files.writing import indented_json
from diorama.scene_specs.model.pictures import DAMAGED, open_png
from diorama.scene_specs.model.record import EpisodeRecord

log = logging.getLogger(__name__)

_COLUMNS = (KEY, "attempt", "sha256", "text_sha256")
# Twice the size of a card in the gallery, for screens with a device pixel ratio of 2.
SIZE = (480, 360)
_MAX_IMAGES = 9
_GAP = 6
_QUALITY = 78
# Episodes per task of a worker: a second or two of work.
_BATCH = 32
# For fewer episodes, starting processes takes longer than the work.
_MIN_FOR_PROCESSES = 256
_DIED = (
    "a gallery worker died, possibly for lack of memory; finished episodes are kept: run the command again, with "
    "fewer --workers"
)


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
    pictures = [_open_image(png) for png in pngs[:_MAX_IMAGES]]
    first = next((picture for picture in pictures if picture), Image.new("RGB", (4, 3)))
    columns, rows, width, height = grid_of(len(pictures), first.width / first.height)
    if width > first.width:
        # Enlarging adds bytes without detail; the page can enlarge.
        width, height = first.size
    sheet = Image.new("RGBA", (columns * (width + _GAP) - _GAP, rows * (height + _GAP) - _GAP))
    for number, picture in enumerate(pictures):
        if picture is None:
            continue
        small = picture.resize(_size_inside(picture.size, (width, height)), Image.Resampling.BOX, reducing_gap=2.0)
        left = (number % columns) * (width + _GAP) + (width - small.width) // 2
        top = (number // columns) * (height + _GAP) + (height - small.height) // 2
        sheet.paste(small, (left, top))
    out = io.BytesIO()
    sheet.save(out, "WEBP", quality=_QUALITY, method=2)
    return out.getvalue()


def _open_image(png: bytes) -> Image.Image | None:
    try:
        with open_png(png) as picture:
            return picture.convert("RGB")
    except DAMAGED:
        return None


def _size_inside(size: tuple[int, int], cell: tuple[int, int]) -> tuple[int, int]:
    factor = min(cell[0] / size[0], cell[1] / size[1])
    return (max(1, round(size[0] * factor)), max(1, round(size[1] * factor)))


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
    if gallery_files.key_of(episode, row["sha256"], row["text_sha256"]) != key:
        # An older attempt at an episode that is stored twice.
        return
    try:
        files, search_row = _episode_pages(row, key, record_of(row))
    except DamagedError:
        rows[episode] = finite_json(damaged_search_row(episode, row, problems_of(row)))
    except (DioramaError, *INCOMPLETE) as error:
        # Such as a stage or a plug-in that is no longer there.
        problem = f"can't be shown: {type(error).__name__}: {error}"
        rows[episode] = finite_json(damaged_search_row(episode, row, [problem]))
    else:
        # In an incomplete folder, the user may have files.
        put_folder(out, gallery_files.folder_of(key), files, lambda *_: None)
        rows[episode] = finite_json(search_row)


def _episode_pages(row: dict[str, Any], key: str, record: EpisodeRecord) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of an episode, and its search row."""
    problems = [*problems_in(row, record), *invalid_answer(record.scene.task)]
    names = [f"{number}.png" for number in range(len(record.images))]
    files = {name: image.png for name, image in zip(names, record.images, strict=True)}
    page = gallery_files.script_call("Gallery.data.episode", key, page_data(record, names, problems))
    thumb = thumbnail([image.png for image in record.images])
    return {**files, "thumbnail.webp": thumb, "page.js": page.encode()}, search_row(key, record, problems)


@dataclass(frozen=True)
class GalleryOptions:
    """What a gallery shows and how it is built.

    Attributes:
        where: SQL filter on the store's columns.
        limit: maximum number of episodes, the first by id, contrasts completely or not at all.
        at: version or tag as the user wrote it, for the commands on the pages.
        workers: processes; None for one per core.
        overwrite: whether to replace pages that this store's gallery did not write, or that were changed.
    """

    where: str | None = None
    limit: int | None = None
    at: str | None = None
    workers: int | None = None
    overwrite: bool = False


@dataclass
class GalleryReport:
    """What a gallery build did.

    Attributes:
        built: numbers of episodes; kept ones are there already.
        kept: numbers of episodes; kept ones are there already.
        removed: numbers of episodes; kept ones are there already.
        failed: episodes with failed checks, including damaged ones.
        damaged: one line per episode that can't be read.
    """

    folder: str
    store: str
    version: int
    episodes: int = 0
    built: int = 0
    kept: int = 0
    removed: int = 0
    failed: int = 0
    seconds: float = 0.0
    damaged: list[str] = field(default_factory=list)

    @property
    def page(self) -> Path:
        """The page to open."""
        return Path(self.folder) / "index.html"

    def error(self) -> DioramaError | None:
        """Return the error that the command ends with, if any; the gallery is complete and lists damaged episodes."""
        return StoreError(listed("can't be shown", self.damaged)) if self.damaged else None

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {**asdict(self), "page": str(self.page)}


def build(
    store: EpisodeReader, out: Path, options: GalleryOptions, progress: Callable[[int], None] = lambda done: None
) -> GalleryReport:
    """Build or update the gallery of a store in the folder `out`; unchanged episodes are not written again.

    A build can be stopped at any moment and continues when it is called again; until it ends, the previous page stays
    as it is.

    Args:
        progress: receives the number of episodes done since the last call.

    Raises:
        UsageError: if `out` holds something else, or pages of another store or that were changed.
        StoreError: if the store can't be read or `out` can't be written.
    """
    start = time.monotonic()
    gallery_files.check_target(out)
    report = GalleryReport(str(out), store.url, store.version)
    with output_lock(out):
        try:
            gallery_files.check_target(out)
            _build_pages(store, out, options, progress, report)
        except OSError as error:
            raise StoreError(f"writing the gallery below {out} failed: {error}; finished episodes are kept") from error
    report.seconds = round(time.monotonic() - start, 3)
    return report


def _build_pages(
    store: EpisodeReader, out: Path, options: GalleryOptions, progress: Callable[[int], None], report: GalleryReport
) -> None:
    wanted = _wanted_episodes(store, options)
    facts = _gallery_facts(store, options)
    location = _location_hash(store.url)
    previous = _previous_location(out)
    written = WrittenFiles(out, store, options.overwrite, trusted=previous == location)
    written.check(gallery_files.PAGE, *gallery_files.page_files())
    if previous not in (None, location):
        log.warning("%s was the gallery of another store; it becomes the gallery of %s", out, store.url)
    if not (out / gallery_files.MARKER).exists():
        _write_marker(out, {**facts, "location_hash": location, "whole": False})
    rows = gallery_files.read_rows(out)
    todo = [(episode, key) for episode, key in wanted.items() if key not in rows]
    report.kept = len(wanted) - len(todo)
    progress(report.kept)
    _write_rows(out, rows)
    damaged: dict[str, str] = {}
    batches = [todo[start : start + _BATCH] for start in range(0, len(todo), _BATCH)]
    with (out / gallery_files.ROWS).open("a", encoding="utf-8", newline="\n") as journal:
        write, few = partial(_write_batch, out), len(todo) < _MIN_FOR_PROCESSES
        for batch in map_in_processes(store, write, batches, options.workers, few, _DIED):
            for row in batch:
                _add_row(row, rows, damaged, report)
            journal.writelines(f"{row}\n" for row in batch if not row.startswith('{"key":""'))
            journal.flush()
            progress(len(batch))
    listed = [damaged.get(episode) or rows[key] for episode, key in wanted.items()]
    report.episodes = len(listed)
    report.failed = sum('"checks":[]' not in row for row in listed)
    gallery_files.write_index(written, listed, facts)
    _write_marker(out, {**facts, "location_hash": location, "whole": True, "episodes": len(listed)})
    kept = {key: rows[key] for key in wanted.values() if key in rows}
    _write_rows(out, kept)
    for path in gallery_files.stale_folders(out, kept):
        removed = remove_folder(out, path, r"page\.js|thumbnail\.webp|\d+\.png")
        report.removed += removed and not path.name.startswith(".")


def _gallery_facts(store: EpisodeReader, options: GalleryOptions) -> dict[str, Any]:
    """Return what the pages show about the gallery: they are published, so only the name of the store's folder."""
    name = Path(store.url.rstrip("/")).name
    facts = {"title": name, "store": name, "version": store.version}
    return {**facts, "at": options.at, "where": options.where, "limit": options.limit}


def _previous_location(out: Path) -> str | None:
    """Return the hashed location of the store whose gallery is in a folder."""
    marker = gallery_files.read_marker(out)
    if "location_hash" in marker:
        return str(marker["location_hash"])
    # Galleries of older versions have the store's path instead.
    return _location_hash(str(marker["store"])) if "store" in marker else None


def _location_hash(url: str) -> str:
    """Return a hash of where a store is, the same for a relative and an absolute path."""
    return hashlib.sha256((url if is_remote(url) else str(Path(url).resolve())).encode()).hexdigest()


def _write_marker(out: Path, facts: dict[str, Any]) -> None:
    put_file(
        out, gallery_files.MARKER, indented_json({"gallery": gallery_files.FORMAT_VERSION, **facts}), overwrite=True
    )


def _add_row(row: str, rows: dict[str, str], damaged: dict[str, str], report: GalleryReport) -> None:
    facts = json.loads(row)
    if facts["key"]:
        rows[facts["key"]] = row
        report.built += 1
        return
    damaged[facts["id"]] = row
    report.damaged.append(f"episode {facts['id']}: {'; '.join(facts['problems'])}")


def _wanted_episodes(store: EpisodeReader, options: GalleryOptions) -> dict[str, str]:
    """Id -> key, sorted by id; of the latest attempt if an id is stored twice."""
    attempts: dict[str, tuple[int, str]] = {}
    for row in store.scan(_COLUMNS, options.where, ID_BATCH_ROWS):
        attempt = (row["attempt"] or 0, gallery_files.key_of(row[KEY], row["sha256"], row["text_sha256"]))
        attempts[row[KEY]] = max(attempts.get(row[KEY], attempt), attempt)
    return {episode: attempts[episode][1] for episode in first_ids(sorted(attempts), options.limit)}


def _write_rows(out: Path, rows: dict[str, str]) -> None:
    """Write the journal without incomplete lines and removed episodes."""
    put_file(out, gallery_files.ROWS, "".join(f"{row}\n" for row in rows.values()).encode(), overwrite=True)
