"""Comparisons of Diorama with the checkouts of published benchmarks, for `python -m tools published`.

Each module has MARK, a path that only checkouts of its benchmark contain, and `check(checkout, options)`, which yields
a Row as soon as each comparison ends.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One comparison. differ: how many of the `compared` values differ. known: how many of these `note` explains."""

    what: str
    compared: int
    differ: int = 0
    known: int = 0
    note: str = ""
