"""The way back after a power cut: torn versions of a local store are set aside."""

from __future__ import annotations

from pathlib import Path

from diorama.render.store.episode_store import is_remote
from diorama.render.store.lance import durability
from diorama.render.store.lance.location import probe_location
from diorama.scene_specs.errors import StoreError

TORN = ".torn"


def roll_back(url: str) -> list[int]:
    """Set aside the versions that a power cut tore, newest first, until one is complete; return their numbers.

    For a local store that nobody writes. Nothing is deleted: a torn manifest is renamed to `*.torn`. Raises StoreError
    if that would not help.
    """
    if is_remote(url):
        raise StoreError(f"{url}: only a local store can be torn by a power cut")
    probe_location(url)
    numbers = durability.list_versions(Path(url))
    if not numbers:
        raise StoreError(f"{url}: there is no version of a store")
    back = durability.last_complete(url)
    if back is None:
        raise StoreError(
            f"{url}: none of its newest {min(len(numbers), durability.MOST_TORN)} versions is complete, so the cause "
            f"is not a power cut: {durability.tear_in(url, numbers[0])}; `render-store verify {url}` lists the damaged "
            "episodes"
        )
    torn = [number for number in numbers if number > back]
    for number in torn:
        path = durability.manifest_path(Path(url), number)
        path.rename(path.with_name(path.name + TORN))
    if torn:
        # The hint holds the newest version's number to save a listing, and that version is gone.
        (Path(url) / "_versions" / "latest_version_hint.json").unlink(missing_ok=True)
        durability.sync_path(Path(url) / "_versions")
    return torn
