"""Capture the output of Cycles: it prints to file descriptors 1 and 2, and reports some failures only there.

Cycles words an error of CUDA as "Illegal address in CUDA queue synchronize (...)", "Launch exceeded timeout in
cuMemcpyHtoD_v2(...) (intern/cycles/device/cuda/device_impl.cpp:571)" or "Failed to load CUDA kernel ...", and a lack of
memory as "System is out of GPU memory" or "Out of memory in CUDA queue ..."; likewise for other kinds of GPUs.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from diorama.scene_specs.errors import GpuError, GpuMemoryError, RenderError

# Messages of Cycles and OpenImageDenoise about failures that raise no exception; a file may be called anything.
_SIGNS = ("out of memory", "failed to", "illegal address", "is not available")
_FAILURE = re.compile(
    rf"^(?!.*(?:Saved: '| \| Loading )).*(?:\berror\b|cuda_error|optix_error|{'|'.join(_SIGNS)}).*$",
    re.IGNORECASE | re.MULTILINE,
)
_MEMORY = re.compile(r"out[ _]of[ _](?:\w+[ _])*memory", re.IGNORECASE)
_HOST_MEMORY = re.compile(r"(?<!shared )\bhost memory", re.IGNORECASE)
# How the drivers of GPUs, and Cycles for them, name themselves and their functions; the names are also words.
_DRIVER = re.compile(
    r"\b(?:CUDA|OPTIX|OptiX|HIP)(?:\b|_)|\b(?:oneAPI|SYCL|Metal)\b|\b(?:cu|hip|optix)[A-Z]\w* ?\(|\bMTL[A-Z]"
)
# A file may be called anything.
_FILE = re.compile(r"[^\s()'\"]*(?:[/\\]|\.[A-Za-z])[^\s()'\"]*")
# Cycles reports an error once for each of its threads, without a space in between.
_REPEATED = re.compile(r"^(?:Error: )?(.+?)\1*$")
# Names a file for the output of the current render, which outlives a crash of the process.
KEPT_IN = "DIORAMA_RENDER_LOG"


class Captured:
    """The captured output.

    Attributes:
        text: available after the block has ended.
    """

    text: str = ""

    @property
    def failures(self) -> list[str]:
        """Lines that report a failure, without repeats."""
        text = self.text.lower()
        # Nearly all outputs lack them, and to find none, the pattern takes as long as building a small scene.
        if not any(sign in text for sign in ("error", *_SIGNS)):
            return []
        return list(dict.fromkeys(match.group(0).strip() for match in _FAILURE.finditer(self.text)))


@contextmanager
def captured() -> Iterator[Captured]:
    """Redirect descriptors 1 and 2 to a file during the block, and keep the text."""
    result = Captured()
    sys.stdout.flush()
    sys.stderr.flush()
    saved = {descriptor: os.dup(descriptor) for descriptor in (1, 2)}
    kept = os.environ.get(KEPT_IN)
    with Path(kept).open("w+b") if kept else tempfile.TemporaryFile() as file:
        try:
            for descriptor in saved:
                os.dup2(file.fileno(), descriptor)
            yield result
        finally:
            for descriptor, copy in saved.items():
                os.dup2(copy, descriptor)
                os.close(copy)
            file.seek(0)
            result.text = file.read().decode("utf-8", "replace")


@contextmanager
def naming(where: str, cleanup: Callable[[], object]) -> Iterator[None]:
    """After a RenderError, clean up and begin its message with what was rendered."""
    try:
        yield
    except RenderError as error:
        cleanup()
        error.args = (f"{where}{error}",)
        raise


def render_error(kind: str, reports: list[str]) -> RenderError:
    """Return the error of a failed render.

    Every error that names the GPU's driver counts as a GpuError, also one after which CUDA could go on: starting a new
    process costs seconds, while rendering on after an error that was misjudged costs every later episode.

    Args:
        kind: kind of the device.
        reports: by Cycles.
    """
    problems = "; ".join(list(dict.fromkeys(_REPEATED.sub(r"\1", line.strip()) for line in reports))[:5])
    if kind != "CPU" and any(_MEMORY.search(line) and not _HOST_MEMORY.search(line) for line in reports):
        return GpuMemoryError(
            f"the GPU ran out of memory ({problems}). Render smaller images (--size) or fewer objects, or start "
            "fewer workers per GPU (--workers-per-gpu); nvidia-smi shows what else uses its memory"
        )
    if kind != "CPU" and _DRIVER.search(_FILE.sub("", problems)):
        return GpuError(f"the GPU failed: {problems}")
    return RenderError(f"Cycles failed: {problems or 'it wrote no image'}")
