"""What an image costs besides sampling and denoising, step by step, on one warm worker.

    python -m tools.bench_overhead [--images 40]

Renders compiled CLEVR frames of three objects at 320 x 240 with 1 and with 5 samples without a denoiser on one
thread: what
does not grow with samples is overhead of the render step (scene build, synchronisation, BVH, passes to disk). All other
steps are timed as they are. Prints a Markdown table of medians in milliseconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from render.cycles.session import CyclesRenderer
from render.profiles import settings_for
from render.record import EpisodeRecord
from render.run.episode import make_record
from render.run.jobs import job_of
from render.scene import Settings
from render.store import open_or_create
from scene_specs.spec import EpisodeSpec


def episode(number: int) -> EpisodeSpec:
    """Three objects of the MEWL vocabulary."""
    frame = {"random_objects": {"count": 3, "materials": ["rubber", "metal", "glass"]}}
    return EpisodeSpec.model_validate({"version": 1, "id": f"overhead/{number:04d}", "frames": [frame]})


def records(renderer: CyclesRenderer, settings: Settings, count: int) -> list[EpisodeRecord]:
    """Episodes made warm: the first two are thrown away."""
    made = []
    for number in range(count + 2):
        spec = episode(number)
        made.append(make_record(renderer, spec, job_of(spec, settings, "cycles"), settings))
    return made[2:]


def median_ms(made: list[EpisodeRecord], step: str) -> float:
    """Median milliseconds of a step."""
    return 1000 * statistics.median(record.provenance.seconds[step] for record in made)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=40)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    renderer = CyclesRenderer("cpu", threads=1)
    plain = settings_for("standard", 320, 240).model_copy(update={"denoise": False})
    one = records(renderer, plain.model_copy(update={"samples": 1}), options.images)
    five = records(renderer, plain.model_copy(update={"samples": 5}), options.images)
    sample = (median_ms(five, "render") - median_ms(one, "render")) / 4
    with tempfile.TemporaryDirectory() as folder:
        store = open_or_create(str(Path(folder) / "bench.lance"))
        start = time.perf_counter()
        for k in range(0, len(one), 16):
            store.put(one[k : k + 16])
        commit = 1000 * (time.perf_counter() - start) / len(one)
    rows = {step: median_ms(one, step) for step in one[0].provenance.seconds if step != "render"}
    rows["render, without its samples"] = median_ms(one, "render") - sample
    rows["commit (16 episodes at once)"] = commit
    lines = ["| step | ms an image |", "|---|---|", *(f"| {step} | {value:.1f} |" for step, value in rows.items())]
    lines += [
        f"| **all but sampling and denoising** | **{sum(rows.values()):.1f}** |",
        "",
        f"(one sample: {sample:.1f} ms)",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
