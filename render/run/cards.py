"""What a run does about its GPUs: how many workers share one, which one leaves, which one an episode has for itself."""

from __future__ import annotations

import logging
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field

from diorama.render.episode.time_limit import KERNEL_SECONDS
from diorama.render.run.options import RunOptions
from diorama.render.run.pool import Pool
from diorama.render.run.slot import Slot
from diorama.render.run.worker import Card, Task
from diorama.render.run.worker_plan import MOST_PER_GPU, WorkerPlan
from diorama.scene_specs.errors import GpuError, GpuMemoryError, ImplausibleError, counted

log = logging.getLogger(__name__)

# A level must be this much faster than the one before; otherwise the workers that it added are removed again.
_WORTH = 1.08
# A level is judged after at least this much time and this many images.
SECONDS, IMAGES = 6.0, 12
_LEVELS = (1, 2, 4, 8)
# A GPU leaves the run if this many different episodes failed on it and none succeeded in between. The last GPU leaves
# later if it has rendered before: a few episodes in a row may be at fault themselves, and nothing would render them.
STRIKES, LAST_STRIKES = 3, 10
# So does a GPU that never rendered, once this many episodes ran out of its memory even alone: it is too small for all.
TOO_LARGE = 10
# Class of a failed render -> why its worker is replaced (see Summary.replaced_why).
LOST_GPU = {GpuError.__name__: "gpu", GpuMemoryError.__name__: "gpu_memory", ImplausibleError.__name__: "implausible"}


@dataclass
class Tuner:
    """A search for the number of workers per GPU: more, as long as that is faster. Pure: it reads no clock.

    Attributes:
        levels: numbers of workers per GPU to try, rising.
        rates: level -> images per second.
        chosen: the chosen level; None while it tries.
    """

    levels: tuple[int, ...] = _LEVELS
    rates: dict[int, float] = field(default_factory=dict)
    chosen: int | None = None
    _start: tuple[float, int] | None = None

    @property
    def level(self) -> int:
        """Number of workers per GPU wanted now."""
        return self.chosen or self.levels[len(self.rates)]

    def observe(self, now: float, images: int, settled: bool) -> int:
        """Take a measurement and return the wanted level.

        Args:
            now: seconds of a clock.
            images: rendered so far.
            settled: whether all wanted workers are warm.
        """
        if self.chosen is not None:
            return self.chosen
        if not settled or self._start is None:
            self._start = (now, images) if settled else None
            return self.level
        elapsed, rendered = now - self._start[0], images - self._start[1]
        if elapsed >= SECONDS and rendered >= IMAGES:
            level = self.level
            before, rate = next(reversed(self.rates.items()), (level, 0.0))
            self.rates[level] = rendered / elapsed
            self._start = None
            if self.rates[level] < rate * _WORTH:
                self.chosen = before
            elif len(self.rates) == len(self.levels):
                self.chosen = level
        return self.level


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

    Args:
        pool: of all workers.
        tuner: of the run.
        now: seconds of a clock.
        images: rendered so far.
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


