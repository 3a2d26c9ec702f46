"""The worker: a process with one warm renderer, as a Ray actor."""

from __future__ import annotations

import importlib
import logging
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import ray

from render.errors import DioramaError
from render.passes import Renderer
from render.record import EpisodeRecord, Job
from render.run.episode import Episode, make_record
from render.run.options import WorkerPlan
from render.scene import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failure:
    """An episode that could not be made, though its worker lives. kind: class of the error."""

    episode_id: str
    kind: str
    message: str


def make_renderer(name: str, plan: WorkerPlan, find: Callable[[str], Path]) -> Renderer:
    """The renderer called cycles or fake, or `package.module:Class` (called without arguments)."""
    if name == "cycles":
        from render.cycles.session import CyclesRenderer

        return CyclesRenderer(plan.device, plan.threads, find)
    if name == "fake":
        from render.run.fake import FakeRenderer

        return FakeRenderer()
    module, _, attribute = name.partition(":")
    made: Renderer = getattr(importlib.import_module(module), attribute)()
    return made


class Worker:
    """Renders one episode a call. Python's own class, so that tests can use it without Ray."""

    def __init__(self, renderer: str, plan: WorkerPlan, asset_roots: tuple[Path, ...]) -> None:
        # Two one-thread Blenders sometimes share one core while the other idles: each worker has its own.
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, plan.cores)
        from render.compiler.assets import resolve_blend

        self._asset_roots = asset_roots
        self._renderer = make_renderer(renderer, plan, partial(resolve_blend, asset_roots=asset_roots))

    def info(self) -> dict[str, str]:
        """What renders here."""
        return {**self._renderer.info, "pid": str(os.getpid())}

    def render(self, episode: Episode, job: Job, settings: Settings, attempt: int) -> EpisodeRecord | Failure:
        """The record of an episode, or why there is none."""
        try:
            return make_record(self._renderer, episode, job, settings, self._asset_roots, attempt)
        except DioramaError as error:
            return Failure(episode.id, type(error).__name__, str(error))
        except Exception as error:
            return Failure(episode.id, type(error).__name__, f"episode {episode.id}: {error}\n{traceback.format_exc()}")


def start_actor(renderer: str, plan: WorkerPlan, asset_roots: tuple[Path, ...]) -> Any:
    """A Ray actor of Worker with the plan's GPU share. It is replaced by the run, never restarted by Ray."""
    actor = ray.remote(Worker).options(num_cpus=0, num_gpus=plan.gpu_share, max_restarts=0, max_task_retries=0)
    return actor.remote(renderer, plan, asset_roots)
