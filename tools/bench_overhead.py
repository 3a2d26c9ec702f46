"""What an image costs besides sampling and denoising, step by step, on one warm worker.

    python -m tools.bench_overhead [--images 40]

Renders compiled CLEVR frames of three objects at 320 x 240 on one thread, with 1 and with 5 samples without a denoiser:
what does not grow with samples is overhead of the render step (scene build, synchronisation, BVH, passes to disk). All
other steps are timed as the profile has them, with its denoiser and 1 sample. Prints a Markdown table
of medians in milliseconds. Exit codes: 0 done; 1 a render failed; 2 wrong options.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from render.compiler.render_key import render_key_of
from render.episode.make_record import make_record
from render.model.profiles import settings_for
from render.model.record import EpisodeRecord
from render.model.scene import Settings
from render.renderers.cycles.cycles_renderer import CyclesRenderer
from render.store import open_or_create
from scene_specs.language.spec import EpisodeSpec
from tools.quality.report import table
from tools.quality.shell import guarded, positive

SIZE = (320, 240)


def episode(number: int) -> EpisodeSpec:
    """Three objects of the MEWL vocabulary."""
    frame = {"random_objects": {"count": 3, "materials": ["rubber", "metal", "glass"]}}
    return EpisodeSpec.model_validate({"version": 1, "id": f"overhead/{number:04d}", "frames": [frame]})


def records(renderer: CyclesRenderer, settings: Settings, count: int) -> list[EpisodeRecord]:
    """Episodes made warm: the first two are thrown away."""
    made = []
    for number in range(count + 2):
        spec = episode(number)
        made.append(make_record(renderer, spec, render_key_of(spec, settings, "cycles"), settings))
    return made[2:]


def median_ms(made: list[EpisodeRecord], step: str) -> float:
    """Median milliseconds of a step."""
    return 1000 * statistics.median(record.provenance.seconds[step] for record in made)


def steps(renderer: CyclesRenderer, settings: Settings, images: int) -> tuple[dict[str, float], float]:
    """Step -> median milliseconds an image, without sampling and denoising; and those of one sample."""
    # The profile's further samples for glass would be taken for overhead, or for those of the other count.
    one = settings.model_copy(update={"samples": 1, "glass_samples": 0})
    plain, five = (one.model_copy(update={"samples": count, "denoise": False}) for count in (1, 5))
    whole = records(renderer, one, images)
    few, more = records(renderer, plain, images), records(renderer, five, images)
    sample = (median_ms(more, "render") - median_ms(few, "render")) / 4
    found = {step: median_ms(whole, step) for step in whole[0].provenance.seconds if step != "render"}
    found["render, without its samples"] = median_ms(few, "render") - sample
    with tempfile.TemporaryDirectory() as folder:
        store = open_or_create(str(Path(folder) / "bench.lance"))
        start = time.perf_counter()
        for k in range(0, len(whole), 16):
            store.put(whole[k : k + 16])
        found["commit (16 episodes at once)"] = 1000 * (time.perf_counter() - start) / len(whole)
    return found, sample


def work(images: int) -> int:
    """Measure and print the table."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    renderer = CyclesRenderer("cpu", threads=1)
    try:
        found, sample = steps(renderer, settings_for("standard", *SIZE), images)
    finally:
        renderer.close()
    lines = [[step, f"{value:.1f}"] for step, value in found.items()]
    lines.append(["**all but sampling and denoising**", f"**{sum(found.values()):.1f}**"])
    sys.stdout.write(table(["step", "ms an image"], lines) + f"\n(one sample: {sample:.1f} ms)\n")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=positive, default=40)
    options = parser.parse_args(arguments)
    return guarded(lambda: work(options.images))


if __name__ == "__main__":
    sys.exit(main())