class CardFaults:
    """The faults of a run's GPUs.

    Attributes:
        rendered: GPUs that have rendered an episode.
        reserved: GPUs kept for episodes that ran out of their memory -> the episodes that wait.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._failed: defaultdict[Card, set[str]] = defaultdict(set)
        self._failed_at: dict[Card, float] = {}
        self._too_large: defaultdict[Card, set[str]] = defaultdict(set)
        self.rendered: set[Card] = set()
        # Node and device -> when the driver's kernels for it were there, or not within the time for compiling them.
        self._compiled: dict[tuple[str, str], float] = {}
        self.reserved: dict[Card, deque[Task]] = {}
        # Per GPU, since memory ran out; 0 if it never did.
        self._workers = 0

    def succeeded(self, slot: Slot) -> None:
        """Note that a worker rendered an episode: what failed on its GPU before was not the GPU's fault."""
        if slot.card is not None:
            self._failed.pop(slot.card, None)
            self.rendered.add(slot.card)
            self._compiled.setdefault(_gpu_model(slot), time.monotonic())

    def kernel_seconds(self, slot: Slot) -> float:
        """Return how much longer than others a worker's episode may take, because kernels are compiled for its GPU.

        GPUs of one model on one node share the kernels. Several may compile them at the same time: once the first has
        rendered, the usual time begins for the others.
        """
        if slot.card is None:
            return 0.0
        compiled, started = self._compiled.get(_gpu_model(slot)), slot.in_flight[0].started
        return KERNEL_SECONDS if compiled is None else max(0.0, compiled - started)

    def hung(self, slot: Slot) -> None:
        """Note that an episode took too long: the next one on a GPU of this model gets no time for kernels."""
        if slot.card is not None:
            self._compiled.setdefault(_gpu_model(slot), time.monotonic())

    def failed(self, slot: Slot, task: Task, too_large: bool = False) -> int:
        """Note that an episode failed on a worker's GPU; return how many did in a row if the GPU is to leave, else 0.

        Workers that were up when it last failed may have failed of the same cause, and count with it as one. An episode
        for which the GPU is too small is at fault itself, as long as the GPU renders any.
        """
        if slot.card is None:
            return 0
        task.failed_on.add(slot.card)
        if too_large:
            self._too_large[slot.card].add(task.episode.id)
            failed = len(self._too_large[slot.card])
            return failed if failed >= TOO_LARGE and slot.card not in self.rendered else 0
        if slot.since > self._failed_at.get(slot.card, 0.0):
            self._failed_at[slot.card] = time.monotonic()
            self._failed[slot.card].add(task.episode.id)
        failed, last = len(self._failed[slot.card]), len(self._pool.cards) == 1
        return failed if failed >= (LAST_STRIKES if last and slot.card in self.rendered else STRIKES) else 0

    def may_take(self, slot: Slot, task: Task, choosy: bool) -> bool:
        """Return whether a worker may render an episode: if it failed on this GPU, only if no GPU is left to try.

        Args:
            slot: of the worker.
            task: the episode.
            choosy: neither on a GPU that failed last; another episode shows whether it is the GPU's fault.
        """
        if slot.card is None or slot.card not in task.failed_on:
            return True
        return task.failed_on.issuperset(self._pool.cards) and not (choosy and self._failed.get(slot.card))

    def reserve(self, slot: Slot, task: Task) -> int:
        """Keep a worker's GPU for an episode that ran out of its memory, with no other worker on it.

        Returns:
            How many workers there may be per GPU from now on, at most half of those that it had.
        """
        assert slot.card is not None
        task.alone = True
        if slot.card not in self.reserved:
            here = [other for other in self._pool.slots if other.card == slot.card]
            workers = max(1, min(len(here) // 2, self._workers or len(here)))
            for card in self._pool.cards:
                self._pool.resize(card, workers, grow=False)
            for other in here:
                other.leaving = other is not slot
            self.reserved[slot.card] = deque()
            self._workers = workers
        self.reserved[slot.card].append(task)
        return self._workers

    def take_alone(self, slot: Slot) -> Task | None:
        """Return the next episode for a reserved GPU, None while other workers, or their processes, are on it."""
        assert slot.card is not None
        tasks = self.reserved[slot.card]
        alone = sum(other.card == slot.card for other in self._pool.slots) == 1
        return tasks.popleft() if tasks and alone and self._pool.emptied(slot.card) else None

    def release(self) -> list[Task]:
        """End the reservations whose episodes are done, and return the episodes whose GPU is no longer in the run."""
        orphans: list[Task] = []
        for card, tasks in list(self.reserved.items()):
            slots = [slot for slot in self._pool.slots if slot.card == card]
            if slots and (tasks or any(task.alone for slot in slots for task in slot.in_flight)):
                continue
            del self.reserved[card]
            for task in tasks:
                task.alone = False
                orphans.append(task)
            if slots:
                self._pool.resize(card, self._workers)
        return orphans


def _gpu_model(slot: Slot) -> tuple[str, str]:
    """Return what GPUs that share compiled kernels have in common."""
    return slot.plan.node, slot.info.device if slot.info else ""
