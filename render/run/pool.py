"""The workers of a run: started, watched, replaced and closed. The render loop decides about their episodes."""

from __future__ import annotations

import logging
import socket
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from diorama.render.run.local_ray import head_answers
from diorama.render.run.options import RunOptions
from diorama.render.run.slot import Slot
from diorama.render.run.status import EventLog
from diorama.render.run.summary import GpuUse, Summary
from diorama.render.run.worker import Card, Failure, Ready, Task, Worker, pop_stderr, running, start_actor
from diorama.render.run.worker_plan import WorkerPlan
from diorama.scene_specs.errors import (
    AssetError,
    DeviceError,
    PluginError,
    RayFailedError,
    RenderError,
    UsageError,
    counted,
    first_line,
)

log = logging.getLogger(__name__)

_START_SECONDS = 180.0
_CLOSE_SECONDS = 3.0
_ASK_SECONDS = 10.0
# A killed process ends within moments, a hanging driver's perhaps never.
_END_SECONDS = 20.0
# Ray needs 15 s to notice that a node is lost; each look is a round trip to its head node.
_LOOK_SECONDS = 3.0
# A head may be restarted. Once it has not answered for 60 s, Ray's C++ part ends this process without a word to Python.
_HEAD_SECONDS = 15.0
# A worker that fails to start this many times in a row will not start the next time either.
_START_TRIES = 3
# After this many losses without a single answer in between, the cause is not an episode.
_LOSSES, _LOSSES_A_WORKER = 30, 5
_ERRORS = {error.__name__: error for error in (DeviceError, UsageError, AssetError, PluginError)}


