"""Builds and updates the gallery of a store: a folder of pages that a browser opens without a server.

Episodes are read in small batches, so memory does not grow with their images. An index row of each episode (about half
a kilobyte) is kept until the end.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from diorama.render.gallery.episode_pages import write_episodes
from diorama.render.gallery.gallery_files import (
    FORMAT_VERSION,
    MARKER,
    PAGE,
    ROWS,
    check_target,
    key_of,
    page_files,
    read_marker,
    read_rows,
    stale_folders,
    write_index,
)
from diorama.render.io.atomic_output import indented_json, output_lock, put_file, remove_folder
from diorama.render.io.written_files import WrittenFiles
from diorama.render.model.errors import DioramaError, StoreError
from diorama.render.store.episode_store import ID_BATCH_ROWS, KEY, EpisodeReader, is_remote
from diorama.render.store.selection import first_ids, listed

log = logging.getLogger(__name__)

_COLUMNS = (KEY, "attempt", "sha256", "text_sha256")


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
        """The error that the command ends with, if any; the gallery is complete and lists damaged episodes, too."""
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
    check_target(out)
    report = GalleryReport(str(out), store.url, store.version)
    with output_lock(out):
        try:
            check_target(out)
            _build(store, out, options, progress, report)
        except OSError as error:
            raise StoreError(f"writing the gallery below {out} failed: {error}; finished episodes are kept") from error
    report.seconds = round(time.monotonic() - start, 3)
    return report


def _build(
    store: EpisodeReader, out: Path, options: GalleryOptions, progress: Callable[[int], None], report: GalleryReport
) -> None:
    wanted = _wanted(store, options)
    facts = _facts(store, options)
    location = _location_hash(store.url)
    previous = _previous_location(out)
    written = WrittenFiles(out, store, options.overwrite, trusted=previous == location)
    written.check(PAGE, *page_files())
    if previous not in (None, location):
        log.warning("%s was the gallery of another store; it becomes the gallery of %s", out, store.url)
    if not (out / MARKER).exists():
        _write_marker(out, {**facts, "location_hash": location, "whole": False})
    rows = read_rows(out)
    todo = [(episode, key) for episode, key in wanted.items() if key not in rows]
    report.kept = len(wanted) - len(todo)
    progress(report.kept)
    _write_rows(out, rows)
    damaged: dict[str, str] = {}
    with (out / ROWS).open("a", encoding="utf-8", newline="\n") as journal:
        for batch in write_episodes(store, out, todo, options.workers):
            for row in batch:
                _add_row(row, rows, damaged, report)
            journal.writelines(f"{row}\n" for row in batch if not row.startswith('{"key":""'))
            journal.flush()
            progress(len(batch))
    listed = [damaged.get(episode) or rows[key] for episode, key in wanted.items()]
    report.episodes = len(listed)
    report.failed = sum('"checks":[]' not in row for row in listed)
    write_index(written, listed, facts)
    _write_marker(out, {**facts, "location_hash": location, "whole": True, "episodes": len(listed)})
    kept = {key: rows[key] for key in wanted.values() if key in rows}
    _write_rows(out, kept)
    for path in stale_folders(out, kept):
        removed = remove_folder(out, path, r"page\.js|thumbnail\.webp|\d+\.png")
        report.removed += removed and not path.name.startswith(".")


def _facts(store: EpisodeReader, options: GalleryOptions) -> dict[str, Any]:
    """What the pages show about the gallery: they are published, so only the name of the store's folder."""
    name = Path(store.url.rstrip("/")).name
    facts = {"title": name, "store": name, "version": store.version}
    return {**facts, "at": options.at, "where": options.where, "limit": options.limit}


def _previous_location(out: Path) -> str | None:
    """The hashed location of the store whose gallery is in a folder."""
    marker = read_marker(out)
    if "location_hash" in marker:
        return str(marker["location_hash"])
    # Galleries of older versions have the store's path instead.
    return _location_hash(str(marker["store"])) if "store" in marker else None


def _location_hash(url: str) -> str:
    """A hash of where a store is, the same for a relative and an absolute path."""
    return hashlib.sha256((url if is_remote(url) else str(Path(url).resolve())).encode()).hexdigest()


def _write_marker(out: Path, facts: dict[str, Any]) -> None:
    put_file(out, MARKER, indented_json({"gallery": FORMAT_VERSION, **facts}), overwrite=True)


def _add_row(row: str, rows: dict[str, str], damaged: dict[str, str], report: GalleryReport) -> None:
    facts = json.loads(row)
    if facts["key"]:
        rows[facts["key"]] = row
        report.built += 1
        return
    damaged[facts["id"]] = row
    report.damaged.append(f"episode {facts['id']}: {'; '.join(facts['problems'])}")


def _wanted(store: EpisodeReader, options: GalleryOptions) -> dict[str, str]:
    """Id -> key, sorted by id; of the latest attempt if an id is stored twice."""
    found: dict[str, tuple[int, str]] = {}
    for row in store.scan(_COLUMNS, options.where, ID_BATCH_ROWS):
        attempt = (row["attempt"] or 0, key_of(row[KEY], row["sha256"], row["text_sha256"]))
        found[row[KEY]] = max(found.get(row[KEY], attempt), attempt)
    return {episode: found[episode][1] for episode in first_ids(sorted(found), options.limit)}


def _write_rows(out: Path, rows: dict[str, str]) -> None:
    """Write the journal without incomplete lines and removed episodes."""
    put_file(out, ROWS, "".join(f"{row}\n" for row in rows.values()).encode(), overwrite=True)
