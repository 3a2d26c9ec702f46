"""What a run has done, for the closing lines and for `--json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from render.run.worker import Failure

_SHOWN_FAILURES = 50
_WHY = {
    "died": "died",
    "hung": "hung",
    "memory": "had grown",
    "node": "were on a node that was lost",
    "unreachable": "could not be reached",
}


@dataclass
class Summary:
    """rendered, images: episodes and pictures committed. skipped: there already. failed: named, with reasons.

    replaced: of the rendered, those that took the place of a stored one. would_replace: the same of a dry run.
    seconds: wall clock. steps: step -> seconds added up over workers, and of commits. devices: what really rendered.
    left: not done because the run was stopped; stopped: by what, interrupt or failures.
    retried: episodes given to a further worker. replaced_workers, replaced_why: how many, by died, hung, memory, node.
    memory_peaks: bytes, a worker. workers_per_gpu: as measured, None if it was not.
    """

    rendered: int = 0
    images: int = 0
    skipped: int = 0
    kept: int = 0
    replaced: int = 0
    would_replace: int = 0
    left: int = 0
    failed: list[Failure] = field(default_factory=list)
    replaced_workers: int = 0
    replaced_why: dict[str, int] = field(default_factory=dict)
    retried: int = 0
    stopped: str = ""
    memory_peaks: list[int] = field(default_factory=list)
    workers_per_gpu: int | None = None
    seconds: float = 0.0
    steps: dict[str, float] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    device_images: dict[str, int] = field(default_factory=dict)
    store: str = ""

    @property
    def exit_code(self) -> int:
        """0 all done, 1 some failed (or are left, and not for Ctrl-C), 130 stopped by Ctrl-C before the end."""
        if self.left and self.stopped == "interrupt":
            return 130
        return 1 if self.failed or self.left else 0

    def count_device(self, device: str) -> None:
        """An episode says what it was rendered on."""
        self.device_images[device] = self.device_images.get(device, 0) + 1

    def add(
        self, seconds: float, committing: float, replaced: Mapping[str, int], peaks: list[int], devices: list[str]
    ) -> None:
        """Take in a part of the run at its end: where Ray was started again, a run has several.

        seconds: of the part; committing: of these in commits. replaced: workers by why. peaks: of workers, bytes.
        devices: what workers said they have, for a part that rendered nothing.
        """
        self.seconds += seconds
        if self.rendered:
            self.steps["commit"] = self.steps.get("commit", 0.0) + committing
        for why, count in replaced.items():
            self.replaced_why[why] = self.replaced_why.get(why, 0) + count
        self.replaced_workers = sum(self.replaced_why.values())
        self.memory_peaks += peaks
        self.devices = list(self.device_images) or devices

    def as_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "rendered": self.rendered,
            "images": self.images,
            "skipped": self.skipped,
            "kept": self.kept,
            "replaced": self.replaced,
            "would_replace": self.would_replace,
            "left": self.left,
            "failed": [{"episode": f.episode_id, "kind": f.kind, "message": f.message} for f in self.failed],
            "replaced_workers": self.replaced_workers,
            "replaced_why": self.replaced_why,
            "retried": self.retried,
            "stopped": self.stopped,
            "workers_per_gpu": self.workers_per_gpu,
            "memory_peaks": self.memory_peaks,
            "seconds": round(self.seconds, 3),
            "images_per_second": round(self.images / self.seconds, 3) if self.seconds > 0 else None,
            "steps": {step: round(value, 3) for step, value in self.steps.items()},
            "devices": self.devices,
            "store": self.store,
            "exit_code": self.exit_code,
        }

    def lines(self) -> list[str]:
        """The closing lines for people."""
        rate = f", {self.images / self.seconds:.2f} images/s" if self.images and self.seconds else ""
        text = [f"rendered {self.rendered} episodes ({self.images} images) in {self.seconds:.1f} s{rate}"]
        text += [f"  on {device}{self._episodes_on(device)}" for device in self.devices]
        if self.skipped:
            text.append(f"skipped {self.skipped} already in the store")
        if self.kept:
            text.append(f"kept {self.kept} stored episodes that differ from what was asked (--keep)")
        if self.replaced:
            text.append(f"replaced {self.replaced} stored episodes (--replace)")
        if self.would_replace:
            text.append(f"would replace {self.would_replace} stored episodes (--replace)")
        text += self._worker_lines() + self._step_lines()
        if self.left:
            why = f" after {len(self.failed)} failures" if self.stopped == "failures" else ""
            text.append(f"stopped{why} with {self.left} episodes left; run the same command again to go on")
        text += [f"failed: {failure.message.splitlines()[0]}" for failure in self.failed[:_SHOWN_FAILURES]]
        more = len(self.failed) - _SHOWN_FAILURES
        if more > 0:
            text.append(f"and {more} more failed; --json lists all")
        return text

    def _episodes_on(self, device: str) -> str:
        count = self.device_images.get(device)
        return f" ({count} episodes)" if count and len(self.devices) > 1 else ""

    def _worker_lines(self) -> list[str]:
        lines = []
        if self.workers_per_gpu is not None:
            lines.append(
                f"{self.workers_per_gpu} workers a card, as measured (--workers-per-gpu {self.workers_per_gpu})"
            )
        if self.replaced_workers:
            why = ", ".join(f"{count} {_WHY[kind]}" for kind, count in self.replaced_why.items())
            tried = f"; {self.retried} episodes were tried again" if self.retried else ""
            lines.append(f"replaced {self.replaced_workers} workers: {why}{tried}")
        if self.memory_peaks:
            peaks = sorted((peak >> 20 for peak in self.memory_peaks), reverse=True)
            shown = ", ".join(map(str, peaks[:8])) + (", ..." if len(peaks) > 8 else "")
            lines.append(f"most memory a worker (MiB): {shown}")
        return lines

    def _step_lines(self) -> list[str]:
        """The table of time by step, a line each."""
        if not self.steps or not self.images:
            return []
        whole = sum(self.steps.values()) or 1.0
        lines = [f"  {'step':10}{'seconds':>10}{'ms an image':>14}{'share':>8}"]
        for step, seconds in self.steps.items():
            each, share = 1000 * seconds / self.images, seconds / whole
            lines.append(f"  {step:10}{seconds:10.1f}{each:14.1f}{share:8.0%}")
        return lines
