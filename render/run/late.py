"""Workers that take long for an episode or to start: how long they may, and when a run says so."""

from __future__ import annotations

from collections.abc import Iterable

from diorama.render.episode.time_limit import timeout_of
from diorama.render.run.slot import Slot
from diorama.render.run.status import span

# A second episode in a worker's queue hides the transfer time. That pays off for short episodes; a long one would only
# wait behind another at the end of the run. None waits behind an episode that has taken this long.
SHORT_SECONDS, QUEUE_SECONDS = 0.5, 2.0
# A worker is reported after this time, and this share of the time that its episode may take.
_REPORT_SECONDS, _REPORT_SHARE = 60.0, 0.1


def limit_of(slot: Slot, timeout: float | None, kernels: float = 0.0) -> float:
    """Return how many seconds a worker may take for its current episode.

    Args:
        slot: of the worker.
        timeout: seconds per image, None for the default.
        kernels: seconds more that it may take by default.
    """
    task = slot.in_flight[0]
    limit = timeout_of(timeout, task.samples, task.settings.width, task.settings.height, task.work.images)
    return limit + (kernels if timeout is None else 0.0)


def late_workers(slots: Iterable[Slot], timeout: float | None, now: float) -> list[str]:
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
