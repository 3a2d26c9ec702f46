"""What is at a store's path or URL before it is opened, and whether a server is safe to write to."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Literal

from diorama.render.store.episode_store import is_remote
from diorama.render.store.lance.errors import reason
from diorama.scene_specs.errors import StoreError, UsageError

Found = Literal["nothing", "dataset", "remote"]

# What Lance itself puts into a dataset's folder; a folder with nothing else is a store whose creation was cut short.
_LANCE_FOLDERS = frozenset({"data", "_versions", "_transactions", "_deletions", "_indices", "_refs"})
_SHOWN_NAMES = 5
# Of folders in folders; those of Lance have 3.
_MAX_DEPTH = 16
_PROBE = "_diorama_probe"


def probe_location(url: str) -> Found:
    """Return what is at a path or URL; a store can be created at "nothing".

    What is at a remote URL turns out only when it is opened.

    Raises:
        StoreError: for anything else.
        UsageError: for a path that Lance can't take.
    """
    try:
        url.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{url!r}: is not valid UTF-8, as Lance needs it; use another path") from None
    if is_remote(url):
        return "remote"
    path = Path(url)
    try:
        if not path.exists():
            if path.is_symlink():
                raise StoreError(f"{url}: is a link to {path.readlink()}, which does not exist")
            return "nothing"
        if not path.is_dir():
            raise StoreError(f"{url}: is a file, and a store is a folder; use another path")
        names = sorted(item.name for item in path.iterdir())
        versions = path / "_versions"
        if versions.is_dir() and any(item.suffix == ".manifest" for item in versions.iterdir()):
            _refuse_links_and_pipes(url, path)
            return "dataset"
    except OSError as error:
        raise StoreError(f"{url}: can't be read: {error.strerror or error}") from error
    if any((path / "data").glob("*.lance")):
        raise StoreError(f"{url}: a damaged store: data files, but no manifest in _versions; restore that from a copy")
    if not _LANCE_FOLDERS.issuperset(names):
        shown = ", ".join(names[:_SHOWN_NAMES]) + (", ..." if len(names) > _SHOWN_NAMES else "")
        raise StoreError(f"{url}: is a folder without a store, with {shown} in it; use another path")
    return "nothing"


def _refuse_links_and_pipes(url: str, folder: Path, depth: int = 0) -> None:
    """Raise StoreError for a link to a folder, where Lance would write and delete, and for pipes, which it waits for.

    Links to files are fine; the cache of the Hugging Face Hub consists of them. Lance replaces a link, not its target.
    """
    # Another process may delete old files and folders meanwhile.
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.is_symlink():
                    raise StoreError(
                        f"{url}: {entry.path} is a symbolic link to a folder; move the folder itself there"
                    )
                if depth == _MAX_DEPTH:
                    raise StoreError(f"{url}: {entry.path} lies too deep to belong to a store; move it away")
                _refuse_links_and_pipes(url, Path(entry.path), depth + 1)
            elif not entry.is_file() and os.path.lexists(entry.path):
                raise StoreError(f"{url}: {entry.path} is not a regular file; restore it from a copy of the store")


def check_writable(url: str) -> None:
    """Raise StoreError if a store can't be written, before anything is rendered for it."""
    check_conditional_put(url)
    for name in () if is_remote(url) else ("_versions", "_transactions", "data"):
        folder = Path(url) / name
        try:
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise StoreError(f"{url}: can't be written: {folder}: {error.strerror or error}") from error


@lru_cache(maxsize=64)
def check_conditional_put(url: str) -> None:
    """Raise StoreError if a remote store's server ignores conditional PUT, or can't be written; skip a local path.

    A success is remembered: the check costs three round trips. Lance's commits rely on it: `rclone serve s3` ignores it
    and lost 42 of 160 acknowledged commits. The check puts one key twice in create mode beside the store; the server
    must refuse the second.
    """
    if not is_remote(url):
        return
    try:
        import obstore
        from obstore.exceptions import AlreadyExistsError
        from obstore.store import from_url
    except ImportError:
        raise StoreError(f"{url}: writing to S3 needs obstore: pip install 'diorama-render[s3]'") from None
    key = f"{_PROBE}-{secrets.token_hex(8)}"
    try:
        server = from_url(url)
        obstore.put(server, key, b"1", mode="create")
    except Exception as error:
        raise StoreError(f"{url}: can't be written: {reason(error)}") from error
    try:
        obstore.put(server, key, b"2", mode="create")
    except AlreadyExistsError:
        return
    except Exception as error:
        raise StoreError(f"{url}: the test of conditional PUT failed: {reason(error)}") from error
    finally:
        # A key left behind does no harm, and a failed delete must not hide the result.
        with contextlib.suppress(Exception):
            obstore.delete(server, key)
    raise StoreError(
        f"{url}: this server ignores If-None-Match on PUT, so two writers would overwrite each other's commits; "
        "use one that honors it (AWS S3, Ceph, MinIO), or a local store and `render-store copy`"
    )
