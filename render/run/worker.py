"""The worker, a process with one warm renderer as a Ray actor, and what it and the run send each other."""

from __future__ import annotations

import logging
import os
import pickle
import re
import socket
import tempfile
import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import ActorUnavailableError, GetTimeoutError, OutOfMemoryError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy

from diorama.render.episode.caching import CachingRenderer
from diorama.render.episode.canary import check_canary
from diorama.render.episode.make_record import make_record
from diorama.render.episode.plausibility import check_on_cpu
from diorama.render.geometry.sampling_plan import may_show_glass
from diorama.render.renderers import make_renderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.run.estimate import Work
from diorama.render.run.machine import memory_here, resident, share_of_memory, start_memory_guard
from diorama.render.run.options import RunOptions
from diorama.render.run.worker_plan import WorkerPlan
from diorama.render.store.rows import decode, encode, record_of
from diorama.scene_specs.errors import DeviceError, DioramaError, first_line
from diorama.scene_specs.language.registry import plugin_error
from diorama.scene_specs.model.passes import Renderer
from diorama.scene_specs.model.profiles import Episode
from diorama.scene_specs.model.record import RenderKey
from diorama.scene_specs.model.scene import Settings
from diorama.scene_specs.shapes.shapenet import set_library_environment

log = logging.getLogger(__name__)

# Names the file to which diorama.render.renderers.cycles writes the output of Cycles, so that it survives a crash.
OUTPUT_FILE = "DIORAMA_RENDER_LOG"
_CUDA_CACHE_BYTES = 4 * 2**30
_LONGEST_OUTPUT = 1_000_000
# A GPU: Ray's id of its node ("" for the only one), and its number there.
Card = tuple[str, int]
_CRASH = re.compile(r"^.*(?:\*\*\* SIG|Fatal Python error|\*\*\* Aborted).*$", re.MULTILINE)


@dataclass
class Task:
    """One episode to render.

    Attributes:
        episode: its spec or Scene.
        key: its identity.
        settings: to render with; of a Scene its own.
        attempt: greater than 1 if it replaces a stored episode.
        tries: number of workers that received it, except those lost with their node.
        unreachable_count: how often its worker was lost with its node, or could not be reached.
        ref: Ray's, of its answer.
        started: when its worker began with it, seconds of the monotonic clock.
        failed_on: GPUs on which it failed.
        alone: it ran out of GPU memory, and is tried without other workers on the GPU.
        first: its first render, if this is the second one, which is only compared with it.
        first_on: number and GPU of the worker of the first render.
        by_cpu: the CPU is the second one, in a worker of the same GPU.
    """

    episode: Episode
    key: RenderKey
    settings: Settings
    attempt: int = 1
    tries: int = 0
    unreachable_count: int = 0
    ref: Any = None
    started: float = 0.0
    failed_on: set[Card] = field(default_factory=set)
    alone: bool = False
    first: Done | None = None
    first_on: tuple[int, Card | None] = (0, None)
    by_cpu: bool = False

    @cached_property
    def samples(self) -> int:
        """Maximum number of samples per pixel of any of its images."""
        settings = self.settings
        glass = settings.glass_samples > settings.samples and may_show_glass(self.episode)
        return settings.max_samples if glass else settings.max_samples_without_glass

    @cached_property
    def work(self) -> Work:
        """Number of images that it will have, and their estimated cost."""
        return Work.of(self.episode, self.settings)


@dataclass(frozen=True)
class Failure:
    """An episode that failed, or a worker that did not start.

    Attributes:
        episode_id: "" for the start of a worker.
        kind: class of the error, or WorkerLost.
        message: for the user.
    """

    episode_id: str
    kind: str
    message: str

    @classmethod
    def of(cls, error: Exception, episode_id: str = "") -> Failure:
        """Describe an error; one that is not Diorama's own with its traceback. Call it where it is caught."""
        error = plugin_error(error) or error
        message = str(error)
        if not isinstance(error, DioramaError):
            where = f"episode {episode_id}: " if episode_id else ""
            message = f"{where}{type(error).__name__}: {error}\n{traceback.format_exc()}"
        return cls(episode_id, type(error).__name__, message)


