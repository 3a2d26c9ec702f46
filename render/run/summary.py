"""What a run has done, for the closing lines and for `--json`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from render.run.worker import Failure


@dataclass
class Summary:
    """rendered, images: episodes and pictures committed. skipped: there already. failed: named, with reasons.

    seconds: wall clock. steps: step -> seconds added up over workers. devices: what really rendered. left: not
        done because the run was stopped.
    """

    rendered: int = 0
    images: int = 0
    skipped: int = 0
    kept: int = 0
    replaced: int = 0
    left: int = 0
    failed: list[Failure] = field(default_factory=list)
    replaced_workers: int = 0
    seconds: float = 0.0
    steps: dict[str, float] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    store: str = ""

    @property
    def exit_code(self) -> int:
        """0 all done, 1 some failed, 130 stopped before the end."""
        if self.left:
            return 130
        return 1 if self.failed else 0

    def as_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "rendered": self.rendered,
            "images": self.images,
            "skipped": self.skipped,
            "kept": self.kept,
            "replaced": self.replaced,
            "left": self.left,
            "failed": [{"episode": f.episode_id, "kind": f.kind, "message": f.message} for f in self.failed],
            "replaced_workers": self.replaced_workers,
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
        if self.devices:
            text.append("on " + "; ".join(self.devices))
        if self.skipped:
            text.append(f"skipped {self.skipped} already in the store")
        if self.kept:
            text.append(f"kept {self.kept} stored episodes that differ from what was asked (--keep)")
        if self.replaced:
            text.append(f"replaced {self.replaced} stored episodes (--replace)")
        if self.replaced_workers:
            text.append(f"replaced {self.replaced_workers} workers that died or hung")
        if self.steps and self.images:
            each = ", ".join(f"{step} {1000 * value / self.images:.0f}" for step, value in self.steps.items())
            text.append(f"worker milliseconds an image: {each}")
        if self.left:
            text.append(f"stopped with {self.left} episodes left; run the same command again to go on")
        text += [f"failed: {failure.message.splitlines()[0]}" for failure in self.failed]
        return text
