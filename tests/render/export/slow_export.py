"""A process of its own that exports slowly, for a test that kills it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from render.export import exporter
from render.export.protocol import ExportOptions
from render.store import open_store


def main(url: str, name: str, out: str) -> None:
    """Export with a pause after each episode: some two seconds in all."""
    store = open_store(url)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    exporter(name)(store, Path(out), ExportOptions(shard_size=10), lambda done: time.sleep(0.02 * done))


if __name__ == "__main__":
    main(*sys.argv[1:4])
