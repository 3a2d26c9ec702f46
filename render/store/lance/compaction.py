"""Small files into larger ones, and the index on the id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from render.store.lance.columns import KEY

# A commit looks through the ids of every fragment: 39 ms at a million rows in 75 fragments, 146 ms at 300,000 in 1,012.
_MOST_FRAGMENTS = 64
_FRAGMENT_ROWS = 1024


def compact_files(dataset: Any, batch_rows: int) -> None:
    """Merge small fragments and bring the BTREE index on the id up to date.

    dataset: lance.LanceDataset, at the latest version. batch_rows: how many rows may be in memory at once.
    Old versions stay: taking them away beside a writer corrupts, and they are the history of replaced episodes.
    """
    wanted = _FRAGMENT_ROWS
    # In powers of two, so that an episode is copied a few times in the life of a store and not at every compaction.
    while dataset.count_rows() > wanted * _MOST_FRAGMENTS:
        wanted *= 2
    dataset.optimize.compact_files(
        target_rows_per_fragment=wanted, compaction_mode="try_binary_copy", num_threads=1, batch_size=batch_rows
    )
    if any(KEY in index.field_names for index in dataset.describe_indices()):
        dataset.optimize.optimize_indices()
    elif dataset.count_rows():
        dataset.create_scalar_index(KEY, "BTREE")


def repeated(ids: Iterable[str]) -> list[str]:
    """Ids that are there more than once, sorted: two settings keep racing writers from that, neither of them proven."""
    seen: set[str] = set()
    twice: set[str] = set()
    for key in ids:
        (twice if key in seen else seen).add(key)
    return sorted(twice)
