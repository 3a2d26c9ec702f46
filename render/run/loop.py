"""The render loop: episodes through Ray workers into the store. A worker holds at most two; one thread commits."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import ray
from ray.exceptions import RayError

from diorama.render.run.cards import LOST_GPU, CardFaults, Tuner, tune, tuner_for
from diorama.render.run.estimate import Work
from diorama.render.run.options import RunOptions
from diorama.render.run.pool import Pool, RayLostError
from diorama.render.run.recheck import is_sampled, judge, may_take
from diorama.render.run.slot import QUEUE_SECONDS, SHORT_SECONDS, Slot, late_starts, late_worker_messages, limit_of
from diorama.render.run.status import EventLog, Progress
from diorama.render.run.stopping import Deadline, Interrupts
from diorama.render.run.summary import Summary
from diorama.render.run.waiting import Waiting
from diorama.render.run.worker import Card, Done, Failure, Task, Worker, failures_in, how_lost, pack
from diorama.render.run.worker_plan import WorkerPlan
from diorama.scene_specs.errors import (
    AssetError,
    ConflictError,
    DeviceError,
    DioramaError,
    GpuMemoryError,
    StoreError,
    counted,
    first_line,
)

log = logging.getLogger(__name__)

_TICK_SECONDS = 1.0
_STOP_NOW_SECONDS = 3.0
# For the transfer of a finished answer from its node.
_FETCH_SECONDS = 60.0
_LONGEST_MESSAGE = 4000
# An episode whose worker could not be reached this often is blamed for it.
_MOST_UNREACHABLE = 3


class Sink(Protocol):
    """Takes what a run renders, such as a Committer (diorama.render.run.commit), whose documentation holds for all.

    Attributes:
        seconds: spent on all commits.
        last_seconds: spent on the last commit.
        hurry: set when the run stops.
    """

    seconds: float
    last_seconds: float
    hurry: threading.Event

    @property
    def unsaved(self) -> int:
        """Number of rendered episodes that are not known to be in the store."""

    @property
    def full(self) -> bool:
        """Whether to stop rendering until some episodes are stored."""

    def add(self, done: Done) -> None:
        """Take an episode."""

    def add_failure(self, failure: Failure) -> None:
        """Take the failure of an episode."""

    def poll(self, force: bool = False) -> list[Done | Failure]:
        """Return what was stored since the last call."""

    def finish(self, seconds: float | None = None) -> list[Done | Failure]:
        """Store everything that was added, within so many seconds; return the same."""

    def close(self) -> None:
        """End what is in progress."""


@dataclass
class RenderLoop:
    """The loop of one run.

    Attributes:
        tasks: streamed; at most a few per worker are in memory. None while the next one is not ready.
        sink: takes the episodes.
        summary: to which the loop adds.
        worker: class of the workers.
        lost_cards: GPUs that left the run.
        measured: what the rendered episodes took.
    """

    tasks: Iterator[Task | Failure | None]
    sink: Sink
    options: RunOptions
    summary: Summary
    progress: Progress
    events: EventLog
    worker: type[Worker] = Worker

    def __post_init__(self) -> None:
        self._waiting = Waiting(self.tasks)
        self._pool = Pool(self.options, self.events, self.worker)
        self._cards = CardFaults(self._pool)
        self.lost_cards: set[Card] = set()
        self._depth = 1
        # What looked unusual on a GPU until another device rendered the same.
        self._confirmed_looks = set[str]()
        self._tuner: Tuner | None = None
        self.measured = Work()
        self._ticked, self._deadline = 0.0, Deadline(None)

    def go(self, plans: list[WorkerPlan], interrupts: Interrupts) -> Summary:
        """Render everything and return the summary.

        Args:
            plans: of the workers to start.
            interrupts: entered; holds the deadline.

        Raises:
            DeviceError: a device is missing, or the last GPU failed.
            RenderError: workers don't start, or end one after the other.
            StoreError: the store failed for longer than the options allow.
            ConflictError: the store holds images of another series of Blender.
            KeyboardInterrupt: a second signal came.
        """
        start, lost = time.monotonic(), False
        self._deadline = interrupts.deadline
        self.events.write("start", workers=len(plans), store=self.summary.store, devices=[p.device for p in plans])
        try:
            self._pool.start(plans)
            self._tuner = tuner_for(self.options, plans)
            while self._run_turn(interrupts):
                pass
            left = _STOP_NOW_SECONDS if interrupts.terminated else self._deadline.left(_STOP_NOW_SECONDS)
            self._count_committed(self.sink.finish(max(0.0, left)))
            if self.sink.unsaved:
                log.warning("%s not committed in time", counted(self.sink.unsaved, "episode"))
        except (StoreError, ConflictError):
            raise
        except (KeyboardInterrupt, DioramaError, RayError) as error:
            match error:
                case DeviceError() if self._pool.devices:
                    self.summary.stopped = "device"
                case RayLostError() | RayError():
                    lost = True
            self._commit_rendered()
            if isinstance(error, RayError):
                raise RayLostError(f"Ray failed: {first_line(error)}") from error
            raise
        finally:
            with interrupts.undisturbed():
                self._pool.close(lost)
                self.sink.close()
            self._close_summary(time.monotonic() - start)
        return self.summary

    def _run_turn(self, interrupts: Interrupts) -> bool:
        """Do one turn of the loop; return whether another is needed."""
        commit = self.sink.last_seconds
        if interrupts.stopping:
            self._stop(interrupts.stopping)
        elif not self._deadline.enough(commit):
            self._stop("time")
        self._fill_workers()
        busy = any(slot.in_flight for slot in self._pool.slots)
        if not busy and (self.summary.stopped or not self._has_more()):
            return False
        if self.summary.stopped and (self._deadline.over(commit) or interrupts.gave_up):
            log.warning("no time is left for what is in flight: it will be rendered again")
            return False
        self._collect_answers()
        self._replace_hung()
        self._pool.refresh()
        self._count_committed(self.sink.poll(force=bool(self.summary.stopped)))
        now = time.monotonic()
        if now - self._ticked > _TICK_SECONDS:
            self._ticked = now
            self._tick_second(now)
        return True

    def _stop(self, why: str) -> None:
        """Start no further episodes; `why` is `interrupt`, `time` or `failures`."""
        if not self.summary.stopped:
            self.summary.stopped = why
            self.sink.hurry.set()

    def _fill_workers(self) -> None:
        """Send every worker an episode, then every worker a second one, so that the last episodes spread evenly."""
        if self.summary.stopped or self.sink.full:
            return
        self._waiting.extend(self._cards.release())
        now = time.monotonic()
        for depth in range(1, self._depth + 1):
            for slot in self._pool.slots:
                fits = slot.open and len(slot.in_flight) < depth and slot.seconds_on(now) <= QUEUE_SECONDS
                if fits and (task := self._next_task(slot)):
                    self._send_task(slot, task)

    def _next_task(self, slot: Slot) -> Task | None:
        """Return the next task for a worker, None if there is none or the run stops; count failures in between."""
        if slot.card in self._cards.reserved:
            return self._cards.take_alone(slot)
        for choosy in (True, False):

            def fits(task: Task, choosy: bool = choosy) -> bool:
                return self._cards.may_take(slot, task, choosy) and may_take(self._pool.slots, slot, task)

            while not self.summary.stopped and (task := self._waiting.take(fits)):
                if isinstance(task, Task):
                    return task
                self._count_failure(task, 0.0)
        return None

    def _has_more(self) -> bool:
        """Return whether another task waits."""
        waits = bool(self._waiting) or any(self._cards.reserved.values()) or self._waiting.read()
        return waits or not self._waiting.ended

    def _send_task(self, slot: Slot, task: Task) -> None:
        if task.first is not None and task.first.looks:
            here = slot.card == task.first_on[1]
            # If the doubted GPU has left the run, the episode is rendered again.
            task.first, task.by_cpu = task.first if here or not task.by_cpu else None, here
        task.tries += 1
        task.ref = slot.actor.render.remote(pack(task))
        if not slot.in_flight:
            task.started = time.monotonic()
        slot.in_flight.append(task)

    def _collect_answers(self) -> None:
        """Take the answers of workers; wait up to half a second for the first."""
        waiting = self._pool.waited_for()
        if not waiting:
            time.sleep(0.05)
            return
        ray.wait(list(waiting), num_returns=1, timeout=0.5)
        # All answers that are ready, here or on another node, so that no worker counts as hung because this process
        # was busy elsewhere.
        ready, _ = ray.wait(list(waiting), num_returns=len(waiting), timeout=0, fetch_local=False)
        for ref in ready:
            slot = waiting[ref]
            if slot not in self._pool.slots:
                # Its GPU left because of an answer before this one, and its episodes wait for another.
                continue
            if ref == slot.ready:
                self._pool.start_ended(slot)
                continue
            try:
                done, memory = ray.get(ref, timeout=_FETCH_SECONDS)
            except RayError as error:
                self._replace(slot, *how_lost(error))
                continue
            if isinstance(done, Failure) and done.kind in LOST_GPU:
                self._replace(slot, LOST_GPU[done.kind], done.message.removeprefix(f"episode {done.episode_id}: "))
                continue
            task = slot.in_flight.popleft()
            now = time.monotonic()
            seconds = now - task.started
            self._depth = 2 if seconds < SHORT_SECONDS else 1
            if slot.in_flight:
                slot.in_flight[0].started = now
            match done:
                case Failure(kind=DeviceError.__name__):
                    raise DeviceError(done.message)
                case Failure():
                    self._count_failure(done, task.work.cost, slot)
                case Done():
                    self._take_rendered(slot, task, done, memory, seconds)
            self._pool.answered(slot, memory)

    def _take_rendered(self, slot: Slot, task: Task, done: Done, memory: int, seconds: float) -> None:
        doubted = task.first is None and not done.looks <= self._confirmed_looks
        if not doubted:
            self._cards.succeeded(slot)
        self._pool.count(slot, self.summary, images=done.images)
        if doubted or (task.first is None and is_sampled(done.episode_id, self.options.recheck)):
            # The second render of a doubted one is part of the same try.
            task.tries = task.tries - 1 if doubted else 0
            task.first, task.first_on, task.by_cpu = done, (slot.number, slot.card), False
            self._waiting.append(task)
            return
        if task.first is not None:
            if not task.by_cpu and (failure := judge(task.first, done)):
                if not task.first.looks:
                    self._count_failure(failure, task.work.cost, slot)
                    return
                # One of two GPUs is wrong: the CPU decides.
                task.tries, task.by_cpu = task.tries - 1, True
                self._waiting.append(task)
                return
            done = task.first
            self.summary.rechecked += 1
            self._confirmed_looks |= done.looks - {""}
        self.sink.add(done)
        self.summary.add_seconds(done.seconds)
        self.summary.devices[done.device] += 1
        threads = slot.plan.threads if slot.plan.card is None else 1
        if (slot.warm or slot.plan.card is None) and not task.by_cpu:  # The first image on a GPU waits for its kernels.
            self.measured.add(replace(task.work, seconds=seconds * threads, bytes=len(done.row)))
        self._deadline.finished(seconds)
        self.progress.advance(done.images, task.work.cost, seconds)
        facts = {"images": done.images, "tries": task.tries, "seconds": done.seconds, "memory": memory}
        self.events.write("episode-done", episode=done.episode_id, **slot.facts, **facts)

    def _count_failure(self, failure: Failure, cost: float | None, slot: Slot | None = None) -> None:
        """Count a failure.

        Args:
            failure: of an episode.
            cost: of the episode, None if the progress bar has counted that as rendered before.
            slot: of its worker, None if it had none.
        """
        failure = replace(failure, message=failure.message[:_LONGEST_MESSAGE])
        # The summary lists failures for everybody.
        log.debug("failed: %s", failure.message)
        facts = slot.facts if slot else {}
        facts |= {"kind": failure.kind, "message": failure.message}
        self.events.write("episode-failed", episode=failure.episode_id, **facts)
        self.summary.failed.append(failure)
        self.sink.add_failure(failure)
        if cost is not None:
            self.progress.advance(cost=cost)
        if self.options.max_failures is not None:
            # With --skip-broken, broken assets are expected.
            expected = AssetError.__name__ if self.options.skip_broken else None
            if sum(each.kind != expected for each in self.summary.failed) >= self.options.max_failures:
                self._stop("failures")

    def _replace_hung(self) -> None:
        now = time.monotonic()
        self._pool.check_starts()
        for slot in list(self._pool.slots):
            if slot not in self._pool.slots:
                continue
            if slot.broken:
                self._remove_card(slot, slot.broken)
            elif slot.in_flight and slot.seconds_on(now) > (limit := self._time_limit(slot)):
                self._cards.hung(slot)
                self._replace(slot, "hung", f"it took longer than {limit:.0f} s")
            elif len(slot.in_flight) > 1 and slot.seconds_on(now) > QUEUE_SECONDS:
                task = slot.in_flight.pop()
                # Where it has begun meanwhile, it is rendered twice, and this answer is not read.
                ray.cancel(task.ref)
                self._put_back(slot, task)

    def _time_limit(self, slot: Slot) -> float:
        """Return how many seconds a worker may take for its current episode."""
        return limit_of(slot, self.options.timeout, self._cards.kernel_seconds(slot))

    def _replace(self, slot: Slot, kind: str, reason: str) -> None:
        """Replace a worker that died, hangs, or whose GPU failed; blame its episode, unless its node is lost."""
        if slot.card is None and kind == "gpu_memory":
            kind = "gpu"  # Of a renderer that uses a GPU on its own: none can be kept for an episode.
        culprit, *others = slot.in_flight
        self._pool.count(slot, self.summary, failures=1)
        slot.in_flight.clear()
        for task in others:
            self._put_back(slot, task)
        if kind == "gpu_memory" and not culprit.alone:
            self._try_alone(slot, culprit, reason)
            return
        if culprit.by_cpu and kind == "implausible":
            culprit.first = None
        tail, node_lost, where = "", False, slot.where
        failed = self._cards.failed(slot, culprit, kind == "gpu_memory") if kind != "unreachable" else 0
        if failed:
            self._remove_card(slot, f"{failed} episodes in a row failed on it; the last: {reason}")
        else:
            tail, node_lost = self._pool.lose(slot, kind, reason, culprit.episode.id)
        # Ray notices only after some seconds that a node is lost; until then its workers are unreachable.
        innocent = node_lost or (kind == "unreachable" and culprit.unreachable_count < _MOST_UNREACHABLE)
        culprit.unreachable_count += innocent
        if innocent:
            log.warning("episode %s on %s: %s; retrying it on another worker", culprit.episode.id, where, reason)
            self._put_back(slot, culprit)
            return
        # Of a failed render, the reason has the output.
        name, output = culprit.episode.id, f"; last output: {tail}" if tail and kind not in LOST_GPU.values() else ""
        if kind == "gpu_memory" or culprit.tries > self.options.retries:
            tries, error = f"given up after {culprit.tries} tries", "WorkerLost"
            if kind == "gpu_memory":
                tries, error = "alone on its GPU", GpuMemoryError.__name__
            message = f"episode {name}: {tries} ({where}): {reason}{output}"
            self._count_failure(Failure(name, error, message), culprit.work.cost, slot)
            return
        log.warning("episode %s on %s: %s%s; retrying it on another worker", name, where, reason, output)
        self.summary.retried += 1
        self._put_back(slot, culprit, tried=True)

    def _put_back(self, slot: Slot, task: Task, tried: bool = False) -> None:
        """Let an episode that a worker had wait again. tried: whether that counts as one of its tries."""
        task.tries -= not tried
        reserved = self._cards.reserved.get(slot.card) if task.alone and slot.card else None
        (self._waiting if reserved is None else reserved).append(task)

    def _try_alone(self, slot: Slot, task: Task, reason: str) -> None:
        """Let an episode that ran out of GPU memory wait for its GPU alone, and run fewer workers from now on."""
        task.tries -= 1
        limit = self._cards.reserve(slot, task)
        self._pool.lose(slot, "gpu_memory", reason, task.episode.id)
        if self._tuner is not None:
            self._tuner.chosen = limit
        log.warning(
            "episode %s on %s: %s; retrying it alone on its GPU, and then continuing with %s per GPU",
            task.episode.id, slot.where, reason.partition(". ")[0], counted(limit, "worker"),
        )  # fmt: skip
        self.summary.retried += 1
        self.summary.workers_per_gpu, self.summary.gpu_memory_short = limit, True

    def _remove_card(self, slot: Slot, reason: str) -> None:
        """Continue without a GPU, whose episodes other GPUs render. Raises DeviceError if it was the last."""
        assert slot.card is not None
        self.lost_cards.add(slot.card)
        self.summary.lost_gpus[self._pool.names[slot.card]] = reason
        for task in self._pool.remove(slot.card, reason):
            self._put_back(slot, task)

    def _count_committed(self, group: list[Done | Failure]) -> None:
        stored = [done for done in group if isinstance(done, Done)]
        for failure in failures_in(group):
            self._count_failure(failure, None)
        if stored:
            images = sum(done.images for done in stored)
            self.summary.rendered += len(stored)
            self.summary.images += images
            self.summary.replaced += sum(done.attempt > 1 for done in stored)
            self.events.write("commit", episodes=len(stored), images=images, seconds=self.sink.last_seconds)

    def _commit_rendered(self) -> None:
        """Commit what is rendered, within a few seconds, as the run ends because of an error."""
        self.sink.hurry.set()
        try:
            self._count_committed(self.sink.finish(_STOP_NOW_SECONDS))
        except (StoreError, ConflictError) as error:
            log.warning("%s not committed: %s", counted(self.sink.unsaved, "episode"), error)

    def _tick_second(self, now: float) -> None:
        """Once per second: report progress, tune the number of workers."""
        state = "stopping" if self.summary.stopped else "paused" if self.sink.full else "running"
        slots = self._pool.slots
        in_flight = [(slot.in_flight[0].work.cost, slot.seconds_on(now)) for slot in slots if slot.in_flight]
        late, starting = late_worker_messages(slots, self.options.timeout, now), late_starts(slots, now)
        self.progress.tick(self._pool.alive, state, in_flight, late, starting)
        if self._tuner is not None and not self.summary.stopped:
            chosen = tune(self._pool, self._tuner, now, sum(use.images for use in self.summary.gpus.values()))
            if chosen is not None:
                self.summary.workers_per_gpu = chosen
                self.events.write("workers-per-gpu", chosen=chosen, images_per_second=self._tuner.rates)

    def _close_summary(self, seconds: float) -> None:
        """Add this part of the run; a run has several parts if Ray was started again."""
        self.summary.seconds += seconds
        if self.summary.rendered:
            self.summary.add_seconds({"commit": self.sink.seconds})
        self._pool.add_to(self.summary)
