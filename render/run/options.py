"""Options of a run, and what follows from them alone."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from render.model.errors import UsageError

DeviceName = Literal["auto", "cpu", "cuda", "optix"]
Policy = Literal["error", "replace", "keep"]

# A card without ready kernels compiles them at its first picture: 10 minutes are reported, on a slow host more.
KERNEL_SECONDS = 1800.0
_SHOWN = 60
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class RunOptions:
    """workers: CPU processes, None for as many as cores. gpus: cards wanted, None for what `device` says.

    workers_per_gpu: processes that share a card; None measures and chooses. threads: a CPU worker's, None to share the
    cores out. What is given for a kind of device that does not render is an error, see render.run.worker_plan.
    worker_memory: bytes at which a worker is replaced, None for its share of the machine.
    address: of a Ray cluster, None for this machine. logical_gpus: make Ray believe in so many (tests).
    retries: further tries of an episode whose worker died or hung. max_failures: stop at so many, None never.
    timeout: seconds an image may take, None for what samples and size ask.
    store_wait: seconds to go on trying to commit to a store that fails. policy: of ids there already, made from
        something else.
    library: root, up and front of the models' library, None for our own small one; see render.geometry.shapenet.
    skip_broken: leave out episodes whose assets are missing or broken, instead of stopping before anything is rendered.
    renderer: "cycles", "fake", or "package.module:Class" of a Renderer.
    commit_every: episodes a commit, if they come that fast. json_log: file for one line an event.
    """

    device: DeviceName = "auto"
    workers: int | None = None
    gpus: int | None = None
    workers_per_gpu: int | None = None
    threads: int | None = None
    worker_memory: int | None = None
    address: str | None = None
    logical_gpus: int | None = None
    retries: int = 2
    max_failures: int | None = None
    timeout: float | None = None
    store_wait: float = 300.0
    policy: Policy = "error"
    renderer: str = "cycles"
    commit_every: int = 16
    asset_roots: tuple[Path, ...] = ()
    json_log: Path | None = None
    library: tuple[str, str, str] | None = None
    skip_broken: bool = False


def timeout_of(options: RunOptions, samples: int, width: int, height: int, images: int) -> float:
    """Seconds an episode may take before its worker counts as hung.

    About thirty times an idle core's need (two seconds a million samples), and two minutes: on a machine with six
    times its load in processes, tight limits were seen to end workers that were merely slow.
    """
    if options.timeout is not None:
        return options.timeout * images
    megasamples = samples * width * height / 1e6
    return 120.0 + images * (60.0 + 60.0 * megasamples)


def parse_bytes(text: str) -> int:
    """`800MB`, `4G`, `1.5GiB` or plain bytes as bytes, one at least; units are binary. Raises UsageError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    amount = float(match[1]) * _UNITS[match[2].upper()] if match else 0.0
    if not 1 <= amount < math.inf:
        raise UsageError(f"{text[:_SHOWN]!r} is no amount of memory that a worker has; write such as 800MB or 4GB")
    return int(amount)
