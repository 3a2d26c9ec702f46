"""Where a store is, and what is there before it is opened."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from render.model.errors import StoreError

Found = Literal["nothing", "dataset", "remote"]

# What Lance itself puts into a dataset's folder; one that holds nothing else is a store that was being made.
_LANCE_FOLDERS = frozenset({"data", "_versions", "_transactions", "_deletions", "_indices", "_refs"})
_SHOWN_NAMES = 5


def is_remote(url: str) -> bool:
    """Whether a URL is an object store's. Raises StoreError for a kind that is not supported."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", url)
    if scheme is None:
        return False
    if scheme.group(1).lower() != "s3":
        raise StoreError(f"{url}: a store is a local folder or s3://BUCKET/NAME, not {scheme.group(1)}://")
    return True


def probe_location(url: str) -> Found:
    """What is at a place; "nothing" is where a store can be made. Raises StoreError if it is something else.

    Of a remote place only opening it tells.
    """
    if is_remote(url):
        return "remote"
    path = Path(url)
    try:
        if not path.exists():
            if path.is_symlink():
                raise StoreError(f"{url}: is a link to {path.readlink()}, which is not there")
            return "nothing"
        if not path.is_dir():
            raise StoreError(f"{url}: is a file, and a store is a folder; name another place")
        names = sorted(item.name for item in path.iterdir())
        versions = path / "_versions"
        if versions.is_dir() and any(item.suffix == ".manifest" for item in versions.iterdir()):
            return "dataset"
    except OSError as error:
        raise StoreError(f"{url}: can't be looked at: {error.strerror or error}") from error
    if any((path / "data").glob("*.lance")):
        raise StoreError(f"{url}: a damaged store: data files, but no manifest in _versions; restore that from a copy")
    if not _LANCE_FOLDERS.issuperset(names):
        shown = ", ".join(names[:_SHOWN_NAMES]) + (", ..." if len(names) > _SHOWN_NAMES else "")
        raise StoreError(f"{url}: is a folder without a store, with {shown} in it; name another place")
    return "nothing"


def nothing_there(url: str) -> StoreError:
    """The error for a place that should hold a store and holds nothing."""
    if not is_remote(url) and Path(url).is_dir():
        return StoreError(
            f"{url}: is an empty folder, not a store; render-batch SPECS --out {url} would make one there"
        )
    return StoreError(f"{url}: there is no store; render-batch SPECS --out {url} would make one")
