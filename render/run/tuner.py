"""How many workers a card takes: one first, then more for as long as that makes the run faster. Pure, no clock."""

from __future__ import annotations

from dataclasses import dataclass, field

# A step up must bring this much, or the workers that it added are taken away again.
_WORTH = 1.08
# A level is judged after at least so much.
SECONDS, IMAGES = 6.0, 12


@dataclass
class Tuner:
    """Chooses among `levels` (workers a card, rising) by the images a second that each gives.

    seconds, images: a level is judged after at least so much of both. Feed it with `observe`.
    """

    levels: tuple[int, ...] = (1, 2, 4, 8)
    seconds: float = field(default_factory=lambda: SECONDS)
    images: int = field(default_factory=lambda: IMAGES)
    rates: dict[int, float] = field(default_factory=dict)
    chosen: int | None = None
    _at: int = 0
    _start: tuple[float, int] | None = None

    @property
    def level(self) -> int:
        """Workers a card wanted now."""
        return self.chosen or self.levels[self._at]

    def observe(self, now: float, images: int, settled: bool) -> int:
        """Tell the clock (s), the images done so far, and whether all workers wanted are up and warm; the level
        wanted.
        """
        if self.chosen is not None:
            return self.chosen
        if not settled:
            self._start = None
            return self.level
        if self._start is None:
            self._start = (now, images)
            return self.level
        took, made = now - self._start[0], images - self._start[1]
        if took < self.seconds or made < self.images:
            return self.level
        self.rates[self.level] = made / took
        self._start = None
        self._step()
        return self.level

    def _step(self) -> None:
        here = self.rates[self.levels[self._at]]
        before = self.rates[self.levels[self._at - 1]] if self._at else 0.0
        if here < before * _WORTH:
            self.chosen = self.levels[self._at - 1]
        elif self._at == len(self.levels) - 1:
            self.chosen = self.levels[self._at]
        else:
            self._at += 1
