"""Where the files of a gallery lie, and how they get there: whole, under a temporary name first.

    <out>/index.html                    the page
          gallery.json                  says that this folder is a gallery, and of which store and version
          static/                       its program and style
          episodes/<abc>/<key>/         an episode: page.js, thumbnail.webp, 0.png, 1.png, ...
          data/rows.jsonl               a row of facts an episode; what was done already when the command runs again
          data/<hash>/*.js              the same as columns, as the page reads it

The key of an episode is a hash of its id and contents, so a changed episode is another folder: nothing that an open
page may still read is ever overwritten.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from render.model.errors import UsageError

FORMAT_VERSION = 1
MARKER = "gallery.json"
EPISODES = "episodes"
ROWS = "data/rows.jsonl"
_PARTIAL = ".partial"
# 4,096 folders: ten episodes in each of a store of 40,000, 250 in each of a million.
_PREFIX = 3


def key_of(episode_id: str, sha256: str | None, text_sha256: str | None) -> str:
    """20 hexadecimal digits that change whenever an episode's pictures, truth, job or provenance do."""
    parts = json.dumps([FORMAT_VERSION, episode_id, sha256, text_sha256])
    return hashlib.sha256(parts.encode()).hexdigest()[:20]


def folder_of(out: Path, key: str) -> Path:
    """Where an episode lies."""
    return out / EPISODES / key[:_PREFIX] / key


def write_folder(target: Path, files: Mapping[str, bytes]) -> None:
    """A folder with these files; it has its name only once all of them are in it."""
    partial = target.with_name(f".{target.name}{_PARTIAL}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for name, content in files.items():
        (partial / name).write_bytes(content)
    # There already: of an earlier attempt that ended before it could say so.
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)


def write_file(path: Path, content: bytes) -> None:
    """A file that takes its name once all of it is written; one that has this content already stays as it is."""
    with contextlib.suppress(OSError):
        if path.read_bytes() == content:
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_PARTIAL)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def check_target(out: Path) -> None:
    """Raises UsageError for a folder that holds something else than a gallery."""
    try:
        there = sorted(path.name for path in out.iterdir()) if out.exists() else []
    except OSError as error:
        raise UsageError(f"--out {out}: can't be a gallery's folder: {error.strerror or error}") from error
    if there and MARKER not in there:
        shown = ", ".join(there[:5]) + (", ..." if len(there) > 5 else "")
        raise UsageError(f"--out {out}: holds something else than a gallery ({shown}); name another folder")


def read_rows(out: Path) -> dict[str, str]:
    """Key -> its row as JSON text, of the episodes that were written; a line that was cut short is left out."""
    try:
        lines = (out / ROWS).read_text("utf-8", errors="replace").split("\n")
    except OSError:
        return {}
    # What follows the last line break was cut short, or is nothing.
    found = {line[8:28]: line for line in lines[:-1] if line.startswith('{"key":"') and line.endswith("}")}
    return {key: line for key, line in found.items() if folder_of(out, key).is_dir()}


def stale_folders(out: Path, keys: Mapping[str, Any]) -> Iterator[Path]:
    """Folders of episodes that are not among the keys, and what an interrupted run left half-written."""
    for prefix in sorted((out / EPISODES).glob("*")):
        yield from (path for path in sorted(prefix.iterdir()) if path.name not in keys)
