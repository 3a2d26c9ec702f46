"""What `render-batch` does, without the command line: check, decide, render, commit."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from render.compiler import compile_episode
from render.compiler.render_key import render_key_of
from render.episode.make_record import Episode
from render.model.errors import AssetError, CompileError, SpecError
from render.model.profiles import DEFAULT_PROFILE, changed, settings_for
from render.model.scene import Scene, Settings
from render.run.events import EventLog
from render.run.gpus import find_cards
from render.run.options import RunOptions
from render.run.progress import Progress
from render.run.status import Status, StatusFile
from render.run.summary import Summary
from render.run.worker import Failure
from render.run.worker_plan import cards_wanted, plan_workers
from render.store import open_or_create, peek
from render.store.episode_store import EpisodeStore
from render.store.resume import Decision, Planner
from scene_specs.language.stage import stage_of
from scene_specs.reading.source import SpecSource

if TYPE_CHECKING:
    from render.run.interrupt import Interrupts
    from render.run.task_feed import Task

log = logging.getLogger(__name__)

# A machine on which Ray dies more often in one run needs its owner.
_RAY_RESTARTS = 3
_SHOWN = 3
# An episode that is with the run: whatever is found of it in the store from then on may be the run's own doing.
_GIVEN = "given"


@dataclass(frozen=True)
class Request:
    """What is asked of a run. profile, size: None for the default, or for what a given Scene says.

    limit: at most so many episodes of the input. size: (width, height) pixels.
    """

    specs: Sequence[str]
    store: str
    profile: str | None = None
    size: tuple[int, int] | None = None
    limit: int | None = None


class Batch:
    """A request, checked step by step: `check`, then `plan`, then `render`."""

    def __init__(self, request: Request, options: RunOptions) -> None:
        self.request = request
        self.options = options
        self.source = SpecSource(request.specs)
        self.summary = Summary(store=request.store)
        self.count = 0
        self._todo = 0
        # What each episode counts as: the kind of its decision, or _GIVEN.
        self._counted: dict[str, str] = {}

    def check_devices(self) -> None:
        """See, before anything takes time, whether the GPUs asked for are there. Raises DeviceError, UsageError.

        Of a cluster only Ray knows, once connected.
        """
        if self.options.address is None and self.options.logical_gpus is None:
            cards = find_cards()
            cards_wanted(self.options, cards.count, cards.said)

    def check(self) -> None:
        """Read all specs once. Raises SpecError with every diagnostic of every file."""
        diagnostics, count = self.source.check()
        if diagnostics:
            raise SpecError(diagnostics)
        self.count = count if self.request.limit is None else min(count, self.request.limit)

    def settings_of(self, episode: Episode) -> Settings:
        """Settings an episode is rendered with: a Scene's own unless profile or size are asked for."""
        profile, size = self.request.profile, self.request.size
        if isinstance(episode, Scene):
            return changed(episode.settings, profile, size)
        width, height = size or stage_of(episode).size
        return settings_for(profile or DEFAULT_PROFILE, width, height)

    def episodes(self) -> Iterator[Episode]:
        """The episodes asked for; a Scene with the settings it is rendered with."""
        for item in islice(iter(self.source), self.request.limit):
            episode = item.episode
            if isinstance(episode, Scene):
                episode = episode.model_copy(update={"settings": self.settings_of(episode)})
            yield episode

    def decisions(self, store: EpisodeStore | None) -> Iterator[Decision]:
        """What becomes of each episode: render, skip, keep, replace, conflict."""
        planner = Planner(store, self.options.policy)
        for episode in self.episodes():
            settings = self.settings_of(episode)
            try:
                job = render_key_of(episode, settings, self.options.renderer, self.options.asset_roots)
            except AssetError as error:
                self._left_out(episode.id, error)
                continue
            yield planner.decide(episode, job, settings)

    def _left_out(self, episode: str, error: AssetError) -> None:
        """Count an episode whose model or other asset is broken as failed, once. Raises AssetError unless asked to."""
        if not self.options.skip_broken:
            raise AssetError(f"episode {episode}: {error}") from error
        if all(failure.episode_id != episode for failure in self.summary.failed):
            self.summary.failed.append(Failure(episode, type(error).__name__, f"episode {episode}: {error}"))
            self._count(episode, "render")

    def _count(self, episode: str, kind: str) -> None:
        """Count an episode as skipped, as kept or as to do, and no longer as what it was found to be before."""
        before = self._counted.get(episode)
        if before == _GIVEN:
            return
        self._counted[episode] = kind
        for counted, number in ((kind, 1), (before, -1)):
            if counted == "skip":
                self.summary.skipped += number
            elif counted == "keep":
                self.summary.kept += number
            elif counted is not None:
                self._todo += number

    def plan(self) -> Summary:
        """Compare with the store; raises ConflictError where an id is there but was made from something else."""
        store = peek(self.request.store)
        conflicts = []
        for decision in self.decisions(store):
            if decision.kind == "conflict":
                conflicts.append(decision)
            self._count(decision.episode.id, decision.kind)
        if conflicts:
            raise Planner.conflict(conflicts)
        return self.summary

    def dry_run(self) -> Summary:
        """Compile what would be rendered, and render nothing. Failed searches are in the summary."""
        store = peek(self.request.store)
        with Progress(self._todo, "compiling") as progress:
            for decision in self.decisions(store):
                if decision.kind not in ("render", "replace"):
                    continue
                try:
                    compile_episode(decision.episode, decision.settings, self.options.asset_roots)
                    self.summary.would_replace += decision.kind == "replace"
                except CompileError as error:
                    self.summary.failed.append(Failure(decision.episode.id, type(error).__name__, str(error)))
                progress.advance(1)
        self.summary.left = 0
        return self.summary

    @property
    def todo(self) -> int:
        """Episodes to render, once planned."""
        return self._todo

    def render(self) -> Summary:
        """Render and commit what `plan` found missing. Raises DeviceError, StoreError."""
        if not self._todo:
            return self.summary
        from render.run.interrupt import Interrupts

        options = self.options
        status = StatusFile(Status(self.request.store, total=self._todo))
        with (
            closing(open_or_create(self.request.store)) as store,
            EventLog(options.json_log) as events,
            Interrupts() as interrupts,
            Progress(self._todo, status=status) as progress,
        ):
            try:
                self._render_with_ray(store, events, interrupts, progress)
            finally:
                self.summary.left = self._todo - self.summary.rendered - len(self.summary.failed)
                status.status.total = self._todo
                events.write("end", **self.summary.as_dict())
                progress.end(self.summary)
        return self.summary

    def _render_with_ray(
        self, store: EpisodeStore, events: EventLog, interrupts: Interrupts, progress: Progress
    ) -> None:
        """Render what is missing; where this machine's own Ray dies on the way, with a new one."""
        from render.run.local_ray import ray_nodes
        from render.run.loop import RenderLoop
        from render.run.node_monitor import RayLostError

        options = self.options
        for restart in range(_RAY_RESTARTS + 1):
            try:
                with ray_nodes(options.address, options.logical_gpus) as nodes:
                    run = RenderLoop(self._tasks(store), store, options, progress, events)
                    run.summary = self.summary
                    run.go(plan_workers(options, nodes, self._todo), interrupts)
                return
            except RayLostError as error:
                # A cluster is its owner's to start again.
                if options.address is not None or restart == _RAY_RESTARTS:
                    raise
                log.warning("%s; starting Ray again, %d of %d times", error, restart + 1, _RAY_RESTARTS)

    def _tasks(self, store: EpisodeStore) -> Iterator[Task | Failure]:
        """What the store lacks now, without what has failed already.

        Another run may have stored, or deleted, something since `plan`: it counts as what it is now.
        """
        from render.run.collisions import conflict
        from render.run.task_feed import Task

        failed = {failure.episode_id for failure in self.summary.failed}
        for decision in self.decisions(store):
            name = decision.episode.id
            if name in failed:
                continue
            self._count(name, decision.kind)
            if decision.kind in ("skip", "keep"):
                continue
            self._counted[name] = _GIVEN
            if decision.kind == "conflict":
                yield conflict(name, store.url, "; ".join(decision.differences[:_SHOWN]))
            else:
                yield Task(decision.episode, decision.job, decision.settings, decision.attempt)
