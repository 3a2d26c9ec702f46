"""Exact numbers a + b * sqrt(2) with integers a and b: the coordinates of tangrams.

Rotated by multiples of 45 degrees, edges of length 4, 4 sqrt(2), 8 and 8 sqrt(2) have such coordinates, and so do the
midpoints of these edges. Sums, differences, products and signs are exact.
"""

from __future__ import annotations

from functools import total_ordering
from math import sqrt

_ROOT = sqrt(2.0)


@total_ordering
class Root2:
    """a + b * sqrt(2): ordered and hashable; `float()` rounds."""

    __slots__ = ("a", "b")

    def __init__(self, a: int, b: int = 0) -> None:
        self.a, self.b = a, b

    def __add__(self, other: Root2) -> Root2:
        return Root2(self.a + other.a, self.b + other.b)

    def __sub__(self, other: Root2) -> Root2:
        return Root2(self.a - other.a, self.b - other.b)

    def __neg__(self) -> Root2:
        return Root2(-self.a, -self.b)

    def __mul__(self, other: Root2) -> Root2:
        return Root2(self.a * other.a + 2 * self.b * other.b, self.a * other.b + self.b * other.a)

    def half(self) -> Root2:
        """Return half of the number. Raises ValueError if a or b is odd."""
        if self.a % 2 or self.b % 2:
            raise ValueError(f"{self!r} has no half of the form a + b * sqrt(2) with integers a and b")
        return Root2(self.a // 2, self.b // 2)

    def sign(self) -> int:
        """Return the exact sign: -1, 0 or 1."""
        a, b = self.a, self.b
        if a >= 0 and b >= 0:
            return int(a > 0 or b > 0)
        if a <= 0 and b <= 0:
            return -1
        # Opposite signs: the larger of a^2 and 2 b^2 decides. They are never equal, as sqrt(2) is irrational.
        return (1 if a > 0 else -1) if a * a > 2 * b * b else (1 if b > 0 else -1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root2) and self.a == other.a and self.b == other.b

    def __lt__(self, other: Root2) -> bool:
        return (self - other).sign() < 0

    def __hash__(self) -> int:
        return self.a * 1_000_003 + self.b

    def __float__(self) -> float:
        return self.a + self.b * _ROOT

    def __repr__(self) -> str:
        return f"Root2({self.a}, {self.b})"


ZERO = Root2(0)
