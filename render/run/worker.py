"""The worker: a process with one warm renderer, as a Ray actor. What it says to the run is here too."""

from __future__ import annotations

import importlib
import logging
import os
import pickle
import re
import shutil
import socket
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy

from render.episode.make_record import Episode, make_record
from render.model.errors import DeviceError, DioramaError
from render.model.passes import Renderer
from render.model.record import RenderKey
from render.model.scene import Settings
from render.run import limits as memory
from render.run.worker_plan import WorkerPlan

log = logging.getLogger(__name__)

# Where render.renderers.cycles keeps Cycles' own text while it renders: what a process said last outlives it there.
LAST_WORDS = "DIORAMA_RENDER_LOG"
_CUDA_CACHE_BYTES = 4 * 2**30
_STALE_SECONDS = 86400.0
_LONGEST_SAID = 1_000_000
_CRASH = re.compile(r"^.*(?:\*\*\* SIG|Fatal Python error|\*\*\* Aborted).*$", re.MULTILINE)


@dataclass(frozen=True)
class Failure:
    """An episode that could not be made. kind: class of the error, or WorkerLost."""

    episode_id: str
    kind: str
    message: str


@dataclass(frozen=True)
class Done:
    """An episode that was made. row: as the store takes it (render.store.rows.encode). seconds: step -> seconds.

    attempt: more than 1 where it takes the place of one that is stored.
    """

    episode_id: str
    row: bytes
    images: int
    seconds: dict[str, float] = field(default_factory=dict)
    device: str = ""
    attempt: int = 1


@dataclass(frozen=True)
class Answer:
    """What a worker says of an episode, and what it has in memory now, in bytes."""

    result: Done | Failure
    memory: int = 0


@dataclass(frozen=True)
class Ready:
    """What a worker says of itself when it is up. said: file on its node that its renderer's text goes to."""

    device: str
    host: str
    pid: int
    cores: tuple[int, ...]
    memory: int
    limit: int | None
    said: str


def pack(episode: Episode, job: RenderKey, settings: Settings, attempt: int) -> bytes:
    """What a worker is sent: pickled here, because Ray's own way costs twice as much."""
    return pickle.dumps((episode, job, settings, attempt), protocol=5)


def make_renderer(name: str, plan: WorkerPlan, find: Callable[[str], Path]) -> Renderer:
    """The renderer called cycles or fake, or `package.module:Class` (called without arguments)."""
    if name == "cycles":
        from render.renderers.cycles.cycles_renderer import CyclesRenderer

        return CyclesRenderer(plan.device, plan.threads, find)
    if name == "fake":
        from render.renderers.fake import FakeRenderer

        return FakeRenderer(device="none" if plan.card is None else f"{plan.device.upper()} fake card {_visible()}")
    module, _, attribute = name.partition(":")
    made: Renderer = getattr(importlib.import_module(module), attribute)()
    return made


def _visible() -> str:
    return os.environ.get("CUDA_VISIBLE_DEVICES", "")


def check_device(plan: WorkerPlan, device: str) -> None:
    """Raise DeviceError if `device`, what a picture says it was rendered on, is not what the plan asks for."""
    if plan.card is None:
        return
    kind = device.split(" ")[0].upper()
    if kind in ("", "CPU", "NONE") or (plan.device in ("cuda", "optix") and kind != plan.device.upper()):
        wanted = "a GPU" if plan.device == "gpu" else plan.device.upper()
        raise DeviceError(
            f"asked for {wanted}, but the first picture of a worker on {socket.gethostname()} "
            f"(CUDA_VISIBLE_DEVICES={_visible()!r}) was rendered on: {device or 'nothing named'}. The run was stopped "
            "and that picture thrown away. Look with `render-doctor --device cuda` on that machine; use --device cpu "
            "to render on CPUs"
        )


