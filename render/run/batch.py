"""The run: episodes through Ray workers into the store. One committer, at most two episodes in flight a worker."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import ray
from ray.exceptions import RayError

from render.errors import DeviceError, RenderError
from render.record import EpisodeRecord, Job
from render.run.episode import Episode
from render.run.interrupt import Interrupts
from render.run.options import RunOptions, WorkerPlan, timeout_of
from render.run.summary import Summary
from render.run.worker import Failure, start_actor
from render.scene import Scene, Settings
from render.store.base import EpisodeStore

log = logging.getLogger(__name__)

# Episodes handed to a worker at once: the second hides the way there and back.
_DEPTH = 2
# A commit holds at most this many seconds of work that a kill would cost.
_COMMIT_SECONDS = 5.0
_START_SECONDS = 180.0


@dataclass
class Task:
    """One episode on its way. tries: how many workers it has been given to."""

    episode: Episode
    job: Job
    settings: Settings
    attempt: int = 1
    tries: int = 0
    ref: Any = None
    started: float = 0.0

    @property
    def images(self) -> int:
        """How many pictures it will give."""
        if isinstance(self.episode, Scene):
            return sum(len(frame.views) for frame in self.episode.frames)
        return sum(len(frame.views or (None,)) for frame in self.episode.frames)


class ProgressBar(Protocol):
    """What a run tells about itself while it goes on."""

    def advance(self, episodes: int, images: int, failed: int) -> None:
        """So many more are done."""
        ...


@dataclass
class _Slot:
    """A worker and what it has been given, head first."""

    plan: WorkerPlan
    actor: Any
    given: deque[Task] = field(default_factory=deque)


class Run:
    """One run. `tasks` is streamed: never more than a few a worker are held."""

    def __init__(self, tasks: Iterable[Task], store: EpisodeStore, options: RunOptions, progress: ProgressBar) -> None:
        self._tasks = iter(tasks)
        self._again: deque[Task] = deque()
        self._store = store
        self._options = options
        self._progress = progress
        self._slots: list[_Slot] = []
        self._pending: list[EpisodeRecord] = []
        self._committed_at = time.monotonic()
        self.summary = Summary()

    def go(self, plans: list[WorkerPlan], interrupts: Interrupts) -> Summary:
        """Render everything; returns what was done. Raises DeviceError, StoreError."""
        start = time.monotonic()
        try:
            self._start(plans)
            while self._fill(interrupts.stopping):
                self._collect()
                self._replace_hung()
                self._commit(force=False)
            self._commit(force=True)
        finally:
            for slot in self._slots:
                ray.kill(slot.actor)
            self.summary.seconds = time.monotonic() - start
        return self.summary

    def _start(self, plans: list[WorkerPlan]) -> None:
        options = self._options
        self._slots = [_Slot(plan, start_actor(options.renderer, plan, options.asset_roots)) for plan in plans]
        try:
            answers = ray.get([slot.actor.info.remote() for slot in self._slots], timeout=_START_SECONDS)
        except RayError as error:
            raise RenderError(f"the workers did not start: {error}") from error
        for answer in answers:
            if isinstance(answer, Failure):
                raise (DeviceError if answer.kind == "DeviceError" else RenderError)(answer.message)
        self.summary.devices = list(dict.fromkeys(str(answer["device"]) for answer in answers))
        log.info("%d workers on %s", len(answers), "; ".join(self.summary.devices))

    def _next(self) -> Task | None:
        if self._again:
            return self._again.popleft()
        return next(self._tasks, None)

    def _fill(self, stopping: bool) -> bool:
        """Give every worker something to do; whether anything is in flight."""
        if not stopping:
            # One each before a second each, so that the last episodes spread over all workers.
            for depth in range(1, _DEPTH + 1):
                for slot in self._slots:
                    while len(slot.given) < depth:
                        task = self._next()
                        if task is None:
                            break
                        self._give(slot, task)
        return any(slot.given for slot in self._slots)

    def _give(self, slot: _Slot, task: Task) -> None:
        task.tries += 1
        task.ref = slot.actor.render.remote(task.episode, task.job, task.settings, task.attempt)
        if not slot.given:
            task.started = time.monotonic()
        slot.given.append(task)

    def _collect(self) -> None:
        heads = {slot.given[0].ref: slot for slot in self._slots if slot.given}
        ready, _ = ray.wait(list(heads), num_returns=1, timeout=1.0)
        for ref in ready:
            slot = heads[ref]
            try:
                result = ray.get(ref)
            except RayError as error:
                self._replace(slot, f"its worker died: {_first_line(error)}")
                continue
            slot.given.popleft()
            if slot.given:
                slot.given[0].started = time.monotonic()
            self._take(result)

    def _take(self, result: EpisodeRecord | Failure) -> None:
        if isinstance(result, Failure):
            log.warning("failed: %s", result.message)
            self.summary.failed.append(result)
            self._progress.advance(1, 0, 1)
            return
        self._pending.append(result)
        for step, seconds in result.provenance.seconds.items():
            self.summary.steps[step] = self.summary.steps.get(step, 0.0) + seconds
        self._progress.advance(1, len(result.images), 0)

    def _replace_hung(self) -> None:
        now = time.monotonic()
        for slot in self._slots:
            if not slot.given:
                continue
            task = slot.given[0]
            settings = task.episode.settings if isinstance(task.episode, Scene) else task.settings
            limit = timeout_of(self._options, settings.samples, settings.width, settings.height, task.images)
            if now - task.started > limit:
                self._replace(slot, f"it took longer than {limit:.0f} s")

    def _replace(self, slot: _Slot, reason: str) -> None:
        """A new worker for a dead or hung one. The episode at its head is to blame; those behind it are not."""
        ray.kill(slot.actor)
        culprit, *others = slot.given
        slot.given.clear()
        for task in others:
            task.tries -= 1
            self._again.append(task)
        if culprit.tries > self._options.retries:
            message = f"episode {culprit.episode.id}: set aside after {culprit.tries} tries: {reason}"
            self._take(Failure(culprit.episode.id, "WorkerLost", message))
        else:
            log.warning("episode %s: %s; trying it elsewhere", culprit.episode.id, reason)
            self._again.append(culprit)
        slot.actor = start_actor(self._options.renderer, slot.plan, self._options.asset_roots)
        self.summary.replaced_workers += 1

    def _commit(self, force: bool) -> None:
        due = (
            len(self._pending) >= self._options.commit_every or time.monotonic() - self._committed_at > _COMMIT_SECONDS
        )
        if not self._pending or not (force or due):
            return
        self._store.put(self._pending)
        self._store.maybe_compact()
        self.summary.rendered += len(self._pending)
        self.summary.images += sum(len(record.images) for record in self._pending)
        self._pending = []
        self._committed_at = time.monotonic()


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def counted(tasks: Iterable[Task], limit: int | None) -> Iterator[Task]:
    """The first `limit` of tasks."""
    for number, task in enumerate(tasks):
        if limit is not None and number >= limit:
            return
        yield task
