"""Write the same ids from several processes at once.

    python -m tools store-race --runs 10 --ids 500 --folder /tmp/race

Four processes write the same ids and four others their own, while one of them compacts. No episode may be lost or
stored twice.
"""

from __future__ import annotations

import json
import logging
import shutil
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from diorama.render.store.lance.lance_store import LanceStore
from tests.render.store.lance.test_crash import check_intact, start
from tools.option_types import positive

WRITERS = 4
log = logging.getLogger("store_race")


def race(url: Path, ids: int, batch: int) -> float:
    """Run one race and return its seconds. Raises AssertionError if an episode is lost or stored twice."""
    begin = time.monotonic()
    racers = [start(url, "same", 0, ids, batch) for _ in range(WRITERS)]
    # The fifth compacts while the others write. It writes itself, or it would have nothing to compact.
    own = [
        start(url, f"own-{number}", 0, ids, batch, compact_every=8 if not number else 0) for number in range(WRITERS)
    ]
    for process in [*racers, *own]:
        process.communicate()
        assert process.returncode == 0, "a writer failed"
    seconds = time.monotonic() - begin
    store = LanceStore.open(str(url))
    expected = {f"{prefix}/{k}" for prefix in ("same", *(f"own-{n}" for n in range(WRITERS))) for k in range(ids)}
    check_intact(store, expected)
    assert store.count() == len(expected), f"{store.count()} rows for {len(expected)} ids"
    return seconds


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--runs", type=positive, default=10)
    parser.add_argument("--ids", type=positive, default=500)
    parser.add_argument("--batch", type=positive, default=16)
    parser.add_argument("--folder", type=Path, required=True, help="where stores are made and removed")


def main(options: Namespace) -> None:
    """Run all races. Raises AssertionError."""
    for number in range(options.runs):
        url = options.folder / f"race-{number}.lance"
        seconds = race(url, options.ids, options.batch)
        shutil.rmtree(url)
        log.info("run %d: store undamaged, %.1f s", number + 1, seconds)
    print(json.dumps({"runs": options.runs, "ids": options.ids, "duplicates": 0, "lost": 0}))
