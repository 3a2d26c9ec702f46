"""Measure one image: what it costs by step, and its truth.

Cycles doesn't report how long it denoises. Two renders with one sample per pixel, with and without the denoiser, tell:
their difference is the denoiser's time, which doesn't depend on samples. The difference between the complete render and
the denoised one is the time of all samples except one. Those of rectangles count by their share of the image.
"""

from __future__ import annotations

import hashlib
import statistics
import time

import numpy as np
from numpy.typing import NDArray

from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.geometry.sampling_plan import has_rectangles, rectangles, whole_frame
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.cycles.exr_passes import Exr
from diorama.scene_specs.model.record import FrameAnnotation
from diorama.scene_specs.model.scene import Scene, SceneFrame, Settings
from diorama.scene_specs.model.spec import EpisodeSpec
from tools.claims.quality.results import Measured


class LinearRenderer(CyclesRenderer):
    """A CyclesRenderer that keeps the last image before the display curve.

    linear: (H, W, 3) float32, linear color of the last rendered image.
    """

    def __init__(self, device: str = "cpu", threads: int = 0) -> None:
        super().__init__(device, threads)
        self.linear: NDArray[np.float32] = np.zeros((0, 0, 3), np.float32)

    def _final_color(self, exr: Exr, scene: Scene, frame: SceneFrame) -> NDArray[np.uint8]:  # type: ignore[override]
        self.linear = exr.stack("Combined", "RGB")
        return CyclesRenderer._final_color(exr, scene, frame)


def truth_of(annotation: FrameAnnotation) -> str:
    """Return the SHA-256 of every object's box, amodal box and mask."""
    parts = [f"{item.name} {item.bbox} {item.amodal_bbox} {item.rle.counts}" for item in annotation.objects]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def divide_seconds(total: float, plain: float, denoised: float, samples: float, denoise: bool) -> dict[str, float]:
    """Divide the seconds of one render into sampling, denoising and the rest.

    total: all samples and, if `denoise`, the denoiser. plain, denoised: one sample, without and with the denoiser.
    Noise can't make a part negative, and the parts add up to the total.
    """
    denoising = min(max(denoised - plain, 0.0), total) if denoise else 0.0
    sampled = max(total - denoising - plain, 0.0)
    sampling = sampled * samples / (samples - 1) if samples > 1 else 0.0
    sampling = min(sampling, total - denoising)
    return {"sampling": sampling, "denoising": denoising, "render": total - denoising - sampling}


def measure(renderer: CyclesRenderer, spec: EpisodeSpec, settings: Settings, split: bool = True) -> Measured:
    """Measure one image.

    split: separate sampling and denoising, which takes six more short renders; otherwise the complete Cycles call is
    "render". The steps are compile, build, sampling, denoising, render (the rest of the Cycles call), read, annotate,
    encode.

    Raises RenderError, CompileError, AssetError.
    """
    job = render_key_of(spec, settings, "cycles")
    start = time.process_time()
    record = make_record(renderer, spec, job, settings)
    cpu = time.process_time() - start
    seconds, scene = dict(record.provenance.seconds), record.scene
    if split:
        plain, ids = _one_sample(renderer, scene, settings, denoise=False)
        denoised = _one_sample(renderer, scene, settings, denoise=True)[0] if settings.denoise else plain
        samples = mean_samples(scene, settings, ids)
        seconds |= divide_seconds(seconds["render"], plain, denoised, samples, settings.denoise)
    image = record.images[0]
    rounded = {step: round(value, 5) for step, value in seconds.items()}
    return Measured(rounded, round(cpu, 5), image.png, truth_of(image.annotation))


def mean_samples(scene: Scene, settings: Settings, ids: NDArray[np.uint16]) -> float:
    """Return the samples per pixel of a scene's first view, in the mean of its pixels. ids: (H, W)."""
    frame = scene.frames[0]
    whole = whole_frame(settings, frame, frame.views[0])
    others = rectangles(settings, whole, ids) if has_rectangles(settings, frame) else []
    return whole.samples + sum(part.samples * ids[part.box.slices].size for part in others if part.box) / ids.size


def _one_sample(
    renderer: CyclesRenderer, scene: Scene, settings: Settings, denoise: bool
) -> tuple[float, NDArray[np.uint16]]:
    """Return the median seconds of three Cycles calls with one sample per pixel, and the (H, W) ids."""
    changed = settings.with_samples(1).model_copy(update={"denoise": denoise})
    one = scene.model_copy(update={"settings": changed})
    frame = one.frames[0]
    # They are short.
    found = [renderer.render(one, frame, frame.views[0]) for _ in range(3)]
    return statistics.median(passes.seconds["render"] for passes in found), found[0].ids
