"""Four processes put the same ids and as many of their own, with compaction beside them: none twice, none lost.

python tools/store_race.py --runs 10 --ids 500 --folder /tmp/race
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import sys
import time
from pathlib import Path

from render.store.lance.lance_store import LanceStore
from tests.render.store.lance.test_crash import check_intact, start

WRITERS = 4
log = logging.getLogger("store_race")


def race(url: Path, ids: int, batch: int) -> float:
    """One race; returns its seconds. Raises AssertionError for a breach."""
    begin = time.monotonic()
    racers = [start(url, "same", 0, ids, batch) for _ in range(WRITERS)]
    # The fifth compacts while the others write, and writes itself, or it would have nothing to compact.
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


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--ids", type=int, default=500)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--folder", type=Path, required=True, help="stores are made and removed in it")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    seconds = []
    for number in range(options.runs):
        url = options.folder / f"race-{number}.lance"
        seconds.append(race(url, options.ids, options.batch))
        shutil.rmtree(url)
        log.info("run %d: whole, %.1f s", number + 1, seconds[-1])
    sys.stdout.write(json.dumps({"runs": options.runs, "ids": options.ids, "duplicates": 0, "lost": 0}) + "\n")


if __name__ == "__main__":
    main()
