"""One picture measured: what it costs by step, and its truth.

Cycles doesn't say how long it denoised. Two renders with one sample a pixel, with and without the denoiser, do: their
difference is the denoiser's time, which doesn't depend on samples, and that of the whole render and the denoised one is
the time of all samples but one.
"""

from __future__ import annotations

import hashlib
import statistics
import time
from dataclasses import dataclass

from render.compiler.render_key import render_key_of
from render.episode.make_record import make_record
from render.geometry.glass import samples_of
from render.model.record import EpisodeRecord, FrameAnnotation
from render.model.scene import Scene, Settings
from scene_specs.language.spec import EpisodeSpec
from tools.quality.candidates import Candidate
from tools.quality.tuned import TunedRenderer


@dataclass(frozen=True)
class Measured:
    """seconds: compile, build, sampling, denoising, render (the rest of Cycles' call), read, annotate, encode.

    cpu: seconds of processors for all of it, in all threads; other programs disturb it far less than `seconds`.
    png: the picture, 8-bit RGB. truth: SHA-256 of boxes and masks. annotation: SHA-256 of all annotations.
    """

    seconds: dict[str, float]
    cpu: float
    png: bytes
    truth: str
    annotation: str

    @property
    def total(self) -> float:
        """Seconds of everything."""
        return sum(self.seconds.values())


def truth_of(annotation: FrameAnnotation) -> str:
    """SHA-256 of every object's box, amodal box and mask."""
    parts = [f"{item.name} {item.bbox} {item.amodal_bbox} {item.rle.counts}" for item in annotation.objects]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def divided(whole: float, plain: float, denoised: float, samples: int, denoise: bool) -> dict[str, float]:
    """Seconds of one render as sampling, denoising and the rest.

    whole: all samples and, if `denoise`, the denoiser; plain, denoised: one sample, without and with it.
    Noise can't make a part negative, and the parts add up to the whole.
    """
    denoising = min(max(denoised - plain, 0.0), whole) if denoise else 0.0
    sampled = max(whole - denoising - plain, 0.0)
    sampling = sampled * samples / (samples - 1) if samples > 1 else 0.0
    sampling = min(sampling, whole - denoising)
    return {"sampling": sampling, "denoising": denoising, "render": whole - denoising - sampling}


def measure(
    renderer: TunedRenderer,
    spec: EpisodeSpec,
    candidate: Candidate,
    size: tuple[int, int],
    repeat: int = 1,
    split: bool = True,
) -> Measured:
    """One picture by one candidate. repeat: renders, of which medians are taken. split: tell sampling and denoising
    apart, which takes six short renders more; else all of Cycles' call is "render".

    Raises RenderError, UsageError, CompileError, AssetError.
    """
    settings = candidate.at(*size)
    hook = candidate.hook_function()
    renderer.tune(candidate.cycles, candidate.render, candidate.view_layer, candidate.image_settings, hook)
    job = render_key_of(spec, settings, "cycles")
    made, cpu = [], []
    for _ in range(repeat):
        start = time.process_time()
        made.append(make_record(renderer, spec, job, settings))
        cpu.append(time.process_time() - start)
    whole = {step: statistics.median(each.provenance.seconds[step] for each in made) for step in _steps(made[0])}
    scene = made[0].scene
    seconds = dict(whole)
    if split:
        plain = _one_sample(renderer, scene, settings, denoise=False, repeat=repeat)
        denoised = _one_sample(renderer, scene, settings, denoise=True, repeat=repeat) if settings.denoise else plain
        frame = scene.frames[0]
        samples = samples_of(settings, frame, frame.views[0])
        seconds |= divided(whole["render"], plain, denoised, samples, settings.denoise)
    image = made[0].images[0]
    full = hashlib.sha256(image.annotation.model_dump_json().encode()).hexdigest()
    rounded = {step: round(value, 5) for step, value in seconds.items()}
    return Measured(rounded, round(statistics.median(cpu), 5), image.png, truth_of(image.annotation), full)


def _steps(record: EpisodeRecord) -> list[str]:
    return list(record.provenance.seconds)


def _one_sample(renderer: TunedRenderer, scene: Scene, settings: Settings, denoise: bool, repeat: int) -> float:
    """Median seconds of Cycles' call with one sample a pixel; of three at least, since they are short."""
    changed = settings.model_copy(update={"samples": 1, "glass_samples": 0, "denoise": denoise})
    one = scene.model_copy(update={"settings": changed})
    frame = one.frames[0]
    return statistics.median(
        renderer.render(one, frame, frame.views[0]).seconds["render"] for _ in range(max(repeat, 3))
    )
