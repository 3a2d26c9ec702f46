"""Feed mangled files to every reader of foreign files.

    python -m tools mangle [KIND...] --count 100000 --seed 1

Input number N of a kind depends only on KIND, N and `--seed`. Prints a row per kind: inputs, read, refused (with a
DioramaError), failures, seconds. Failures are other exceptions, more than `--seconds`, more than 2 GiB, processes, and
files that a reader opens or changes elsewhere. They are kept in `--folder`. Exit code 1: there are failures.
"""

from __future__ import annotations

from tests.hostile.mangling import add_options, main

__all__ = ["add_options", "main"]
