"""A store as a folder of pages that a browser opens without a server: made once, brought up to date afterwards.

Episodes are read in small batches, so the memory taken does not grow with their pictures; an index row (about half a
kilobyte) of each is kept until the end.
"""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from render.export.protocol import output_lock
from render.gallery.episodes import write_episodes
from render.gallery.files import (
    FORMAT_VERSION,
    MARKER,
    ROWS,
    check_target,
    key_of,
    read_rows,
    stale_folders,
    write_file,
)
from render.gallery.index import write_index
from render.model.errors import DioramaError, StoreError
from render.store.episode_store import ID_BATCH_ROWS, KEY, EpisodeReader, is_remote

log = logging.getLogger(__name__)

_MARKS = (KEY, "attempt", "sha256", "text_sha256")
_SHOWN_DAMAGE = 5


@dataclass(frozen=True)
class GalleryOptions:
    """where: only episodes that this SQL-like condition holds for. limit: at most so many, first by id.

    at: version or tag as the user named it, for the commands that the pages show. workers: processes, None for as many
    as cores.
    """

    where: str | None = None
    limit: int | None = None
    at: str | None = None
    workers: int | None = None


@dataclass
class GalleryReport:
    """built, kept (there already), removed: episodes. failed: with failed checks, damaged ones among them.

    damaged: a line an episode that could not be read.
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
        """What to open."""
        return Path(self.folder) / "index.html"

    def error(self) -> DioramaError | None:
        """What the command ends with; the gallery is there, and lists the damaged ones too."""
        if not self.damaged:
            return None
        more = len(self.damaged) - _SHOWN_DAMAGE
        lines = [*self.damaged[:_SHOWN_DAMAGE], *([f"and {more} more"] if more > 0 else [])]
        return StoreError("\n  ".join([f"{len(self.damaged)} episodes can't be shown:", *lines]))

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "page": str(self.page)}


def build(
    store: EpisodeReader, out: Path, options: GalleryOptions, progress: Callable[[int], None] = lambda done: None
) -> GalleryReport:
    """Make or update the gallery of a store in the folder `out`; what is there and unchanged is not made again.

    progress: called with the number of episodes done since the last call. Raises UsageError for a folder that is
    something else, StoreError where the store can't be read or the folder not be written. Stopped at any moment, it
    goes on from there when called again; until it ends, the page that was there before stays as it was.
    """
    start = time.monotonic()
    check_target(out)
    report = GalleryReport(str(out), store.url, store.version)
    with output_lock(out):
        try:
            check_target(out)
            _build(store, out, options, progress, report)
        except OSError as error:
            raise StoreError(f"writing the gallery below {out} failed: {error}; what is done stays done") from error
    report.seconds = round(time.monotonic() - start, 3)
    return report


def _build(
    store: EpisodeReader, out: Path, options: GalleryOptions, progress: Callable[[int], None], report: GalleryReport
) -> None:
    wanted = _wanted(store, options)
    facts = _facts(store, options)
    before = _store_of(out)
    if before is not None and _place(before) != _place(store.url):
        log.warning("%s was the gallery of %s; now it becomes that of %s", out, before, store.url)
    if not (out / MARKER).exists():
        write_file(out / MARKER, _marker({**facts, "whole": False}))
    rows = read_rows(out)
    todo = [(episode, key) for episode, key in wanted.items() if key not in rows]
    report.kept = len(wanted) - len(todo)
    progress(report.kept)
    _rewrite(out, rows)
    damaged: dict[str, str] = {}
    with (out / ROWS).open("a", encoding="utf-8", newline="\n") as journal:
        for some in write_episodes(store, out, todo, options.workers):
            for row in some:
                _take(row, rows, damaged, report)
            journal.writelines(f"{row}\n" for row in some if not row.startswith('{"key":""'))
            journal.flush()
            progress(len(some))
    listed = [damaged.get(episode) or rows[key] for episode, key in wanted.items()]
    report.episodes = len(listed)
    report.failed = sum('"checks":[]' not in row for row in listed)
    write_index(out, listed, facts)
    write_file(out / MARKER, _marker({**facts, "whole": True, "episodes": len(listed)}))
    _tidy(out, {key: rows[key] for key in wanted.values() if key in rows}, report)


def _facts(store: EpisodeReader, options: GalleryOptions) -> dict[str, Any]:
    """What the pages say about the gallery as a whole."""
    name = Path(store.url.rstrip("/")).name
    return {
        "title": name,
        "store": store.url,
        "version": store.version,
        "at": options.at,
        "where": options.where,
        "limit": options.limit,
    }


def _store_of(out: Path) -> str | None:
    """The store that the gallery in a folder was made of."""
    try:
        found = json.loads((out / MARKER).read_bytes())["store"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(found)


def _place(url: str) -> str:
    """The same for two ways to write one place."""
    return url if is_remote(url) else str(Path(url).resolve())


def _marker(facts: dict[str, Any]) -> bytes:
    return (json.dumps({"gallery": FORMAT_VERSION, **facts}, indent=1, ensure_ascii=False) + "\n").encode()


def _take(row: str, rows: dict[str, str], damaged: dict[str, str], report: GalleryReport) -> None:
    facts = json.loads(row)
    if facts["key"]:
        rows[facts["key"]] = row
        report.built += 1
        return
    damaged[facts["id"]] = row
    report.damaged.append(f"episode {facts['id']}: {'; '.join(facts['problems'])}")


def _wanted(store: EpisodeReader, options: GalleryOptions) -> dict[str, str]:
    """Id -> key, by id; of an id that is there twice the latest attempt."""
    found: dict[str, tuple[int, str]] = {}
    for row in store.scan(_MARKS, options.where, ID_BATCH_ROWS):
        here = (row["attempt"] or 0, key_of(row[KEY], row["sha256"], row["text_sha256"]))
        found[row[KEY]] = max(found.get(row[KEY], here), here)
    return {episode: found[episode][1] for episode in sorted(found)[: options.limit]}


def _rewrite(out: Path, rows: dict[str, str]) -> None:
    """The journal without what was cut short or is no longer there."""
    write_file(out / ROWS, "".join(f"{row}\n" for row in rows.values()).encode())


def _tidy(out: Path, keys: dict[str, str], report: GalleryReport) -> None:
    """Take away what the new index does not name."""
    _rewrite(out, keys)
    for path in stale_folders(out, keys):
        report.removed += not path.name.startswith(".")
        shutil.rmtree(path)
