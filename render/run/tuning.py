"""Brings workers to cards and takes them away, as the Tuner wants it."""

from __future__ import annotations

import logging

from render.run.options import RunOptions
from render.run.pool import Pool
from render.run.tuner import Tuner
from render.run.worker_plan import MOST_PER_GPU, WorkerPlan

log = logging.getLogger(__name__)


def tuner_for(options: RunOptions, plans: list[WorkerPlan]) -> Tuner | None:
    """What chooses how many workers share a card; None where that is given, or there is no card."""
    if options.workers_per_gpu is not None or plans[0].card is None:
        return None
    # Every worker needs a core beside the card: to compile, build, read and encode.
    most = min(MOST_PER_GPU, *(plan.threads for plan in plans))
    levels = tuple(level for level in (1, 2, 4, 8) if level <= most)
    return Tuner(levels) if len(levels) > 1 else None


def tune(pool: Pool, tuner: Tuner, now: float, images: int) -> int | None:
    """Tell the tuner the clock (s) and the images made so far, and obey; workers a card, once that has been chosen."""
    known = tuner.chosen
    if known is not None:
        return None
    staying = [slot for slot in pool.slots if not slot.leaving]
    cards = dict.fromkeys((slot.plan.node, slot.plan.card) for slot in staying)
    before = tuner.level
    settled = len(staying) == before * len(cards) and all(slot.warm for slot in staying)
    level = tuner.observe(now, images, settled)
    for card in cards:
        here = [slot for slot in staying if (slot.plan.node, slot.plan.card) == card]
        for _ in range(level - len(here) if level > before else 0):
            pool.add(here[0].plan)
        for slot in here[level:]:
            slot.leaving = True
    if tuner.chosen is not None:
        rates = ", ".join(f"{workers}: {rate:.2f}" for workers, rate in tuner.rates.items())
        log.info("%d workers a card; images/s by workers a card: %s", level, rates)
    return tuner.chosen
