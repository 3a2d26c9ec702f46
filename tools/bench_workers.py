"""One worker against many, each pinned to a core of its own with one thread: does throughput grow with the workers?

    python tools/bench_workers.py                                   # 1 against 2, 32 CLEVR episodes in `standard`
    python tools/bench_workers.py --workers 1 2 4 8 --episodes 128  # a larger machine

Rendered by `render-batch` itself, with Blender, into stores that are thrown away. `seconds` is from the first task to
the last commit: a worker's start is counted, the start of Ray is not. The runs alternate (1, 2, 1, 2, ...), so that a
machine that gets slower or faster meanwhile doesn't favor one of them; the ratio is that of the medians.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

log = logging.getLogger("bench")


def command(name: str) -> str:
    """Where this environment's `name` is."""
    return str(Path(sys.executable).parent / name)


def render(specs: Path, store: Path, workers: int, profile: str) -> dict[str, Any]:
    """The summary of one run of render-batch.

    Raises:
        subprocess.CalledProcessError: It failed.
    """
    asked = ["--workers", str(workers), "--threads", "1", "--device", "cpu", "--profile", profile, "--json"]
    done = subprocess.run(
        [command("render-batch"), str(specs), "--out", str(store), *asked],
        check=True,
        capture_output=True,
        text=True,
        timeout=6 * 3600,
    )
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 0 if every run rendered everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--episodes", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--profile", default="standard")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    seconds: dict[int, list[float]] = {workers: [] for workers in asked.workers}
    with tempfile.TemporaryDirectory() as folder:
        specs = Path(folder, "specs.jsonl")
        generate = ["clevr", "--count", str(asked.episodes), "--seed", str(asked.seed), "--out", str(specs)]
        subprocess.run([command("render-specs"), *generate], check=True, timeout=600)
        for turn in range(asked.rounds):
            for workers in asked.workers:
                summary = render(specs, Path(folder, f"{turn}-{workers}.lance"), workers, asked.profile)
                if summary["rendered"] != asked.episodes:
                    log.error("%d of %d episodes with %d workers", summary["rendered"], asked.episodes, workers)
                    return 1
                seconds[workers].append(summary["seconds"])
                log.info("%d workers: %.1f s, steps %s", workers, summary["seconds"], summary["steps"])
    one = statistics.median(seconds[asked.workers[0]])
    print("| workers | seconds | images/s | throughput, ratio |\n|---|---|---|---|")
    for workers, times in seconds.items():
        median = statistics.median(times)
        print(f"| {workers} | {median:.1f} | {asked.episodes / median:.3f} | {one / median:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
