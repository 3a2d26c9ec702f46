"""Measure whether throughput grows with the workers.

    python -m tools bench-workers                                   # 1 against 2, 32 CLEVR episodes in `standard`
    python -m tools bench-workers --workers 1 2 4 8 --episodes 128  # a larger machine

`render-batch` renders with Blender into temporary stores, each worker pinned to one core with one thread. `seconds` is
the time from the first task to the last commit: it includes the start of a worker, but not the start of Ray. The runs
alternate (1, 2, 1, 2, ...), so that a change of the machine's speed affects all of them; the ratio is that of the
medians. Exit code 1 if a run leaves episodes out.
"""

from __future__ import annotations

import logging
import statistics
import subprocess
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path

from diorama.scene_specs.language.tables import markdown_table
from tools.option_types import positive
from tools.programs import command, run_json

log = logging.getLogger("bench_workers")


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--workers", type=positive, nargs="+", default=[1, 2])
    parser.add_argument("--episodes", type=positive, default=32)
    parser.add_argument("--rounds", type=positive, default=1)
    parser.add_argument("--profile", default="standard")
    parser.add_argument("--seed", type=int, default=0)


def main(options: Namespace) -> int:
    """Print the table; 0 if every run renders everything."""
    seconds: dict[int, list[float]] = {workers: [] for workers in options.workers}
    with tempfile.TemporaryDirectory() as folder:
        specs = Path(folder, "specs.jsonl")
        generate = command("render-specs", "clevr", "--count", options.episodes, "--seed", options.seed, "--out", specs)
        subprocess.run(generate, check=True, timeout=600)
        settings = ("--threads", 1, "--device", "cpu", "--profile", options.profile)
        for turn in range(options.rounds):
            for workers in options.workers:
                store = Path(folder, f"{turn}-{workers}.lance")
                summary = run_json("render-batch", specs, "--out", store, "--workers", workers, *settings)
                if summary["rendered"] != options.episodes:
                    log.error("%d of %d episodes with %d workers", summary["rendered"], options.episodes, workers)
                    return 1
                seconds[workers].append(summary["seconds"])
                log.info("%d workers: %.1f s, steps %s", workers, summary["seconds"], summary["steps"])
    medians = {workers: statistics.median(times) for workers, times in seconds.items()}
    first = medians[options.workers[0]]
    rows = [
        (workers, f"{median:.1f}", f"{options.episodes / median:.3f}", f"{first / median:.2f}")
        for workers, median in medians.items()
    ]
    print(markdown_table(["workers", "seconds", "images/s", "throughput, ratio"], rows), end="")
    return 0
