"""The result of a run, for the closing lines and for `--json`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from diorama.render.run.worker import Failure
from diorama.scene_specs.errors import DeviceError, RayFailedError, counted

_SHOWN_FAILURES = 50
_CODES = {"device": DeviceError.exit_code, "ray": RayFailedError.exit_code}
_WHY = {
    "died": "died",
    "hung": "hung",
    "memory": "exceeded the memory limit",
    "gpu": "failed on the GPU",
    "gpu_memory": "ran out of GPU memory",
    "implausible": "rendered an image that is not of its Scene",
    "node": "lost with the node",
    "unreachable": "could not be reached",
}


@dataclass
class GpuUse:
    """What one GPU did in a run.

    Attributes:
        gpu: its index, or what CUDA_VISIBLE_DEVICES calls it.
        uuid: "" if unknown.
        host: name of its machine.
        device: its kind and model.
        since: when its first worker started, seconds of the monotonic clock.
        images: number of rendered images.
        failures: number of renders that failed, hung, or were lost on it.
        rate: images per second since then, as of the last report.
    """

    gpu: str
    uuid: str
    host: str
    device: str
    since: float
    images: int = 0
    failures: int = 0
    rate: float = 0.0

    def update(self, now: float) -> None:
        """Compute the rate."""
        self.rate = self.images / (now - self.since) if now > self.since else 0.0

    def text(self) -> str:
        """Return the numbers as text."""
        failures = f", {counted(self.failures, 'failure')}" if self.failures else ""
        return f"{counted(self.images, 'image')}, {self.rate:.2f} images/s{failures}"


@dataclass
class Summary:
    """The result of a run.

    Attributes:
        todo: number of episodes that were to be rendered.
        rendered: number of committed episodes.
        images: number of committed images.
        skipped: number of episodes that were up to date in the store.
        kept: number of episodes left because of --keep.
        replaced: number of `rendered` that replaced a stored episode.
        would_replace: the same in a dry run.
        left: number of episodes not done because the run stopped.
        failed: failed episodes with their reasons.
        replaced_why: number of replaced workers by died, hung, memory, gpu, gpu_memory, implausible, node,
            unreachable.
        rechecked: number of episodes that two devices or workers rendered, with the same result: of --recheck, and
            those that looked unusual on a GPU.
        retried: number of episodes given to another worker.
        stopped: the cause, `interrupt`, `time`, `failures`, `device` (no GPU was left) or `ray` (Ray did not start, or
            was lost); "" if the run came to its end.
        workers_per_gpu: as measured, or as limited when GPU memory ran out, else None.
        gpu_memory_short: whether GPU memory ran out.
        gpus: name -> what it did.
        lost_gpus: name -> why it left the run.
        memory_peaks: bytes per worker.
        seconds: wall clock.
        steps: step -> seconds added up over workers, and of commits.
        devices: device -> number of episodes that it rendered.
        store: its path or URL.
        estimate: of a dry run, see diorama.render.run.run_batch; {} if there is none.
    """

    todo: int = 0
    rendered: int = 0
    images: int = 0
    skipped: int = 0
    kept: int = 0
    replaced: int = 0
    would_replace: int = 0
    left: int = 0
    failed: list[Failure] = field(default_factory=list)
    replaced_why: Counter[str] = field(default_factory=Counter)
    rechecked: int = 0
    retried: int = 0
    stopped: str = ""
    workers_per_gpu: int | None = None
    gpu_memory_short: bool = False
    gpus: dict[str, GpuUse] = field(default_factory=dict)
    lost_gpus: dict[str, str] = field(default_factory=dict)
    memory_peaks: list[int] = field(default_factory=list)
    seconds: float = 0.0
    steps: dict[str, float] = field(default_factory=dict)
    devices: Counter[str] = field(default_factory=Counter)
    store: str = ""
    estimate: dict[str, float | bool] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 if all are done, 1 if some failed or are left, 3 if no GPU was left, 130 if Ctrl-C stopped the run.

        5 if Ray did not start or was lost. 75 if the end of its time stopped it: the same command continues.
        """
        if self.stopped in _CODES:
            return _CODES[self.stopped]
        if self.left and self.stopped == "interrupt":
            return 130
        if self.left and self.stopped == "time":
            return os.EX_TEMPFAIL
        return 1 if self.failed or self.left else 0

    @property
    def replaced_workers(self) -> int:
        """Number of workers that were replaced, for any reason."""
        return self.replaced_why.total()

    def add_seconds(self, steps: Mapping[str, float]) -> None:
        """Add the seconds of each step."""
        for step, seconds in steps.items():
            self.steps[step] = self.steps.get(step, 0.0) + seconds

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for `--json`."""
        data = vars(self) | {
            "devices": list(self.devices),
            "failed": [{"episode": f.episode_id, "kind": f.kind, "message": f.message} for f in self.failed],
            "gpus": {name: {k: v for k, v in vars(use).items() if k != "since"} for name, use in self.gpus.items()},
            "replaced_workers": self.replaced_workers,
            "seconds": round(self.seconds, 3),
            "images_per_second": round(self.images / self.seconds, 3) if self.seconds > 0 else None,
            "steps": {step: round(value, 3) for step, value in self.steps.items()},
            "exit_code": self.exit_code,
        }
        if not self.estimate:
            del data["estimate"]
        return data

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the closing lines as text."""
        rate = f", {self.images / self.seconds:.2f} images/s" if self.images and self.seconds else ""
        episodes, images = counted(self.rendered, "episode"), counted(self.images, "image")
        text = [f"rendered {episodes} ({images}) in {self.seconds:.1f} s{rate}"]
        for device, count in self.devices.items():
            episodes = f" ({counted(count, 'episode')})" if count and len(self.devices) > 1 else ""
            text.append(f"  on {device}{episodes}")
        if self.skipped:
            text.append(f"skipped {self.skipped} already in the store")
        if self.kept:
            text.append(f"kept {counted(self.kept, 'stored episode')} that differ from the request (--keep)")
        if self.replaced:
            text.append(f"replaced {counted(self.replaced, 'stored episode')} (--replace)")
        if self.would_replace:
            text.append(f"would replace {counted(self.would_replace, 'stored episode')} (--replace)")
        if self.rechecked:
            text.append(f"rechecked {counted(self.rechecked, 'episode')}: another device or worker rendered the same")
        text += self._worker_lines() + self._step_lines()
        if self.left:
            reasons = {"time": " in time", "failures": f" after {counted(len(self.failed), 'failure')}"}
            why = reasons.get(self.stopped, "")
            left = counted(self.left, "episode")
            text.append(f"stopped{why} with {left} left; run the same command again to continue")
        text += [f"failed: {failure.message.splitlines()[0]}" for failure in self.failed[:_SHOWN_FAILURES]]
        more = len(self.failed) - _SHOWN_FAILURES
        if more > 0:
            text.append(f"and {more} more failed; --json lists all")
        return text

    def _worker_lines(self) -> list[str]:
        lines = []
        if self.workers_per_gpu is not None:
            workers = counted(self.workers_per_gpu, "worker")
            why = "limited because GPU memory ran out" if self.gpu_memory_short else "as measured"
            lines.append(f"{workers} per GPU, {why} (--workers-per-gpu {self.workers_per_gpu})")
        if len(self.gpus) > 1:
            lines += [f"{name}: {use.text()}" for name, use in self.gpus.items()]
        lines += [f"{name} left the run: {reason}" for name, reason in self.lost_gpus.items()]
        if self.replaced_workers:
            why = ", ".join(f"{count} {_WHY[kind]}" for kind, count in self.replaced_why.items())
            tried = f"; retried {counted(self.retried, 'episode')}" if self.retried else ""
            lines.append(f"replaced {counted(self.replaced_workers, 'worker')}: {why}{tried}")
        if self.memory_peaks:
            peaks = sorted((peak >> 20 for peak in self.memory_peaks), reverse=True)
            shown = ", ".join(map(str, peaks[:8])) + (", ..." if len(peaks) > 8 else "")
            lines.append(f"peak memory per worker (MiB): {shown}")
        return lines

    def _step_lines(self) -> list[str]:
        """Return a table of the time per step."""
        if not self.steps or not self.images:
            return []
        total = sum(self.steps.values()) or 1.0
        lines = [f"  {'step':10}{'seconds':>10}{'ms per image':>14}{'share':>8}"]
        for step, seconds in self.steps.items():
            each, share = 1000 * seconds / self.images, seconds / total
            lines.append(f"  {step:10}{seconds:10.1f}{each:14.1f}{share:8.0%}")
        return lines
