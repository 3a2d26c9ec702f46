"""One worker of a run and its replacements, as the run sees it: also when it is late, and when the run says so."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from diorama.render.episode.time_limit import timeout_of
from diorama.render.run.status import span
from diorama.render.run.worker import Card, Ready, Task
from diorama.render.run.worker_plan import WorkerPlan

# A second episode in a worker's queue hides the transfer time. That pays off for short episodes; a long one would only
# wait behind another at the end of the run. None waits behind an episode that has taken this long.
SHORT_SECONDS, QUEUE_SECONDS = 0.5, 2.0
# A worker is reported after this time, and this share of the time that its episode may take.
_REPORT_SECONDS, _REPORT_SHARE = 60.0, 0.1


@dataclass
class Slot:
    """One worker and its replacements.

    Attributes:
        ready: Ray's reference of its start, until it is up.
        info: its report, once it is up.
        in_flight: its episodes, the one it works on first.
        since: when the start began, seconds of the monotonic clock.
        warm: it has rendered.
        draining: it is replaced once it has nothing to do.
        leaving: it is removed once it has nothing to do.
        broken: why its GPU has to leave the run, because no worker starts on it any longer.
        known: the last report of a worker here, which names the GPU and the host also while none is up.
    """

    number: int
    plan: WorkerPlan
    actor: Any = None
    ready: Any = None
    info: Ready | None = None
    in_flight: deque[Task] = field(default_factory=deque)
    since: float = 0.0
    start_failures: int = 0
    warm: bool = False
    draining: bool = False
    leaving: bool = False
    broken: str = ""
    known: Ready | None = None

    @property
    def card(self) -> Card | None:
        """Its GPU, None for a CPU."""
        return None if self.plan.card is None else (self.plan.node, self.plan.card)

    @property
    def open(self) -> bool:
        """Whether it may receive episodes."""
        return self.info is not None and not self.draining and not self.leaving

    @property
    def facts(self) -> dict[str, Any]:
        """Number of the worker, host, index and UUID of its GPU as far as they are known, for events."""
        known = self.info or self.known
        return {
            "worker": self.number,
            "host": known.host if known else "",
            "gpu": None if self.card is None else (known and known.visible) or str(self.plan.card),
            "uuid": known.uuid if known else "",
        }

    @property
    def where(self) -> str:
        """Name the worker, its GPU and its host, for messages."""
        facts = self.facts
        parts = [f"GPU {facts['gpu']}" if self.card else "", facts["uuid"], facts["host"]]
        names = ", ".join(filter(None, parts))
        return f"worker {self.number}" + (f" ({names})" if names else "")

    def seconds_on(self, now: float) -> float:
        """Return for how many seconds it has been on its current episode, 0 without one."""
        return now - self.in_flight[0].started if self.in_flight else 0.0


def limit_of(slot: Slot, timeout: float | None, kernels: float = 0.0) -> float:
    """Return how many seconds a worker may take for its current episode.

    Args:
        slot: of the worker.
        timeout: seconds per image, None for the default; that of a GPU's image does not bind the CPU that judges it.
        kernels: seconds more that it may take by default.
    """
    task = slot.in_flight[0]
    timeout = None if task.by_cpu else timeout
    limit = timeout_of(timeout, task.samples, task.settings.width, task.settings.height, task.work.images)
    return limit + (kernels if timeout is None else 0.0)


def late_worker_messages(slots: Iterable[Slot], timeout: float | None, now: float) -> list[str]:
    """Return what to say about each worker that takes long for its episode.

    Args:
        slots: of all workers.
        timeout: seconds per image, None for the default.
        now: seconds of the monotonic clock.
    """
    return [
        f"{slot.where} has been on episode {slot.in_flight[0].episode.id} for {span(slot.seconds_on(now))}"
        for slot in slots
        if slot.seconds_on(now) > _REPORT_SECONDS and slot.seconds_on(now) > _REPORT_SHARE * limit_of(slot, timeout)
    ]


def late_starts(slots: Iterable[Slot], now: float) -> list[str]:
    """Return what to say about each worker that takes long to start.

    Args:
        slots: of all workers.
        now: seconds of the monotonic clock.
    """
    return [
        f"{slot.where} has been starting for {span(now - slot.since)}"
        for slot in slots
        if slot.ready is not None and now - slot.since > _REPORT_SECONDS
    ]
