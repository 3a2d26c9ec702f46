"""Opening a dataset and naming what is wrong with it; what a power cut tore, and the way back from that."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from render.model.errors import StoreError
from render.store.lance.columns import check_schema
from render.store.lance.location import is_remote, probe_location
from render.store.lance.translate_errors import reason, translate_errors

log = logging.getLogger(__name__)

_LAST_VERSION = 2**64 - 1
_MOST_TORN = 8
# Lance's own limits are gigabytes: a long export would fill them with what it never looks at again.
_INDEX_CACHE_BYTES = 128 << 20
_METADATA_CACHE_BYTES = 64 << 20
TORN = ".torn"


def open_dataset(url: str) -> Any | None:
    """The lance.LanceDataset of a store, None where nothing is yet. Raises StoreError, naming what is there instead."""
    found = probe_location(url)
    if found == "nothing":
        return None
    import lance

    with translate_errors(url, "opening"):
        try:
            dataset = lance.dataset(
                url, index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES
            )
        except ValueError as error:
            if found == "remote" and "not found" in str(error).lower():
                return None
            raise StoreError(_unreadable(url, found, error)) from error
        except OSError as error:
            raise StoreError(_unreadable(url, found, error)) from error
    check_schema(url, dataset.schema)
    if found == "dataset":
        _check_whole(url, dataset)
    return dataset


def _unreadable(url: str, found: str, error: Exception) -> str:
    text = f"{url}: opening failed: {reason(error)}"
    back = last_whole(url) if found == "dataset" else None
    return text + (f"; version {back} is whole: `render-store repair {url}` goes back to it" if back else "")


def _check_whole(url: str, dataset: Any) -> None:
    torn = torn_file(Path(url), dataset)
    if torn is None:
        return
    back = last_whole(url)
    if back is None:
        # Not a commit that was cut short: an older file was damaged later. The rest of the store can be read.
        log.warning("%s: damaged: %s; `render-store verify %s` names the episodes", url, torn, url)
        return
    raise StoreError(
        f"{url}: its newest version {dataset.version} is not whole: {torn}. If the machine lost power while that was "
        f"committed, `render-store repair {url}` goes back to version {back}; whatever was acknowledged is in that"
    )


def torn_file(root: Path, dataset: Any) -> str | None:
    """The first data file of a version that is missing or shorter than its manifest says, in words; None if none is.

    Lance writes data before the manifest that names it, but a disk may keep them in another order: a power cut between
    a commit and its fsync leaves the name without the data.
    """
    for fragment in dataset.get_fragments():
        for file in fragment.metadata.files:
            path = root / "data" / file.path
            try:
                size = path.stat().st_size
            except OSError as error:
                return f"{path} can't be read: {error.strerror or error}"
            if file.file_size_bytes and size != file.file_size_bytes:
                return f"{path} has {size} of {file.file_size_bytes} bytes"
    return None


def last_whole(url: str) -> int | None:
    """The newest version of a local store that is whole; None where there is none among the newest few.

    What power cuts is a commit on its way, one a writer; a file that many versions name was damaged otherwise, and
    going back behind it would lose what is whole.
    """
    for number in _numbers(Path(url))[:_MOST_TORN]:
        if _problem(url, number) is None:
            return number
    return None


def repair(url: str) -> list[int]:
    """Set versions aside that a power cut tore, newest first, until one is whole; returns their numbers.

    For a local store that nobody writes. Nothing is deleted: a manifest set aside is renamed to `....torn`.
    Raises StoreError where that would not help.
    """
    if is_remote(url):
        raise StoreError(f"{url}: only a local store can be torn by a power cut")
    probe_location(url)
    numbers = _numbers(Path(url))
    if not numbers:
        raise StoreError(f"{url}: there is no version of a store")
    back = last_whole(url)
    if back is None:
        raise StoreError(
            f"{url}: none of its newest {min(len(numbers), _MOST_TORN)} versions is whole, so this was no power cut: "
            f"{_problem(url, numbers[0])}; `render-store verify {url}` names the episodes that are damaged"
        )
    aside = [number for number in numbers if number > back]
    for number in aside:
        path = _manifest(Path(url), number)
        path.rename(path.with_name(path.name + TORN))
    if aside:
        # It names the newest version to save a listing, and that is gone.
        (Path(url) / "_versions" / "latest_version_hint.json").unlink(missing_ok=True)
        _sync(Path(url) / "_versions")
    return aside


def _numbers(root: Path) -> list[int]:
    """Versions there are, newest first."""
    stems = [path.stem for path in (root / "_versions").glob("*.manifest")]
    return sorted((_LAST_VERSION - int(stem) for stem in stems if stem.isdecimal()), reverse=True)


def _manifest(root: Path, version: int) -> Path:
    # Named backwards, so that the newest is listed first.
    return root / "_versions" / f"{_LAST_VERSION - version:020}.manifest"


def _problem(url: str, version: int) -> str | None:
    import lance

    try:
        dataset = lance.dataset(url, version=version)
        return torn_file(Path(url), dataset)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return reason(error)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
