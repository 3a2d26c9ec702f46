"""What a run does about GPUs that fail: which one leaves the run, and which episodes must have one to themselves."""

from __future__ import annotations

import time
from collections import defaultdict, deque

from diorama.render.model.errors import GpuError, GpuMemoryError
from diorama.render.run.pool import Pool, Slot
from diorama.render.run.worker import Card, Task

# A GPU leaves the run if this many different episodes failed on it and none succeeded in between. The last GPU leaves
# later if it has rendered before: a few episodes in a row may be at fault themselves, and nothing would render them.
STRIKES, LAST_STRIKES = 3, 10
# So does a GPU that never rendered, once this many episodes ran out of its memory even alone: it is too small for all.
TOO_LARGE = 10
# Class of a failed render -> why its worker is replaced (see Summary.replaced_why).
LOST_GPU = {GpuError.__name__: "gpu", GpuMemoryError.__name__: "gpu_memory"}


class CardFaults:
    """The GPUs of a run. rendered: those that have rendered an episode.

    reserved: those kept for episodes that ran out of their memory -> the episodes that wait.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._failed: defaultdict[Card, set[str]] = defaultdict(set)
        self._failed_at: dict[Card, float] = {}
        self._too_large: defaultdict[Card, set[str]] = defaultdict(set)
        self.rendered: set[Card] = set()
        self.reserved: dict[Card, deque[Task]] = {}
        # Per GPU, since memory ran out; 0 if it never did.
        self._workers = 0

    def succeeded(self, slot: Slot) -> None:
        """Note that a worker rendered an episode: what failed on its GPU before was not the GPU's fault."""
        if slot.card is not None:
            self._failed.pop(slot.card, None)
            self.rendered.add(slot.card)

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

        choosy: neither on a GPU that failed last; another episode shows whether it is the GPU's fault.
        """
        if slot.card is None or slot.card not in task.failed_on:
            return True
        return task.failed_on.issuperset(self._pool.cards) and not (choosy and self._failed.get(slot.card))

    def reserve(self, slot: Slot, task: Task) -> int:
        """Keep a worker's GPU for an episode that ran out of its memory, with no other worker on it.

        Returns how many workers there may be per GPU from now on, at most half of those that it had.
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
