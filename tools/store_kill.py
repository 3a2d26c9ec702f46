"""Kill a process while it writes to a store.

    python -m tools store-kill --kills 60 --store /tmp/kill.lance
    python -m tools store-kill --kills 15 --store s3://bucket/kill.lance

Kills during commit, compaction, index and clean-up. After each kill no acknowledged episode may be lost, no episode
damaged or stored twice, and reading by id must work. Exit code 1 at the first failure, or if fewer than half of the
kills hit the phase that they aimed at.
"""

from __future__ import annotations

from tests.render.store.lance.killing import add_options, main

__all__ = ["add_options", "main"]
