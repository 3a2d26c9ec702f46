"""Comparisons of Diorama with the checkouts of published benchmarks, for `python -m tools published`.

Each module has MARK, a path that only checkouts of its benchmark contain, and `check(checkout, options)`, which yields
a Row as soon as each comparison ends.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol


class Row(NamedTuple):
    """One comparison. differ: how many of the `compared` values differ. known: how many of these `note` explains."""

    what: str
    compared: int
    differ: int = 0
    known: int = 0
    note: str = ""


class Crosscheck(Protocol):
    """A module of this package."""

    MARK: str

    def check(self, checkout: Path, options: Namespace) -> Iterator[Row]: ...
