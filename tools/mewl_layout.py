"""Compile MEWL's frames without rendering, and report failures.

    python -m tools mewl-layout                      # all 264,600 frames of the published splits
    python -m tools mewl-layout --count 400 --split test

Runs on all processors and reports failures and restarts per task. Episodes are generated from (seed, split, task,
number). Exit code 1 if a frame has no layout.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context

from diorama.render.compiler.compile import compile_with_report
from diorama.render.model.errors import CompileError
from diorama.render.model.profiles import settings_for
from diorama.scene_specs.benchmarks.mewl.generate import COUNTS, TASKS, mewl_spec
from diorama.scene_specs.benchmarks.mewl.words import SPLITS
from diorama.scene_specs.language.spec import EpisodeSpec
from tools.option_types import positive

# Episodes per chunk of work: about a second.
_CHUNK = 20
_Chunk = tuple[int, str, str, int, int]


def lay_out(chunk: _Chunk) -> tuple[str, Counter[str], list[str]]:
    """Compile the episodes first ... last - 1 of a task; return the task, sums, and a line for each failure."""
    seed, split, task, first, last = chunk
    sums: Counter[str] = Counter()
    failures = []
    start = time.process_time()
    for number in range(first, last):
        spec = EpisodeSpec.model_validate(mewl_spec(seed, split, task, number))
        sums["episodes"] += 1
        try:
            _, reports = compile_with_report(spec, settings_for("standard", 320, 240))
        except CompileError as error:
            failures.append(str(error))
            continue
        for report in reports:
            sums["frames"] += 1
            sums["restarts"] += report.restarts
    sums["microseconds"] = int(1e6 * (time.process_time() - start))
    return task, sums, failures


def _chunks(seed: int, splits: list[str], tasks: list[str], count: int | None) -> Iterator[_Chunk]:
    for split in splits:
        total = COUNTS[split] if count is None else count
        for first in range(0, total, _CHUNK):
            yield from ((seed, split, task, first, min(first + _CHUNK, total)) for task in tasks)


def _report(task: str, sums: Counter[str], failures: list[str]) -> None:
    frames = max(sums["frames"], 1)
    print(
        f"{task:10} {sums['frames']:7} frames  {len(failures):3} failures  {sums['restarts'] / frames:6.3f} restarts "
        f"per frame  {sums['microseconds'] / 1000 / frames:5.2f} ms per frame"
    )
    for line in failures[:20]:
        print(f"  failed: {line}")


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--task", choices=TASKS, action="append")
    parser.add_argument("--split", choices=SPLITS, action="append")
    parser.add_argument("--count", type=positive, help="episodes per task and split [default: as published]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=positive, help="[default: one per processor]")


def main(options: Namespace) -> int:
    """Compile all episodes; 1 if a frame has no layout."""
    sums: dict[str, Counter[str]] = {task: Counter() for task in options.task or TASKS}
    failures: dict[str, list[str]] = {task: [] for task in sums}
    chunks = _chunks(options.seed, options.split or list(SPLITS), list(sums), options.count)
    with get_context("spawn").Pool(options.processes) as pool:
        for task, more, failed in pool.imap_unordered(lay_out, chunks):
            sums[task] += more
            failures[task] += failed
    for task, total in sums.items():
        _report(task, total, failures[task])
    failed_frames = sum(map(len, failures.values()))
    seconds = sum(total["microseconds"] for total in sums.values()) / 1e6
    print(f"{failed_frames} episodes failed; {seconds / 60:.1f} CPU minutes")
    return 1 if failed_frames else 0
