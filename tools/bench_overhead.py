"""Measure the cost of an image besides sampling and denoising.

    python -m tools bench-overhead [--images 40]

Measures step by step on one warm worker. Renders compiled CLEVR frames of three objects at 320 x 240 on one thread,
with 1 and with 5 samples and no denoiser: what does not grow with the samples is the overhead of the render step (scene
build, synchronization, BVH, passes to disk). All other steps are timed as the profile has them, with its denoiser and 1
sample. Prints a Markdown table of medians in milliseconds. Exit code 1 if a render fails.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path

from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.store import open_or_create
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.scene import Settings
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reports.tables import markdown_table
from tools.programs import positive

SIZE = (320, 240)


def episode(number: int) -> EpisodeSpec:
    """Return a spec of three objects of the MEWL vocabulary."""
    frame = {"random_objects": {"count": 3, "materials": ["rubber", "metal", "glass"]}}
    return EpisodeSpec.model_validate({"version": 1, "id": f"overhead/{number:04d}", "frames": [frame]})


def records(renderer: CyclesRenderer, settings: Settings, count: int) -> list[EpisodeRecord]:
    """Render `count` episodes on a warm renderer: the first two of `count + 2` are dropped."""
    specs = map(episode, range(count + 2))
    # One sample without the denoiser looks like noise, which the check for wrong images would refuse.
    keep = not settings.denoise
    keys = ((spec, render_key_of(spec, settings, "cycles")) for spec in specs)
    return [make_record(renderer, spec, key, settings, keep_implausible=keep) for spec, key in keys][2:]


def median_ms(rendered: list[EpisodeRecord], step: str) -> float:
    """Return the median milliseconds of a step."""
    return 1000 * statistics.median(record.provenance.seconds[step] for record in rendered)


def steps(renderer: CyclesRenderer, settings: Settings, images: int) -> tuple[dict[str, float], float]:
    """Return the median milliseconds per image of each step without sampling and denoising, and those of one sample."""
    # Additional samples for glass would count as overhead, or as samples of the other run.
    one = settings.with_samples(1)
    plain, five = (one.model_copy(update={"samples": count, "denoise": False}) for count in (1, 5))
    complete = records(renderer, one, images)
    few, more = records(renderer, plain, images), records(renderer, five, images)
    sample = (median_ms(more, "render") - median_ms(few, "render")) / 4
    found = {step: median_ms(complete, step) for step in complete[0].provenance.seconds if step != "render"}
    found["render, without its samples"] = median_ms(few, "render") - sample
    with tempfile.TemporaryDirectory() as folder:
        store = open_or_create(str(Path(folder) / "bench.lance"))
        start = time.perf_counter()
        for k in range(0, len(complete), 16):
            store.put(complete[k : k + 16])
        found["commit (16 episodes at once)"] = 1000 * (time.perf_counter() - start) / len(complete)
    return found, sample


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--images", type=positive, default=40)


def main(options: Namespace) -> None:
    """Measure and print the table."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    with closing(CyclesRenderer("cpu", threads=1)) as renderer:
        found, sample = steps(renderer, settings_for("standard", *SIZE), options.images)
    rows = [(step, f"{value:.1f}") for step, value in found.items()]
    rows.append(("**all except sampling and denoising**", f"**{sum(found.values()):.1f}**"))
    print(markdown_table(["step", "ms per image"], rows) + f"\n(one sample: {sample:.1f} ms)")
