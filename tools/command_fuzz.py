"""Run every command with every kind of input for its paths.

    python -m tools command-fuzz [COMMAND...] --kind FIFO --every 1

A pair is a call in which all arguments are right except one path. Prints a row per path: pairs, exit codes, findings,
seconds, and the longest time and most memory of a pair. Findings are exceptions, exit codes that the help of the
command does not list, more than `--seconds`, more than 1,500 MiB, and changed files that the command was not asked to
write. Exit code 1: there are findings.
"""

from __future__ import annotations

from tests.hostile.command_fuzz import add_options, main

__all__ = ["add_options", "main"]
