"""MALeViC (sandropezzelle/malevic): annotations, questions, tensors and images."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from tools.crosschecks import Row

MARK = "code/build_data.py"


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield the comparisons of every file that is there."""
    yield Row("questions", sum(1 for _ in checkout.glob("data*/*/dataset/*.json")))
