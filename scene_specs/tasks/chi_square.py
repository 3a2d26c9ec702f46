"""Pearson's chi-square test of equal frequencies."""

from __future__ import annotations

import math
from collections.abc import Sequence


def equal_frequencies(counts: Sequence[int]) -> float:
    """Return the p-value of counts if all classes are equally likely; 1 for fewer than two classes."""
    total, classes = sum(counts), len(counts)
    if classes < 2 or total == 0:
        return 1.0
    expected = total / classes
    return tail(sum((count - expected) ** 2 for count in counts) / expected, classes - 1)


def tail(statistic: float, freedom: int) -> float:
    """Return P(chi-square with `freedom` degrees of freedom >= statistic), by its finite series.

    Source: Abramowitz & Stegun 26.4.
    """
    if statistic <= 0:
        return 1.0
    half, odd = statistic / 2, freedom % 2
    total = math.erfc(math.sqrt(half)) if odd else 0.0
    term = math.exp(-half) * math.sqrt(half) * 2 / math.sqrt(math.pi) if odd else math.exp(-half)
    for k in range(1, freedom // 2 + 1):
        total += term
        term *= half / (k + odd / 2)
    return min(total, 1.0)
