"""The workers of a run: started, watched, replaced, and given back. What becomes of their episodes is the run's."""

from __future__ import annotations

import logging
import socket
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import ActorUnavailableError, GetTimeoutError, OutOfMemoryError, RayError
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from render.model.errors import AssetError, DeviceError, RenderError, UsageError
from render.run.events import EventLog
from render.run.node_monitor import NodeMonitor, RayLostError, node_lost
from render.run.options import RunOptions
from render.run.worker import Failure, Ready, Worker, start_actor, stderr_tail
from render.run.worker_plan import WorkerPlan

if TYPE_CHECKING:
    from render.run.task_feed import Task

log = logging.getLogger(__name__)

_START_SECONDS = 180.0
_CLOSE_SECONDS = 3.0
_WORDS_SECONDS = 10.0
# A worker that did not start so many times in a row will not start the next time either.
_START_TRIES = 3
# So many losses with not one answer between them: it is not an episode's fault.
_LOSSES, _LOSSES_A_WORKER = 30, 5
_ERRORS = {error.__name__: error for error in (DeviceError, UsageError, AssetError)}


@dataclass
class Slot:
    """A worker's place. given: its episodes, the one it is at first. ready: its start, until it is up.

    warm: it has rendered. tired: it is to be replaced once it has nothing to do. leaving: it is to go then.
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
    peak: int = 0

    @property
    def open(self) -> bool:
        """Whether it may be given episodes."""
        return self.info is not None and not self.draining and not self.leaving

    @property
    def where(self) -> str:
        """For messages."""
        return f"worker {self.number}" + (f" on {self.info.host}" if self.info else "")


class Pool:
    """Workers by slot. Raises DeviceError, UsageError, RenderError where workers can't be had."""

    def __init__(self, options: RunOptions, events: EventLog, worker: type[Worker] = Worker) -> None:
        self._options, self._events, self._worker = options, events, worker
        self._groups: dict[str, Any] = {}
        self._numbers = 0
        self._losses = 0
        self._lookout = NodeMonitor()
        self.slots: list[Slot] = []
        self.replaced: dict[str, int] = {}
        self.peaks: dict[int, int] = {}
        self.devices: list[str] = []

    def start(self, plans: list[WorkerPlan]) -> None:
        """Start workers; they are given episodes as they come up."""
        for node in dict.fromkeys(plan.node for plan in plans if plan.card is not None):
            cards = 1 + max(plan.card for plan in plans if plan.node == node and plan.card is not None)
            # A bundle is one card for as long as the run lasts, however many workers come and go on it.
            group = placement_group([{"GPU": 1}] * cards, strategy="STRICT_PACK", _soft_target_node_id=node or None)
            self._groups[node] = group
        for node, group in self._groups.items():
            if not group.wait(_START_SECONDS):
                raise DeviceError(
                    f"node {node or 'here'}: Ray did not give {group.bundle_count} GPUs within {_START_SECONDS:.0f} s; "
                    "another run may hold them: look with `ray status`"
                )
        for plan in plans:
            self.add(plan)

    def add(self, plan: WorkerPlan) -> None:
        """One worker more."""
        slot = Slot(self._numbers, plan)
        self._numbers += 1
        self.slots.append(slot)
        self._launch(slot)

    def _launch(self, slot: Slot) -> None:
        options = self._options
        arguments = (options.renderer, slot.plan, options.asset_roots, options.worker_memory, options.library)
        slot.actor = start_actor(self._worker, slot.plan, arguments, self._groups.get(slot.plan.node))
        slot.ready = slot.actor.start.remote()
        slot.info, slot.warm, slot.draining = None, False, False
        slot.since = time.monotonic()

    @property
    def alive(self) -> int:
        """Workers that are up."""
        return sum(slot.info is not None for slot in self.slots)

    def waited_for(self) -> dict[Any, Slot]:
        """What to wait for: the start of a worker, or the episode it is at."""
        waiting = {slot.in_flight[0].ref: slot for slot in self.slots if slot.in_flight}
        waiting.update({slot.ready: slot for slot in self.slots if slot.ready is not None})
        return waiting

    def came_up(self, slot: Slot) -> None:
        """The start of a worker has ended, well or badly."""
        try:
            answer = ray.get(slot.ready)
        except RayError as error:
            self._did_not_start(slot, first_line(error))
            return
        slot.ready = None
        if isinstance(answer, Failure):
            raise _ERRORS.get(answer.kind, RenderError)(f"{slot.where} did not start: {answer.message}")
        slot.info, slot.start_failures = answer, 0
        slot.since = time.monotonic()
        self.heard(slot, answer.memory)
        if answer.device not in self.devices:
            self.devices.append(answer.device)
        log.debug("%s is up: %s, process %d, cores %s", slot.where, answer.device, answer.pid, answer.cores)
        self._events.write(
            "worker-up", worker=slot.number, host=answer.host, pid=answer.pid, device=answer.device, cores=answer.cores
        )

    def _did_not_start(self, slot: Slot, why: str) -> None:
        slot.start_failures += 1
        self._events.write("worker-down", worker=slot.number, reason=f"did not start: {why}")
        if slot.plan.node and node_lost(slot.plan.node):
            self._drop(slot)
        elif slot.start_failures >= _START_TRIES:
            raise RenderError(
                f"{slot.where} did not start, {slot.start_failures} times in a row: {why}. "
                "Look with render-doctor whether Blender runs here; -vv shows what Ray says"
            )
        else:
            log.warning("%s did not start: %s; starting it again", slot.where, why)
            ray.kill(slot.actor)
            self._launch(slot)

    def overdue(self) -> list[Slot]:
        """Check starts that take too long; slots left to the caller are none. RayLostError where none can succeed."""
        now = time.monotonic()
        if any(slot.ready is not None for slot in self.slots):
            self._lookout.look()
        late = [slot for slot in self.slots if slot.ready is not None and now - slot.since > _START_SECONDS]
        for slot in late:
            self._did_not_start(slot, f"nothing came from it within {_START_SECONDS:.0f} s")
        return late

    def answered(self, slot: Slot, memory: int) -> None:
        """A worker came to the end of an episode, with so many bytes in memory."""
        self._losses = 0
        slot.warm = True
        self.heard(slot, memory)

    def heard(self, slot: Slot, memory: int) -> None:
        """A worker says that it has so many bytes in memory."""
        slot.peak = max(slot.peak, memory)
        self.peaks[slot.number] = max(self.peaks.get(slot.number, 0), memory)
        limit = slot.info.limit if slot.info else None
        if limit and memory > limit and not slot.draining:
            slot.draining = True
            log.debug("%s has grown to %d MiB", slot.where, memory >> 20)

    def refresh(self) -> None:
        """Replace workers that have grown, and let go those that are to leave, once they have nothing to do."""
        for slot in [slot for slot in self.slots if not slot.in_flight and slot.info is not None]:
            if slot.leaving:
                self._end(slot, "no longer needed")
                self.slots.remove(slot)
            elif slot.draining:
                self._end(slot, f"had grown to {slot.peak >> 20} MiB")
                self._count("memory")
                self._launch(slot)

    def _end(self, slot: Slot, reason: str) -> None:
        """Let a worker that does nothing go."""
        self._events.write("worker-down", worker=slot.number, reason=reason)
        try:
            ray.get(slot.actor.close.remote(), timeout=_CLOSE_SECONDS)
        except (RayError, TimeoutError) as error:
            log.debug("%s: %s", slot.where, first_line(error))
        ray.kill(slot.actor)

    def lose(self, slot: Slot, kind: str, reason: str) -> tuple[str, bool]:
        """Replace a worker that died or hung. Returns its last words, and whether its whole node is gone."""
        # Before the kill: the text of one that hangs would go with its process's cleaning up.
        words = self._words(slot)
        ray.kill(slot.actor)
        self._events.write("worker-down", worker=slot.number, reason=reason, last_words=words)
        self._losses += 1
        bound = max(_LOSSES, _LOSSES_A_WORKER * len(self.slots))
        if self._losses > bound:
            raise RenderError(
                f"{self._losses} workers died or hung one after the other, and none finished an episode in between; "
                f"the last: {reason}{'; it said: ' + words if words else ''}. Look with render-doctor whether this "
                "machine renders at all, then run the same command again"
            )
        if slot.plan.node and node_lost(slot.plan.node):
            self._drop(slot)
            return words, True
        self._count(kind)
        if slot.leaving:
            self.slots.remove(slot)
        else:
            self._launch(slot)
        return words, False

    def _drop(self, slot: Slot) -> None:
        self.slots.remove(slot)
        log.warning("%s: its node is lost; going on with %d workers", slot.where, len(self.slots))
        self._count("node")
        if not self.slots:
            raise RayLostError("all nodes of the Ray cluster are lost; what was committed is safe: run again to go on")

    def _count(self, kind: str) -> None:
        self.replaced[kind] = self.replaced.get(kind, 0) + 1

    def _words(self, slot: Slot) -> str:
        if slot.info is None:
            return ""
        if slot.info.host == socket.gethostname():
            return stderr_tail(slot.info.said)
        strategy = NodeAffinitySchedulingStrategy(slot.plan.node, soft=False)
        task = ray.remote(stderr_tail).options(num_cpus=0, max_retries=0, scheduling_strategy=strategy)
        try:
            return str(ray.get(task.remote(slot.info.said), timeout=_WORDS_SECONDS))
        except (RayError, TimeoutError):
            return ""

    def close(self, gently: bool = True) -> None:
        """End all workers. gently: those that do nothing may give back what they hold."""
        idle = [
            slot.actor.close.remote() for slot in self.slots if gently and slot.info is not None and not slot.in_flight
        ]
        if idle:
            try:
                ray.wait(idle, num_returns=len(idle), timeout=_CLOSE_SECONDS)
            except RayError as error:
                log.debug("closing: %s", first_line(error))
        for slot in self.slots:
            ray.kill(slot.actor)
        for group in self._groups.values():
            remove_placement_group(group)
        self.slots = []


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def how_lost(error: RayError) -> tuple[str, str]:
    """How a worker was lost, as Summary.replaced_why counts it, and the reason for people."""
    if isinstance(error, OutOfMemoryError):
        return "died", "its worker was ended because the machine was out of memory"
    if isinstance(error, ActorUnavailableError | GetTimeoutError):
        return "unreachable", f"its worker could not be reached: {first_line(error)}"
    return "died", f"its worker died: {first_line(error)}"
