"""Options of a run, and the plan of workers that they and the machine give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from render.errors import DeviceError, UsageError

DeviceName = Literal["auto", "cpu", "cuda", "optix"]


@dataclass(frozen=True)
class RunOptions:
    """workers: CPU processes, None for as many as cores. gpus: cards wanted, None for what `device` says.

    threads: a CPU worker, None to share the cores out. retries: further tries of an episode whose worker died or hung.
    timeout: seconds an image may take at one sample a pixel, plus what samples and size ask. policy: of ids there
        already, made from something else.
    renderer: "cycles", "fake", or "package.module:Class" of a Renderer.
    commit_every: episodes a commit.
    """

    device: DeviceName = "auto"
    workers: int | None = None
    gpus: int | None = None
    threads: int | None = None
    retries: int = 2
    timeout: float | None = None
    policy: Literal["error", "replace", "keep"] = "error"
    renderer: str = "cycles"
    commit_every: int = 16
    asset_roots: tuple[Path, ...] = ()


@dataclass(frozen=True)
class WorkerPlan:
    """One worker: device as CyclesRenderer takes it, share of a GPU, CPU cores to pin to, threads."""

    device: str
    gpu_share: float
    cores: tuple[int, ...]

    @property
    def threads(self) -> int:
        """Threads of the renderer."""
        return len(self.cores)


def plan_workers(options: RunOptions, cores: Sequence[int], gpus_found: int, episodes: int) -> list[WorkerPlan]:
    """What workers to start for `episodes` episodes on these cores with so many GPUs.

    Raises DeviceError when the GPUs asked for are not there, UsageError for options that exclude each other.
    """
    if options.gpus and options.device == "cpu":
        raise UsageError(f"--gpus {options.gpus} and --device cpu exclude each other; leave one out")
    if options.gpus and options.gpus > gpus_found:
        raise DeviceError(
            f"--gpus {options.gpus}: this machine has {gpus_found or 'no'} GPU{'' if gpus_found == 1 else 's'} "
            "that Ray can see. "
            + (f"Use --gpus {gpus_found}, or " if gpus_found else "Check with nvidia-smi, or use --device cpu, or ")
            + "--device auto without --gpus to take what there is."
        )
    wanted = options.gpus
    if wanted is None and options.device in ("cuda", "optix"):
        wanted = gpus_found
        if not wanted:
            raise DeviceError(
                f"--device {options.device}: no GPU that Ray can see on this machine; check with nvidia-smi"
            )
    if wanted is None and options.device == "auto" and options.workers is None:
        wanted = gpus_found
    if wanted:
        device = "gpu" if options.device == "auto" else options.device
        shares = [tuple(cores[k::wanted]) or (cores[k % len(cores)],) for k in range(wanted)]
        return [WorkerPlan(device, 1.0, share) for share in shares[: max(1, episodes)]]
    return _cpu_workers(options, cores, episodes)


def _cpu_workers(options: RunOptions, cores: Sequence[int], episodes: int) -> list[WorkerPlan]:
    """One-thread workers fill the cores best; fewer episodes than cores share them out."""
    if options.workers is not None:
        count = options.workers
    elif options.threads is not None:
        count = max(1, len(cores) // options.threads)
    else:
        count = len(cores)
    count = max(1, min(count, episodes))
    threads = options.threads or max(1, len(cores) // count)
    pinned = [tuple(cores[(k * threads + t) % len(cores)] for t in range(threads)) for k in range(count)]
    return [WorkerPlan("cpu", 0.0, share) for share in pinned]


def timeout_of(options: RunOptions, samples: int, width: int, height: int, images: int) -> float:
    """Seconds an episode may take before its worker counts as hung: ten times a slow core's need, and a minute."""
    if options.timeout is not None:
        return options.timeout * images
    megasamples = samples * width * height / 1e6
    return 60.0 + images * (20.0 + 10.0 * megasamples)
