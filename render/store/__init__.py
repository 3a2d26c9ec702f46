"""The dataset store: one row per episode, stored atomically. Lance is imported when a store is opened."""

from __future__ import annotations

from os import PathLike, fspath

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.lance.reader import LanceReader

__all__ = ["create_store", "open_at", "open_or_create", "open_store", "peek"]


def create_store(url: str | PathLike[str]) -> LanceStore:
    """Create an empty store at a path or URL. Raises StoreError if anything is there."""
    return LanceStore.create(fspath(url))


def open_store(url: str | PathLike[str]) -> LanceStore:
    """Open the store at a path or URL.

    Raises:
        StoreError: there is none, or something else.

    Examples:
        >>> import diorama
        >>> store = diorama.open_store("clevr.lance")
        >>> store.count(), len(store.get("clevr/train/000000").images)
        (2, 1)
    """
    return LanceStore.open(fspath(url))


def open_at(url: str | PathLike[str], version: int | str) -> LanceReader:
    """Open a store for reading at a version, by number or tag. Raises StoreError."""
    return LanceReader.at_version(fspath(url), version)


def open_or_create(url: str | PathLike[str]) -> LanceStore:
    """Open the store at a path or URL for writing, or create it. Raises StoreError if something else is there."""
    return LanceStore.open_or_create(fspath(url))


def peek(url: str | PathLike[str]) -> LanceStore | None:
    """Open the store at a path or URL, or return None if nothing is there. Raises StoreError if something else is."""
    return LanceStore.peek(fspath(url))
