"""Random choices for questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.tasks.questions.patterns import Pattern

_Item = TypeVar("_Item")


class Draws:
    """Random choices. Equal seeds and keys give equal choices everywhere."""

    def __init__(self, seed: int, key: str) -> None:
        # Draws a number in [0, 1).
        self.number: Callable[[], float] = generator(seed, key, "questions").random

    def pick(self, items: Sequence[Any]) -> Any:
        """One of the items."""
        return items[int(self.number() * len(items))]

    def some(self, items: Iterable[_Item], most: int) -> list[_Item]:
        """Return some of the items, at most so many, in any order."""
        left = [*items]
        return [left.pop(int(self.number() * len(left))) for _ in range(min(most, len(left)))]

    def weighted(self, items: Sequence[Pattern]) -> Pattern:
        """One of the patterns, by weight."""
        if len(items) == 1:
            return items[0]
        left = self.number() * sum([pattern.weight for pattern in items])
        for pattern in items:
            left -= pattern.weight
            if left < 0:
                return pattern
        return items[-1]
