"""Which workers a run starts, on which nodes, GPUs and cores. Pure: nothing here inspects a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diorama.render.run.options import RunOptions
from diorama.scene_specs.errors import DeviceError, UsageError, counted

# Beyond this number of workers per GPU, the CPU work or the GPU's memory is the bottleneck.
MOST_PER_GPU = 8


@dataclass(frozen=True)
class Node:
    """A machine.

    Attributes:
        id: Ray's id, "" for the only node.
        cores: number of cores that may be used.
        gpus: number of GPUs that may be used.
        fits: how many CPU workers its memory suffices for, None if unknown.
    """

    id: str
    cores: int
    gpus: int
    fits: int | None = None


@dataclass(frozen=True)
class WorkerPlan:
    """What one worker runs on.

    Attributes:
        device: as CyclesRenderer takes it.
        threads: of its renderer.
        index: its number among the workers, or the number of its GPU among the GPUs, that share the node's cores.
        count: number of these workers or GPUs.
        node: Ray's id, "" for the only node.
        card: index of its GPU on the node, None for a CPU.
        gpu_share: share of that GPU.
    """

    device: str
    threads: int
    index: int
    count: int
    node: str = ""
    card: int | None = None
    gpu_share: float = 0.0

    @property
    def workers_on_node(self) -> int:
        """Maximum number of workers on this node, including this one."""
        return self.count * (round(1 / self.gpu_share) if self.gpu_share else 1)

    def pinned(self, available: Sequence[int]) -> tuple[int, ...]:
        """Return the cores that the worker is pinned to, out of those available on its node."""
        if self.card is not None:
            return tuple(available[self.index :: self.count]) or (available[self.index % len(available)],)
        first = self.index * self.threads
        return tuple(dict.fromkeys(available[(first + k) % len(available)] for k in range(self.threads)))


def plan_workers(options: RunOptions, nodes: Sequence[Node], episodes: int) -> list[WorkerPlan]:
    """Plan the workers of a run: one per GPU if `workers_per_gpu` is None; the tuner adds more.

    Args:
        options: of the run.
        nodes: that may be used.
        episodes: number of episodes to render.

    Raises:
        DeviceError: requested GPUs are missing.
        UsageError: options exclude each other.
    """
    wanted = cards_wanted(options, sum(node.gpus for node in nodes))
    if not wanted:
        return _cpu_workers(options, nodes, episodes)
    device = "gpu" if options.device == "auto" else options.device
    plans = []
    for node in nodes:
        cards = min(node.gpus, wanted)
        wanted -= cards
        threads = max(1, node.cores // max(1, cards) // (options.workers_per_gpu or 1))
        # The tuner gives every worker a core. Counting workers that it can't add would leave each too little memory.
        share = 1.0 / (options.workers_per_gpu or min(MOST_PER_GPU, threads))
        plans += [WorkerPlan(device, threads, card, cards, node.id, card, share) for card in range(cards)]
    # One on every GPU before a second on any, so that few episodes use all GPUs.
    return (plans * (options.workers_per_gpu or 1))[: max(1, episodes)]


def cards_wanted(options: RunOptions, available: int, where: str = "") -> int:
    """Return how many of the available GPUs to use; 0 means the CPU.

    `auto` means every available GPU, or the CPU if there is none or --workers is specified.

    Args:
        options: of the run.
        available: number of GPUs.
        where: what was inspected, for the message.

    Raises:
        DeviceError: requested GPUs are missing.
        UsageError: options exclude each other.
    """
    if options.gpus and options.device == "cpu":
        raise UsageError(f"--gpus {options.gpus} and --device cpu exclude each other; leave one out")
    place = f"the Ray cluster at {options.address}" if options.address else "this machine"
    seen = where or f"{_gpus(available)} on {place}"
    if options.gpus:
        wanted, why = options.gpus, f"--gpus {options.gpus}"
    elif options.device != "auto":
        wanted, why = 0 if options.device == "cpu" else max(1, available), f"--device {options.device}"
    elif options.workers is not None:
        wanted, why = 0, f"--workers {options.workers} selects the CPU"
    else:
        wanted, why = available, f"--device auto: {seen}"
    _check_unused(options, wanted > 0, why)
    if wanted > available and options.gpus:
        todo = f"Use --gpus {available}" if available else "Check with nvidia-smi, or use --device cpu"
        raise DeviceError(
            f"--gpus {wanted}: {_gpus(available)} found ({where or place}). {todo}, or --device auto without --gpus "
            "to use what is available."
        )
    if wanted > available:
        raise DeviceError(f"--device {options.device}: {seen}; check with render-doctor, or use --device cpu")
    return wanted


def _check_unused(options: RunOptions, cards: bool, why: str) -> None:
    """Raise UsageError for an option for the other kind of device, which would be ignored silently."""
    if not cards and options.workers_per_gpu is not None:
        raise UsageError(
            f"--workers-per-gpu {options.workers_per_gpu} is for GPUs, and this run is on the CPU ({why}); leave it "
            "out, or select GPUs with --gpus or --device"
        )
    for name, value in (("workers", options.workers), ("threads", options.threads)):
        if cards and value is not None:
            raise UsageError(
                f"--{name} {value} is for CPU workers, and this run is on GPUs ({why}); leave it out "
                "(--workers-per-gpu sets how many workers share a GPU), or pass --device cpu"
            )


def _gpus(count: int) -> str:
    return counted(count, "GPU") if count else "no GPU"


def _fitting_workers(node: Node, workers: int) -> int:
    return max(1, workers if node.fits is None else min(workers, node.fits))


def _cpu_workers(options: RunOptions, nodes: Sequence[Node], episodes: int) -> list[WorkerPlan]:
    """Plan one-thread workers, which use the cores best; fewer episodes than cores get more threads each."""
    if options.workers is not None:
        count = options.workers
    elif options.threads is not None:
        count = sum(_fitting_workers(node, node.cores // options.threads) for node in nodes)
    else:
        count = sum(_fitting_workers(node, node.cores) for node in nodes)
    count = max(1, min(count, episodes))
    counts = dict.fromkeys(nodes, 0)
    for _ in range(count):
        roomiest = max(nodes, key=lambda node: node.cores / (counts[node] + 1))
        counts[roomiest] += 1
    plans = []
    for node, workers in counts.items():
        threads = options.threads or max(1, node.cores // max(1, workers))
        plans += [WorkerPlan("cpu", threads, index, workers, node.id) for index in range(workers)]
    return plans