@dataclass(frozen=True)
class Done:
    """A rendered episode.

    Attributes:
        episode_id: of the episode.
        row: as the store takes it (diorama.render.store.rows.encode).
        images: number of its images.
        seconds: step -> seconds.
        device: that rendered it.
        attempt: greater than 1 if it replaces a stored episode.
        looks: what looks unusual in a GPU's images (Provenance.unusual); "" for more than objects.
    """

    episode_id: str
    row: bytes
    images: int
    seconds: dict[str, float] = field(default_factory=dict)
    device: str = ""
    attempt: int = 1
    looks: frozenset[str] = frozenset()


def failures_in(outcomes: Iterable[Done | Failure]) -> list[Failure]:
    """Return the failures among the outcomes of episodes."""
    return [outcome for outcome in outcomes if isinstance(outcome, Failure)]


@dataclass(frozen=True)
class Ready:
    """A worker's report when it is up.

    Attributes:
        device: of its renderer.
        host: name of its machine.
        pid: of its process.
        cores: that it is pinned to.
        memory: bytes that it takes.
        limit: bytes at which it is replaced, None if unlimited.
        output_file: file on its node for its renderer's output.
        visible: its CUDA_VISIBLE_DEVICES.
        kernels: what to know about the renderer's kernels before the first image, or "".
        uuid: of its NVIDIA GPU, or "".
    """

    device: str
    host: str
    pid: int
    cores: tuple[int, ...]
    memory: int
    limit: int | None
    output_file: str
    visible: str = ""
    kernels: str = ""
    uuid: str = ""


def pack(task: Task) -> bytes:
    """Pickle what a worker receives; doing it here costs half of what Ray's own pickling does."""
    doubted = task.by_cpu and task.first
    return pickle.dumps((task.episode, task.key, task.settings, task.attempt, doubted), protocol=5)


def _visible() -> str:
    return os.environ.get("CUDA_VISIBLE_DEVICES", "")


def check_device(plan: WorkerPlan, device: str) -> None:
    """Raise DeviceError if `device`, on which an image was rendered, is not the device of the plan."""
    if plan.card is None:
        return
    kind = device.split(" ")[0].upper()
    if kind in ("", "CPU", "NONE") or (plan.device != "gpu" and kind != plan.device.upper()):
        wanted = "a GPU" if plan.device == "gpu" else plan.device.upper()
        raise DeviceError(
            f"requested {wanted}, but the first image of a worker on {socket.gethostname()} "
            f"(CUDA_VISIBLE_DEVICES={_visible()!r}) was rendered on: {device or 'an unnamed device'}. The run stopped "
            "and discarded that image. Check with `render-doctor --device cuda` on that machine; use --device cpu to "
            "render on CPUs"
        )


