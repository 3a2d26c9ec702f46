"""A run: check the specs, decide what to render, render it, commit it."""

from __future__ import annotations

import logging
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

from diorama.render.compiler.render_key import render_key_of
from diorama.render.run.commit import Committer, conflict_failure
from diorama.render.run.estimate import Work, remember
from diorama.render.run.local_ray import ray_nodes
from diorama.render.run.loop import RenderLoop
from diorama.render.run.machine import OTHER_KINDS, find_cards
from diorama.render.run.options import RunOptions
from diorama.render.run.pool import RayLostError
from diorama.render.run.status import EventLog, Progress
from diorama.render.run.stopping import Deadline, Interrupts, job_end
from diorama.render.run.summary import Summary
from diorama.render.run.worker import Card, Failure, Task
from diorama.render.run.worker_plan import WorkerPlan, cards_wanted, plan_workers
from diorama.render.store import open_or_create, peek
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.resume import Decision, Planner
from diorama.scene_specs.errors import AssetError, Diagnostic, DioramaError, RayFailedError, SpecError, UsageError
from diorama.scene_specs.model.profiles import Episode, episode_settings
from diorama.scene_specs.reading.source import SpecSource

log = logging.getLogger(__name__)

# If Ray dies more often in one run, somebody has to look at the machine.
_RAY_RESTARTS = 3
_SHOWN = 3
# More are counted, not kept: their message names no more than this.
_MAX_CONFLICTS = 5
# The kind of an episode that the render loop has received: the run itself may have stored it since.
_STARTED = "started"


