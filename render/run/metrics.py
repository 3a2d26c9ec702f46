"""The file of `--metrics`, in the text format that Prometheus' node exporter reads (textfile collector)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from diorama.render.run.status import Status
from diorama.render.run.summary import Summary
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.atomic import write_atomic

# Name -> type and help. All have the label `store`, those of GPUs `gpu`, `uuid`, `host` and `device`, too.
_METRICS = {
    "episodes": ("gauge", "Episodes of the run by state: total, done (committed), failed."),
    "images_total": ("counter", "Committed images."),
    "images_per_second": ("gauge", "Committed images per second since the run began."),
    "seconds_left": ("gauge", "Estimated seconds that are left; absent if unknown."),
    "workers": ("gauge", "Workers that are up."),
    "late_workers": ("gauge", "Workers that take long for their episode or to start."),
    "active": ("gauge", "1 while the run is active, 0 once it has ended."),
    "written_seconds": ("gauge", "Unix time of this file."),
    "gpu_images_total": ("counter", "Rendered images."),
    "gpu_images_per_second": ("gauge", "Rendered images per second since the first worker of the GPU started."),
    "gpu_failures_total": ("counter", "Renders that failed, hung, or were lost on the GPU."),
    "gpu_lost": ("gauge", "1 if the GPU left the run."),
}


def metrics_text(status: Status, summary: Summary) -> str:
    """Return the metrics of a run."""
    samples: dict[str, list[str]] = {name: [] for name in _METRICS}
    for name, labels, value in _metric_samples(status, summary):
        told = ",".join(f'{key}="{_escape_label(text)}"' for key, text in {"store": status.store, **labels}.items())
        samples[name].append(f"diorama_{name}{{{told}}} {value}\n")
    return "".join(
        f"# HELP diorama_{name} {text}\n# TYPE diorama_{name} {kind}\n" + "".join(samples[name])
        for name, (kind, text) in _METRICS.items()
        if samples[name]
    )


def _metric_samples(status: Status, summary: Summary) -> Iterator[tuple[str, dict[str, str], float]]:
    for state, count in (("total", status.total), ("done", status.done), ("failed", status.failed)):
        yield "episodes", {"state": state}, count
    yield "images_total", {}, status.images
    yield "images_per_second", {}, round(status.rate, 4)
    if status.left is not None:
        yield "seconds_left", {}, round(status.left, 1)
    yield "workers", {}, status.workers
    yield "late_workers", {}, len(status.late)
    yield "active", {}, int(status.state != "ended")
    yield "written_seconds", {}, round(status.written, 3)
    for name, card in summary.gpus.items():
        labels = {"gpu": card.gpu, "uuid": card.uuid, "host": card.host, "device": card.device}
        yield "gpu_images_total", labels, card.images
        yield "gpu_images_per_second", labels, round(card.rate, 4)
        yield "gpu_failures_total", labels, card.failures
        yield "gpu_lost", labels, int(name in summary.lost_gpus)


def _escape_label(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def write_metrics(path: Path, status: Status, summary: Summary) -> None:
    """Replace the file, which readers see complete or not at all. Raises UsageError."""
    try:
        write_atomic(path, metrics_text(status, summary), fsync=False)
    except OSError as error:
        raise UsageError(f"--metrics {path}: can't be written: {error.strerror}") from error