class RayLostError(RayFailedError):
    """The run's Ray no longer answers, or has no node left to render on.

    Args:
        problem: a sentence without its period.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}. Committed episodes are safe: run the same command again to continue")


class Pool:
    """The workers of a run, by slot.

    Attributes:
        replaced: number of replaced workers by reason.
        peaks: bytes by number of the worker.
        devices: as reported at start.
        names: of the GPUs on which a worker has been up, for messages.
    """

    def __init__(self, options: RunOptions, events: EventLog, worker: type[Worker] = Worker) -> None:
        self._options, self._events, self._worker = options, events, worker
        self._groups: dict[str, Any] = {}
        self._started = 0
        self._losses = 0
        # When Ray's nodes were looked at, and its head was asked and answered.
        self._looked = self._asked = self._answered = time.monotonic()
        # Killed workers of GPUs, and until when to wait for their processes.
        self._ending: list[tuple[Card, Ready, float]] = []
        self.slots: list[Slot] = []
        self.replaced: Counter[str] = Counter()
        self.peaks: dict[int, int] = {}
        self.devices: list[str] = []
        self.names: dict[Card, str] = {}
        self._kernels = ""

    def start(self, plans: list[WorkerPlan]) -> None:
        """Start workers; each receives episodes as soon as it is up.

        Raises:
            DeviceError: Ray does not provide the GPUs.
        """
        for node in dict.fromkeys(plan.node for plan in plans if plan.card is not None):
            cards = 1 + max(plan.card for plan in plans if plan.node == node and plan.card is not None)
            # A bundle keeps its GPU for the whole run, however many workers start and end on it.
            bundles = [{"GPU": 1}] * cards
            self._groups[node] = placement_group(bundles, strategy="STRICT_PACK", _soft_target_node_id=node or None)
        for node, group in self._groups.items():
            if not group.wait(_START_SECONDS):
                raise DeviceError(
                    f"node {node or 'here'}: Ray did not provide {counted(group.bundle_count, 'GPU')} within "
                    f"{_START_SECONDS:.0f} s; another run may hold them: check with `ray status`"
                )
        for plan in plans:
            self.add(plan)

    def add(self, plan: WorkerPlan) -> None:
        """Start another worker."""
        slot = Slot(self._started, plan)
        self._started += 1
        self.slots.append(slot)
        self._launch_worker(slot)

    def _launch_worker(self, slot: Slot) -> None:
        slot.actor = start_actor(self._worker, self._options, slot.plan, self._groups.get(slot.plan.node))
        slot.ready = slot.actor.start.remote()
        slot.known, slot.info, slot.warm, slot.draining = slot.info or slot.known, None, False, False
        slot.since = time.monotonic()

    @property
    def cards(self) -> list[Card]:
        """The GPUs that have workers which stay."""
        return list(dict.fromkeys(slot.card for slot in self.slots if slot.card is not None and not slot.leaving))

    def resize(self, card: Card, workers: int, grow: bool = True) -> None:
        """Let workers leave a GPU until it has this many; or add them, unless `grow` is false."""
        here = [slot for slot in self.slots if slot.card == card and not slot.leaving]
        for _ in range(workers - len(here) if grow else 0):
            self.add(here[0].plan)
        for slot in here[workers:]:
            slot.leaving = True

    @property
    def alive(self) -> int:
        """Number of workers that are up."""
        return sum(slot.info is not None for slot in self.slots)

    def waited_for(self) -> dict[Any, Slot]:
        """Map what to wait for, the start of a worker or the episode it works on, to its slot."""
        waiting = {slot.in_flight[0].ref: slot for slot in self.slots if slot.in_flight}
        waiting.update({slot.ready: slot for slot in self.slots if slot.ready is not None})
        return waiting

    def start_ended(self, slot: Slot) -> None:
        """Take the result of a worker's start; start it again if its process ended.

        Raises:
            DioramaError: what the start raised; RenderError if it failed several times in a row.
        """
        try:
            answer = ray.get(slot.ready)
        except RayError as error:
            self._start_failed(slot, first_line(error))
            return
        match answer:
            case Failure() if slot.card in self.names:
                self._start_failed(slot, answer.message.partition(". ")[0])
                return
            case Failure():
                raise _ERRORS.get(answer.kind, RenderError)(f"{slot.where} did not start: {answer.message}")
        slot.ready = None
        if answer.limit and answer.memory > answer.limit and not self.alive:
            # It would be replaced before its first episode, and so would all others.
            raise UsageError(
                f"{slot.where} takes {answer.memory >> 20} MiB before its first image, and its limit is "
                f"{answer.limit >> 20} MiB: pass fewer --workers, or a larger --worker-memory"
            )
        slot.info, slot.start_failures = answer, 0
        self.memory_reported(slot, answer.memory)
        if answer.device not in self.devices:
            self.devices.append(answer.device)
        if slot.card is not None:
            told = ", ".join(filter(None, (answer.device, answer.uuid, answer.host)))
            self.names[slot.card] = f"GPU {slot.facts['gpu']} ({told})"
        if answer.kernels not in ("", self._kernels):
            self._kernels = answer.kernels
            log.warning("%s", answer.kernels)
        log.debug("%s is up: %s, process %d, cores %s", slot.where, answer.device, answer.pid, answer.cores)
        self._events.write("worker-up", **slot.facts, pid=answer.pid, device=answer.device, cores=answer.cores)

    def _start_failed(self, slot: Slot, why: str) -> None:
        slot.start_failures += 1
        self._events.write("worker-down", **slot.facts, reason=f"did not start: {why}")
        if slot.plan.node and node_lost(slot.plan.node):
            self._drop_worker(slot)
        elif slot.start_failures >= _START_TRIES and slot.card in self.names:
            if slot.leaving or any(other.open for other in self.slots if other.card == slot.card):
                log.warning("%s did not start: %s; its GPU continues with its other workers", slot.where, why)
                ray.kill(slot.actor)
                self.slots.remove(slot)
            else:
                slot.ready, slot.broken = None, f"no worker starts on it any longer: {why}"
        elif slot.start_failures >= _START_TRIES:
            raise RenderError(
                f"{slot.where} did not start, {slot.start_failures} times in a row: {why}. "
                "Check with render-doctor whether Blender runs here; -vv shows the output of Ray"
            )
        else:
            log.warning("%s did not start: %s; starting it again", slot.where, why)
            ray.kill(slot.actor)
            self._launch_worker(slot)

    def check_starts(self) -> None:
        """Check that Ray answers, and restart workers whose start takes too long.

        Raises:
            RayLostError: Ray does not answer, or no node is left to start on.
            RenderError: or a worker did not start several times in a row.
        """
        starting = [slot for slot in self.slots if slot.ready is not None]
        now = time.monotonic()
        if now - self._asked >= _LOOK_SECONDS:
            self._asked = now
            self._answered = now if head_answers() else self._answered
            if now - self._answered > _HEAD_SECONDS:
                raise RayLostError(f"Ray's head (gcs_server) has not answered for {now - self._answered:.0f} s")
        if starting and now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            if node_lost(""):
                raise RayLostError(
                    "Ray has no node left to render on: its raylet ended, perhaps because memory ran out"
                )
        for slot in starting:
            if now - slot.since > _START_SECONDS:
                self._start_failed(slot, f"it did not answer within {_START_SECONDS:.0f} s")

    def answered(self, slot: Slot, memory: int) -> None:
        """Note that a worker finished an episode, with this many bytes in memory."""
        self._losses = 0
        slot.warm = True
        self.memory_reported(slot, memory)

    def memory_reported(self, slot: Slot, memory: int) -> None:
        """Note the bytes that a worker has in memory; above its limit it is replaced after its episodes."""
        self.peaks[slot.number] = max(self.peaks.get(slot.number, 0), memory)
        limit = slot.info.limit if slot.info else None
        if limit and memory > limit and not slot.draining:
            slot.draining = True
            log.debug("%s has grown to %d MiB", slot.where, memory >> 20)

    def refresh(self) -> None:
        """Of the workers that have nothing to do, replace the draining ones and remove the leaving ones."""
        idle = [slot for slot in self.slots if slot.info is not None and not slot.in_flight]
        for slot in (slot for slot in idle if slot.leaving or slot.draining):
            reason = "no longer needed" if slot.leaving else f"grew to {self.peaks[slot.number] >> 20} MiB"
            self._events.write("worker-down", **slot.facts, reason=reason)
            self._end_workers([slot])
            if slot.leaving:
                self.slots.remove(slot)
            else:
                self.replaced["memory"] += 1
                self._launch_worker(slot)

    def _end_workers(self, slots: list[Slot]) -> None:
        """End workers; those that are up and have nothing to do first release what they hold."""
        closing = [slot.actor.close.remote() for slot in slots if slot.info is not None and not slot.in_flight]
        try:
            if closing:
                ray.wait(closing, num_returns=len(closing), timeout=_CLOSE_SECONDS)
        except RayError as error:
            log.debug("closing: %s", first_line(error))
        for slot in slots:
            self._kill_worker(slot)

    def _kill_worker(self, slot: Slot) -> None:
        ray.kill(slot.actor)  # does not wait for the end of the process
        if slot.card is not None and slot.info is not None:
            self._ending.append((slot.card, slot.info, time.monotonic() + _END_SECONDS))

    def emptied(self, card: Card) -> bool:
        """Return whether a GPU has the memory back that the processes of killed workers held."""
        for killed in [killed for killed in self._ending if killed[0] == card]:
            _, worker, end = killed
            if time.monotonic() < end and self._call(card[0], worker.host, running, worker.pid):
                return False
            self._ending.remove(killed)
        return True

    def lose(self, slot: Slot, kind: str, reason: str, episode: str) -> tuple[str, bool]:
        """Replace a worker that died or hung.

        Args:
            slot: of the worker.
            kind: as in Summary.replaced_why.
            reason: for the user.
            episode: id of its episode.

        Returns:
            The end of its output, and whether its node is lost.

        Raises:
            RenderError: too many workers were lost in a row, or the last node.
        """
        # Read before the kill: the process of a hanging worker deletes the file as it ends.
        tail = self._call(slot.plan.node, slot.info.host, pop_stderr, slot.info.output_file) or "" if slot.info else ""
        self._kill_worker(slot)
        self._events.write("worker-down", **slot.facts, episode=episode, reason=reason, last_words=tail)
        # What is too large for a GPU says nothing about the others, and each episode has only two such losses.
        self._losses += kind != "gpu_memory"
        bound = max(_LOSSES, _LOSSES_A_WORKER * len(self.slots))
        if self._losses > bound:
            raise RenderError(
                f"{self._losses} workers died or hung one after the other, and none finished an episode in between; "
                f"the last: {reason}{'; its last output: ' + tail if tail else ''}. Check with render-doctor whether "
                "this machine renders at all, then run the same command again"
            )
        if slot.plan.node and node_lost(slot.plan.node):
            self._drop_worker(slot)
            return tail, True
        self.replaced[kind] += 1
        if slot.leaving:
            self.slots.remove(slot)
        else:
            self._launch_worker(slot)
        return tail, False

    def remove(self, card: Card, reason: str) -> list[Task]:
        """Take a GPU out of the run and return the episodes of its workers.

        Raises:
            DeviceError: it was the last GPU.
        """
        gone = [slot for slot in self.slots if slot.card == card]
        self.slots = [slot for slot in self.slots if slot.card != card]
        tasks = [task for slot in gone for task in slot.in_flight]
        for slot in gone:
            ray.kill(slot.actor)
            slot.in_flight.clear()
            slot.ready = None
        name = self.names[card]
        self._events.write("gpu-left", gpu=name, reason=reason)
        if not self.slots:
            # Fewer episodes than GPUs leave some of them without a worker.
            idle = gone[0].plan.count - sum(node == card[0] for node, _ in self.names)
            others = (
                f" ({counted(idle, 'other GPU')} had no episode to render; CUDA_VISIBLE_DEVICES selects which to use)"
            )
            raise DeviceError(
                f"no GPU is left to render on. {name} was the last: {reason}. Committed episodes are safe. Check the "
                f"GPUs with nvidia-smi and `render-doctor`{others if idle > 0 else ''}, then run the same command "
                "again: it renders what is missing"
            )
        log.warning("%s leaves the run: %s; continuing with %s", name, reason, counted(len(self.cards), "GPU"))
        return tasks

    def _drop_worker(self, slot: Slot) -> None:
        self.slots.remove(slot)
        log.warning("%s: its node is lost; continuing with %s", slot.where, counted(len(self.slots), "worker"))
        self.replaced["node"] += 1
        if not self.slots:
            raise RayLostError("all nodes of the Ray cluster are lost")

    def _call(self, node: str, host: str, question: Callable[[Any], Any], about: Any) -> Any:
        """Call a function on a node; None if that does not answer."""
        if host == socket.gethostname():
            return question(about)
        strategy = NodeAffinitySchedulingStrategy(node, soft=False)
        task = ray.remote(question).options(num_cpus=0, max_retries=0, scheduling_strategy=strategy)
        try:
            return ray.get(task.remote(about), timeout=_ASK_SECONDS)
        except (RayError, TimeoutError):
            return None

    def count(self, slot: Slot, summary: Summary, images: int = 0, failures: int = 0) -> None:
        """Add what a worker did to the numbers of its GPU."""
        if slot.card is not None and slot.info is not None:
            facts, name = slot.facts, self.names[slot.card]
            new = GpuUse(facts["gpu"], facts["uuid"], facts["host"], slot.info.device, slot.since)
            use = summary.gpus.setdefault(name, new)
            use.images += images
            use.failures += failures

    def add_to(self, summary: Summary) -> None:
        """Add what became of the workers to the result of the run."""
        summary.replaced_why.update(self.replaced)
        summary.memory_peaks += [self.peaks[number] for number in sorted(self.peaks)]
        summary.devices = summary.devices or Counter(dict.fromkeys(self.devices, 0))

    def close(self, lost: bool = False) -> None:
        """End all workers and give their GPUs back to Ray.

        Args:
            lost: Ray does not answer, and all end with it.
        """
        if not lost:
            self._end_workers(self.slots)
            for group in self._groups.values():
                remove_placement_group(group)
        self.slots = []


def node_lost(node: str) -> bool:
    """Return whether a node is lost, as far as Ray knows.

    Args:
        node: its Ray id; empty for all nodes together.
    """
    # Without a head, Ray would search for it until it ends this process.
    return head_answers() and all(not known["Alive"] or (node and known["NodeID"] != node) for known in ray.nodes())