@dataclass
class Batch:
    """A run in two steps: `plan`, then `render`. Each step reads the specs once, as a stream.

    Args:
        source: the specs, in files or in memory.
        store: path or URL.
        options: of the run.
        on_progress: called with the numbers of finished episodes and of all that are to be rendered, instead of drawing
            a line.

    Attributes:
        summary: the result so far.
        work: what `plan` found to render.
    """

    source: SpecSource
    store: str
    options: RunOptions
    on_progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        self.source.part = first, count = self.options.part or (1, 1)
        self.source.look = self.options.look
        # `options.limit` counts before the part is taken.
        self._limit = None if self.options.limit is None else len(range(first, self.options.limit + 1, count))
        self.summary = Summary(store=self.store)
        self.work = Work()
        # Episode id -> the kind of its latest decision, or _STARTED.
        self._kinds: dict[str, str] = {}
        # Episode id -> the hash of its RenderKey, if it was stored with that.
        self._up_to_date: dict[str, str] = {}

    def check_devices(self) -> None:
        """Check that the requested GPUs exist, before anything takes time.

        The GPUs of a cluster are known only once Ray is connected to it.

        Raises:
            DeviceError: a GPU is missing.
            UsageError: options exclude each other.
        """
        if self.options.address is None and self.options.logical_gpus is None:
            cards = find_cards(device=self.options.device)
            if cards_wanted(self.options, cards.count, cards.report) and self.options.device in OTHER_KINDS:
                # Ray counts the GPUs of other makers only with their own software.
                self.options = replace(self.options, logical_gpus=cards.count)

    def plan(self) -> None:
        """Check every spec and compare it with the store; nothing is rendered.

        Raises:
            SpecError: files are wrong; has every diagnostic of every file.
            AssetError: an asset of an episode is missing or broken.
            UsageError: options don't fit the specs or the store.
            StoreError: the store can't be read.
            ConflictError: ids are stored but were made from something else; names several.
        """
        diagnostics: list[Diagnostic] = []
        conflicts: list[Decision] = []
        error: DioramaError | None = None
        planner: Planner | None = None
        left = sys.maxsize if self._limit is None else self._limit
        resized: set[str] = set()
        for item in self.source.check_each():
            if isinstance(item, Diagnostic):
                diagnostics.append(item)
                continue
            if diagnostics or error or not left:
                continue
            left -= 1
            try:
                planner = planner or Planner(peek(self.summary.store), self.options.resume, self.options.mix_series)
                decision = self._decide_and_count(planner, item.episode)
            except DioramaError as caught:
                # Wrong specs come first: the rest of the files may have diagnostics.
                error = caught
                continue
            if decision is not None and decision.kind in ("render", "replace"):
                self.work.add(Work.of(decision.episode, decision.settings))
                match decision.episode.task, [decision.settings.width, decision.settings.height]:
                    case {"image_size": [int(width), int(height)] as size}, own if size != own:
                        resized.add(f"{width}x{height}")
            if decision is not None and decision.kind == "conflict" and len(conflicts) < _MAX_CONFLICTS:
                conflicts.append(decision)
        if diagnostics:
            raise SpecError(diagnostics)
        if error:
            raise error
        if conflicts:
            raise Planner.conflict(conflicts, sum(kind == "conflict" for kind in self._kinds.values()))
        if resized:
            sizes = ", ".join(sorted(resized))
            log.warning("images that were published at %s are rendered at another size; see --size", sizes)
        self.count_decisions()

    def decisions(self, store: LanceStore | None) -> Iterator[Decision]:
        """Read the specs again and yield what to do with each episode, given what is stored now.

        Episodes that `plan` found up to date, and that still are, are left out.
        """
        planner = Planner(store, self.options.resume, self.options.mix_series)
        for item in islice(self.source, self._limit):
            name = item.episode.id
            if name in self._up_to_date and planner.stored.get(name) == self._up_to_date[name]:
                continue
            decision = self._decide_and_count(planner, item.episode)
            if decision is not None:
                yield decision

    def _decide_and_count(self, planner: Planner, episode: Episode) -> Decision | None:
        """Decide and count what becomes of an episode; None if it is left out because of a broken asset."""
        settings = episode_settings(episode, self.options.profile, self.options.size)
        try:
            key = render_key_of(episode, settings, self.options.renderer, self.options.asset_roots)
        except AssetError as error:
            named = AssetError(f"episode {episode.id}: {error}")
            if not self.options.skip_broken:
                raise named from error
            if all(failure.episode_id != episode.id for failure in self.summary.failed):
                self.summary.failed.append(Failure.of(named, episode.id))
                self._kinds[episode.id] = "render"
            return None
        decision = planner.decide(episode, key, settings)
        if self._kinds.get(episode.id) != _STARTED:
            self._kinds[episode.id] = decision.kind
        if decision.kind == "skip":
            self._up_to_date[episode.id] = planner.stored[episode.id]
        return decision

    def count_decisions(self) -> None:
        """Set the numbers of the summary that follow from the decisions so far."""
        kinds = Counter(self._kinds.values())
        self.summary.skipped, self.summary.kept = kinds["skip"], kinds["keep"]
        self.summary.todo = len(self._kinds) - self.summary.skipped - self.summary.kept

    def kind_of_run(self, plans: Sequence[WorkerPlan]) -> str:
        """Return renderer, device and host: what the speed of a run depends on."""
        device = "cpu" if plans[0].card is None else "gpu"
        return f"{self.options.renderer} {device} {socket.gethostname()}"

    def render(self) -> Summary:
        """Render and commit the episodes that `plan` found missing.

        Raises:
            DeviceError: a device is missing, or the last GPU failed.
            RayFailedError: Ray does not start, or was lost several times.
            RenderError: the workers don't start, or end one after the other.
            StoreError: the store can't be written.
            UsageError: the run had to end in the past, or options exclude each other.
        """
        if not self.summary.todo:
            return self.summary
        deadline = Deadline(self.options.until or job_end())
        if deadline.end is not None:
            end = time.strftime("%F %T", time.localtime(deadline.end))
            if deadline.left() <= 0:
                raise UsageError(
                    f"this run had to end before {end}, which is over: pass another --until, or, if this shell is no "
                    "job of Slurm anymore, unset SLURM_JOB_ID"
                )
            log.info("the run stops in time to end before %s", end)
        with (
            closing(open_or_create(self.summary.store)) as store,
            closing(EventLog(self.options.json_log)) as events,
            Interrupts(deadline) as interrupts,
            closing(Progress(self.summary, self.work.cost, self.on_progress)) as progress,
        ):
            try:
                self._render_with_ray(store, events, interrupts, progress)
            finally:
                self.count_decisions()
                progress.status.total = self.summary.todo
                self.summary.left = self.summary.todo - self.summary.rendered - len(self.summary.failed)
                events.write("end", **self.summary.as_dict())
        return self.summary

    def _render_with_ray(self, store: LanceStore, events: EventLog, interrupts: Interrupts, progress: Progress) -> None:
        """Render what is missing; if the Ray of this machine dies on the way, start another."""

        def trouble(text: str) -> None:
            log.warning("%s", text)
            events.write("store-trouble", message=text)

        options = self.options
        lost_cards: set[Card] = set()
        for restart in range(_RAY_RESTARTS + 1):
            try:
                with ray_nodes(options.address, options.logical_gpus) as nodes:
                    sink = Committer(store, options, trouble)
                    loop = RenderLoop(self._missing_tasks(store), sink, options, self.summary, progress, events)
                    plans = plan_workers(options, nodes, self.summary.todo)
                    plans = [plan for plan in plans if (plan.node, plan.card) not in lost_cards]
                    loop.go(plans, interrupts)
                    if options.address is None:
                        remember(loop.measured, self.kind_of_run(plans))
                return
            except RayFailedError as error:
                # Slurm may have ended Ray's processes, too.
                if interrupts.stopping:
                    self.summary.stopped = interrupts.stopping
                    return
                # Diorama never restarts a cluster it did not start. A start was tried twice.
                if not isinstance(error, RayLostError) or options.address is not None or restart == _RAY_RESTARTS:
                    self.summary.stopped = "ray"
                    raise
                lost_cards |= loop.lost_cards
                log.warning("%s; starting Ray again, %d of %d times", error, restart + 1, _RAY_RESTARTS)

    def _missing_tasks(self, store: LanceStore) -> Iterator[Task | Failure]:
        """Yield what the store lacks now, except episodes that have failed.

        Another run may have stored or deleted episodes since `plan`, so each is decided again.
        """
        failed = {failure.episode_id for failure in self.summary.failed}
        for decision in self.decisions(store):
            name = decision.episode.id
            if name in failed or decision.kind in ("skip", "keep"):
                continue
            self._kinds[name] = _STARTED
            if decision.kind == "conflict":
                yield conflict_failure(name, store.url, "; ".join(decision.differences[:_SHOWN]))
            else:
                yield Task(decision.episode, decision.job, decision.settings, decision.attempt)
