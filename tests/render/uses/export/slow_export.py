"""A process of its own that stops in the middle of an export, for a test that kills it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from diorama.render.store import open_store
from diorama.render.uses.export import format_of
from diorama.render.uses.export.protocol import ExportOptions


def main(url: str, name: str, out: str, number: str) -> None:
    """Export so many episodes, print a line, and wait to be killed."""
    exported = 0

    def progress(done: int) -> None:
        nonlocal exported
        exported += done
        if exported >= int(number):
            print("waiting", flush=True)
            time.sleep(3600)

    format_of(name).export(open_store(url), Path(out), ExportOptions(shard_size=10), progress)


if __name__ == "__main__":
    main(*sys.argv[1:])
