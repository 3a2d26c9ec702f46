"""A separate process that repeats every operation of a store and reports each phase.

Lines: `begin PHASE`, `end PHASE SECONDS`, and `ack ID` for what was committed. Tools kill it at any moment.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from diorama.render.store.lance.lance_store import LanceStore
from tests.factories import make_record

PHASES = ("commit", "compaction", "index", "clean-up")
BATCH = 16


def report(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def phase(name: str) -> Iterator[None]:
    report(f"begin {name}")
    start = time.monotonic()
    yield
    report(f"end {name} {time.monotonic() - start:.4f}")


def main(url: str, prefix: str, cycles: int) -> None:
    """`cycles` times: four commits, compaction, a new index, and away with all versions but the newest."""
    store = LanceStore.open_or_create(url)
    number = 0
    for _ in range(cycles):
        for _ in range(4):
            names = [f"{prefix}/{number + step}" for step in range(BATCH)]
            number += BATCH
            records = [make_record(name, seed=int(name.rpartition("/")[2]) % 5) for name in names]
            with phase("commit"):
                store.put(records)
            for name in names:
                report(f"ack {name}")
        with phase("compaction"):
            store.compact()
        with phase("index"):
            store._dataset.create_scalar_index("episode_id", "BTREE", replace=True)
        with phase("clean-up"):
            # Younger than a day: allowed only because nobody else writes here.
            store.clean_up(timedelta(0), least_age=timedelta(0))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
