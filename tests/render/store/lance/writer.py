"""A separate process that writes into a store and prints each acknowledged id; tests kill it."""

from __future__ import annotations

import sys

from diorama.render.store.lance.lance_store import LanceStore
from tests.factories import make_record


def main(url: str, prefix: str, first: int, count: int, batch: int, compact_every: int) -> None:
    """Put `count` episodes `prefix/<number>` from `first`, `batch` per commit. compact_every: commits, 0 for never."""
    store = LanceStore.open_or_create(url)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for number, start in enumerate(range(first, first + count, batch)):
        names = range(start, min(start + batch, first + count))
        store.put([make_record(f"{prefix}/{name}", seed=name % 5) for name in names])
        sys.stdout.writelines(f"{prefix}/{name}\n" for name in names)
        sys.stdout.flush()
        if compact_every and number % compact_every == compact_every - 1:
            store.compact()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *[int(text) for text in sys.argv[3:7]])