class Worker:
    """A process that renders one episode per call. A plain class, so that tests can use it without Ray."""

    def __init__(self, options: RunOptions, plan: WorkerPlan) -> None:
        self._options, self._plan = options, plan
        self._limit, self._hard_limit = options.worker_memory, None
        if not self._limit and (memory := memory_here()):
            self._limit, self._hard_limit = share_of_memory(plan.workers_on_node, memory)
        self._renderer: Renderer | None = None
        self._device_checked = False

    def start(self) -> Ready | Failure:
        """Create the renderer. Not done in __init__, in which Ray would wrap the errors."""
        try:
            return self._start_renderer()
        except Exception as error:
            return Failure.of(error)

    def _start_renderer(self) -> Ready:
        options, plan = self._options, self._plan
        # Two one-thread Blenders may share one core while another is idle, so each worker gets its own cores.
        cores: tuple[int, ...] = ()
        if hasattr(os, "sched_setaffinity"):
            cores = plan.pinned(sorted(os.sched_getaffinity(0)))
            os.sched_setaffinity(0, cores)
        # Make the GPU driver cache the kernels it compiles, in its usual folder, with room for all kernels of Cycles.
        os.environ.setdefault("CUDA_CACHE_PATH", str(Path("~/.nv/ComputeCache").expanduser()))
        os.environ.setdefault("CUDA_CACHE_MAXSIZE", str(_CUDA_CACHE_BYTES))
        handle, output_file = tempfile.mkstemp(prefix="diorama-output-", suffix=".txt")
        os.close(handle)
        os.environ[OUTPUT_FILE] = output_file
        if self._limit:
            start_memory_guard(self._limit, Path(output_file), self._hard_limit)
        set_library_environment(options.library)
        if options.renderer == "fake" and plan.card is not None:
            renderer: Renderer = FakeRenderer(device=f"{plan.device.upper()} fake card {_visible()}")
        else:
            renderer = make_renderer(options.renderer, plan.device, plan.threads, options.asset_roots)
        self._renderer = CachingRenderer(renderer)
        info, host = self._renderer.info, socket.gethostname()
        facts = (host, os.getpid(), cores, resident(), self._limit, output_file, _visible())
        return Ready(info.get("device", ""), *facts, info.get("kernels", ""), info.get("uuid", ""))

    def render(self, task: bytes) -> tuple[Done | Failure, int]:
        """Render one episode, packed by `pack`; return the result, and the bytes in memory now."""
        episode, key, settings, attempt, doubted = pickle.loads(task)
        try:
            result: Done | Failure = doubted or self._render_episode(episode, key, settings, attempt)
            if doubted:
                (row,) = decode([doubted.row]).to_pylist()
                check_on_cpu(record_of(row), self._plan.threads, self._options.asset_roots)
        except Exception as error:
            result = Failure.of(error, episode.id)
        return result, resident()

    def _render_episode(self, episode: Episode, key: RenderKey, settings: Settings, attempt: int) -> Done:
        assert self._renderer is not None, "call start first"
        options = self._options
        # A start after a fault is a new process, too. On a CPU it would delay each run, and nothing fails silently.
        first = not self._device_checked and self._plan.card is not None
        if first and options.renderer == "cycles" and not options.keep_implausible:
            check_canary(self._renderer)
        record = make_record(
            self._renderer, episode, key, settings, options.asset_roots, attempt, options.keep_implausible
        )
        if not self._device_checked:
            check_device(self._plan, record.provenance.device)
            self._device_checked = True
        start = time.perf_counter()
        row = encode(record)
        seconds = {**record.provenance.seconds, "pack": time.perf_counter() - start}
        looks = frozenset(look for _, *looks in record.provenance.unusual.values() for look in looks)
        return Done(record.episode_id, row, len(record.images), seconds, record.provenance.device, attempt, looks)

    def close(self) -> None:
        """Release what the renderer holds."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
        output_file = os.environ.pop(OUTPUT_FILE, None)
        if output_file is not None:
            Path(output_file).unlink(missing_ok=True)


def start_actor(worker: type[Worker], run_options: RunOptions, plan: WorkerPlan, group: Any = None) -> Any:
    """Create a Ray actor of Worker on the plan's node and GPU. The run replaces it; Ray never restarts it.

    Args:
        worker: class of the actor.
        run_options: of the run.
        plan: of the worker.
        group: placement group whose bundle number `plan.card` is the GPU; it determines the node.
    """
    strategy: Any = "DEFAULT"
    if group is not None:
        strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=plan.card or 0)
    elif plan.node:
        strategy = NodeAffinitySchedulingStrategy(plan.node, soft=False)
    # num_cpus=0: the plan counts cores, and Ray would refuse more workers than it counts.
    options = {"num_cpus": 0, "num_gpus": plan.gpu_share, "max_restarts": 0, "max_task_retries": 0}
    return ray.remote(worker).options(scheduling_strategy=strategy, **options).remote(run_options, plan)


def running(pid: int) -> bool:
    """Return whether a process of this node runs."""
    return Path(f"/proc/{pid}").exists()


def pop_stderr(output_file: str) -> str:
    """Return the end of a renderer's output and delete the file, which is on this node; "" if it does not exist."""
    path = Path(output_file)
    try:
        text = path.read_text("utf-8", "replace")[-_LONGEST_OUTPUT:]
        path.unlink(missing_ok=True)
    except OSError:
        return ""
    # Python and Ray print long reports about a crash; only the name of the signal is useful.
    crash = _CRASH.search(text)
    lines = [line.strip() for line in (text[: crash.start()] if crash else text).splitlines() if line.strip()]
    end = " | ".join(lines[-3:])[-500:]
    signal = re.search(r"SIG[A-Z]+", crash.group(0)) if crash else None
    return " | ".join(part for part in (end, signal.group(0) if signal else "") if part)


def how_lost(error: RayError) -> tuple[str, str]:
    """Return why a worker was lost: the key in Summary.replaced_why, and the reason as text."""
    match error:
        case OutOfMemoryError():
            return "died", "its worker was killed because the machine ran out of memory"
        case ActorUnavailableError() | GetTimeoutError():
            return "unreachable", f"its worker could not be reached: {first_line(error)}"
    return "died", f"its worker died: {first_line(error)}"