class Worker:
    """Renders one episode a call. Python's own class, so that tests can use it without Ray."""

    def __init__(
        self,
        renderer: str,
        plan: WorkerPlan,
        asset_roots: tuple[Path, ...],
        limit: int | None,
        library: tuple[str, str, str] | None = None,
    ) -> None:
        self._name, self._plan, self._asset_roots = renderer, plan, asset_roots
        self._library = library
        self._limit = limit or memory.share_of_machine(plan.sharers)
        self._renderer: Renderer | None = None
        self._device_checked = False

    def start(self) -> Ready | Failure:
        """Make the renderer; in a method and not in __init__, so that its errors come back as what they are."""
        try:
            return self._start()
        except DioramaError as error:
            return Failure("", type(error).__name__, str(error))
        except Exception as error:
            return Failure("", type(error).__name__, f"{error}\n{traceback.format_exc()}")

    def _start(self) -> Ready:
        # Two one-thread Blenders sometimes share one core while the other idles: each worker has its own.
        cores: tuple[int, ...] = ()
        if hasattr(os, "sched_setaffinity"):
            cores = self._plan.pinned(sorted(os.sched_getaffinity(0)))
            os.sched_setaffinity(0, cores)
        keep_kernels()
        sweep_scratch()
        handle, said = tempfile.mkstemp(prefix="diorama-said-", suffix=".txt")
        os.close(handle)
        os.environ[LAST_WORDS] = said
        if self._limit:
            memory.guard(self._limit, Path(said))
        from render.compiler.assets import resolve_blend
        from render.geometry.shapenet import choose_library
        from render.renderers.caching import CachingRenderer

        choose_library(self._library)
        find = partial(resolve_blend, asset_roots=self._asset_roots)
        self._renderer = CachingRenderer(make_renderer(self._name, self._plan, find))
        device = self._renderer.info.get("device", "")
        return Ready(device, socket.gethostname(), os.getpid(), cores, memory.resident(), self._limit, said)

    def render(self, task: bytes) -> Answer:
        """The row of an episode (`pack` made `task`), or why there is none."""
        episode, job, settings, attempt = pickle.loads(task)
        try:
            result: Done | Failure = self._make(episode, job, settings, attempt)
        except DioramaError as error:
            result = Failure(episode.id, type(error).__name__, str(error))
        except Exception as error:
            said = f"episode {episode.id}: {type(error).__name__}: {error}\n{traceback.format_exc()}"
            result = Failure(episode.id, type(error).__name__, said)
        return Answer(result, memory.resident())

    def _make(self, episode: Episode, job: RenderKey, settings: Settings, attempt: int) -> Done:
        from render.store.rows import encode

        assert self._renderer is not None, "start comes first"
        record = make_record(self._renderer, episode, job, settings, self._asset_roots, attempt)
        if not self._device_checked:
            check_device(self._plan, record.provenance.device)
            self._device_checked = True
        start = time.perf_counter()
        row = encode(record)
        seconds = {**record.provenance.seconds, "pack": time.perf_counter() - start}
        return Done(record.episode_id, row, len(record.images), seconds, record.provenance.device, attempt)

    def close(self) -> None:
        """Give back what the renderer holds."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
        said = os.environ.pop(LAST_WORDS, None)
        if said is not None:
            Path(said).unlink(missing_ok=True)


def keep_kernels() -> None:
    """Make the driver keep the kernels it compiles, in its usual folder, with room for all of Cycles'."""
    os.environ.setdefault("CUDA_CACHE_PATH", str(Path("~/.nv/ComputeCache").expanduser()))
    os.environ.setdefault("CUDA_CACHE_MAXSIZE", str(_CUDA_CACHE_BYTES))


def sweep_scratch(root: Path = Path("/dev/shm")) -> None:
    """Remove scratch folders on the RAM disk that killed workers left a day ago or earlier; a live one touches its
    own.
    """
    if not root.is_dir():
        return
    for folder in root.glob("diorama-*"):
        try:
            facts = folder.stat()
            if folder.is_dir() and facts.st_uid == os.getuid() and time.time() - facts.st_mtime > _STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue


def start_actor(worker: type[Worker], plan: WorkerPlan, arguments: tuple[Any, ...], group: Any = None) -> Any:
    """A Ray actor of Worker on the plan's node and card. It is replaced by the run, never restarted by Ray.

    group: placement group whose bundle number `plan.card` is the card; it decides the node.
    """
    strategy: Any = "DEFAULT"
    if group is not None:
        strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=plan.card or 0)
    elif plan.node:
        strategy = NodeAffinitySchedulingStrategy(plan.node, soft=False)
    # num_cpus=0: the plan counts cores, and Ray would refuse more workers than it counts.
    options = {"num_cpus": 0, "num_gpus": plan.gpu_share, "max_restarts": 0, "max_task_retries": 0}
    return ray.remote(worker).options(scheduling_strategy=strategy, **options).remote(*arguments)


def stderr_tail(said: str) -> str:
    """The end of what a renderer printed, from the file on this node; it is removed. "" if there is none."""
    path = Path(said)
    try:
        text = path.read_text("utf-8", "replace")[-_LONGEST_SAID:]
        path.unlink(missing_ok=True)
    except OSError:
        return ""
    # What Python and Ray print of a crash is long, and about themselves; only the signal's name is of use.
    crash = _CRASH.search(text)
    lines = [line.strip() for line in (text[: crash.start()] if crash else text).splitlines() if line.strip()]
    words = " | ".join(lines[-3:])[-500:]
    signal = re.search(r"SIG[A-Z]+", crash.group(0)) if crash else None
    return " | ".join(part for part in (words, signal.group(0) if signal else "") if part)
