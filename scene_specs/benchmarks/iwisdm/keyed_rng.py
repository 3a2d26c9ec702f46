"""Many small draws from one keyed generator. Numbers are drawn in blocks, because each numpy call has a high cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from diorama.scene_specs.language.rng import generator

_Item = TypeVar("_Item")
_BLOCK = 128


class KeyedRng:
    """Uniform numbers that depend on (seed, id, purpose) and on the number of earlier draws only."""

    def __init__(self, seed: int, name: str, purpose: str) -> None:
        self._generator = generator(seed, name, purpose)
        self._block: list[float] = []

    def unit(self) -> float:
        """Uniform in [0, 1)."""
        if not self._block:
            self._block = self._generator.random(_BLOCK).tolist()
        return self._block.pop()

    def below(self, count: int) -> int:
        """One of 0 ... count - 1. Raises ValueError for a count below 1."""
        if count < 1:
            raise ValueError("nothing to draw from")
        return int(self.unit() * count)

    def pick(self, items: Sequence[_Item]) -> _Item:
        """One of the items; all are equally likely."""
        return items[self.below(len(items))]

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.unit() < probability

    def weighted(self, weights: Sequence[float]) -> int:
        """Return an index, with probability proportional to its weight. Raises ValueError without a positive weight."""
        total = sum(weights)
        if total <= 0:
            raise ValueError("no positive weight to draw from")
        left = self.unit() * total
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return index
        return max(index for index, weight in enumerate(weights) if weight > 0)

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        """All items in a random order."""
        rest = list(items)
        for last in range(len(rest) - 1, 0, -1):
            other = self.below(last + 1)
            rest[last], rest[other] = rest[other], rest[last]
        return rest

    def sample(self, items: Sequence[_Item], count: int) -> list[_Item]:
        """`count` different items (or all, if there are fewer), in a random order."""
        return self.shuffled(items)[:count]
