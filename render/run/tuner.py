"""How many workers share a GPU: one at first, then more as long as that makes the run faster."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from diorama.render.run.options import RunOptions
from diorama.render.run.pool import Pool
from diorama.render.run.worker_plan import MOST_PER_GPU, WorkerPlan
from diorama.scene_specs.language.tables import counted

log = logging.getLogger(__name__)

# A level must be this much faster than the one before; otherwise the workers that it added are removed again.
_WORTH = 1.08
# A level is judged after at least this much time and this many images.
SECONDS, IMAGES = 6.0, 12
_LEVELS = (1, 2, 4, 8)


@dataclass
class Tuner:
    """Chooses among `levels` (workers per GPU, rising) by the images per second of each. Pure: it reads no clock.

    rates: level -> images per second.
    """

    levels: tuple[int, ...] = _LEVELS
    rates: dict[int, float] = field(default_factory=dict)
    chosen: int | None = None
    _at: int = 0
    _start: tuple[float, int] | None = None

    @property
    def level(self) -> int:
        """Number of workers per GPU wanted now."""
        return self.chosen or self.levels[self._at]

    def observe(self, now: float, images: int, settled: bool) -> int:
        """Take the clock (s), the images so far, and whether all wanted workers are warm; return the wanted level."""
        if self.chosen is not None:
            return self.chosen
        if not settled or self._start is None:
            self._start = (now, images) if settled else None
            return self.level
        elapsed, rendered = now - self._start[0], images - self._start[1]
        if elapsed >= SECONDS and rendered >= IMAGES:
            self.rates[self.level] = rendered / elapsed
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


def tuner_for(options: RunOptions, plans: list[WorkerPlan]) -> Tuner | None:
    """Return the tuner of a run; None if `workers_per_gpu` is specified, or the run is on the CPU."""
    if options.workers_per_gpu is not None or plans[0].card is None:
        return None
    # Every worker needs a CPU core as well: to compile, build, read and encode.
    most = min(MOST_PER_GPU, *(plan.threads for plan in plans))
    levels = tuple(level for level in _LEVELS if level <= most)
    return Tuner(levels) if len(levels) > 1 else None


def tune(pool: Pool, tuner: Tuner, now: float, images: int) -> int | None:
    """Add or remove workers as the tuner wants; return the workers per GPU at the moment it has chosen them.

    now: seconds of a clock. images: rendered so far.
    """
    if tuner.chosen is not None:
        return None
    staying = [slot for slot in pool.slots if not slot.leaving]
    before = tuner.level
    settled = len(staying) == before * len(pool.cards) and all(slot.warm for slot in staying)
    level = tuner.observe(now, images, settled)
    if level != before:
        for card in pool.cards:
            pool.resize(card, level)
    if tuner.chosen is not None:
        rates = ", ".join(f"{workers}: {rate:.2f}" for workers, rate in tuner.rates.items())
        log.info("%s per GPU; images/s by workers per GPU: %s", counted(level, "worker"), rates)
    return tuner.chosen
