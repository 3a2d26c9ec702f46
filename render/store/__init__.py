"""The dataset store: one row an episode, whole or not there. Nothing heavy is imported before a store is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from render.store.episode_store import EpisodeStore
    from render.store.lance.lance_store import LanceStore
    from render.store.lance.reader import LanceReader

__all__ = ["open_at", "open_or_create", "open_store", "peek"]


def open_store(url: str) -> LanceStore:
    """The store at a path or URL. Raises StoreError if there is none, or something else."""
    from render.store.lance.lance_store import LanceStore

    return LanceStore.open(url)


def open_at(url: str, version: int | str) -> LanceReader:
    """The store as it was at a version, given by number or tag; for reading only. Raises StoreError."""
    from render.store.lance.reader import LanceReader

    return LanceReader.at_version(url, version)


def open_or_create(url: str) -> EpisodeStore:
    """The store at a path or URL, made if nothing is there. Raises StoreError if something else is."""
    from render.store.lance.lance_store import LanceStore

    return LanceStore.open_or_create(url)


def peek(url: str) -> EpisodeStore | None:
    """The store at a path or URL, or None if nothing is there yet. Raises StoreError if something else is."""
    from render.store.lance.lance_store import LanceStore

    return LanceStore.peek(url)
