"""Lays out MEWL's frames without rendering, on all processors, and reports failures and restarts a task.

    python tools/mewl_layout.py                      # all 264,600 frames of the published splits
    python tools/mewl_layout.py --count 400 --split test

Episodes are made here from (seed, split, task, number), so nothing is read. Exit code 1 if a frame has no layout.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context

from render.compiler.compile import compile_with_report
from render.model.errors import CompileError
from render.model.profiles import settings_for
from scene_specs.benchmarks.mewl.generate import COUNTS, TASKS, mewl_spec
from scene_specs.benchmarks.mewl.words import SPLITS
from scene_specs.language.spec import EpisodeSpec

# Episodes a piece of work: about a second.
_PIECE = 20
_Piece = tuple[int, str, str, int, int]
log = logging.getLogger("mewl_layout")


def lay_out(piece: _Piece) -> tuple[str, Counter[str], list[str]]:
    """Compile the episodes first ... last - 1 of a task. Gives the task, sums, and a line for each failure."""
    seed, split, task, first, last = piece
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
            sums["most"] = max(sums["most"], report.restarts)
            for rule, refused in report.refused.items():
                # Objects are called a, b, c: which one it was says nothing.
                sums[f"refused: {' '.join(w for w in rule.split(' ') if len(w) > 1)}"] += refused
    sums["microseconds"] = int(1e6 * (time.process_time() - start))
    return task, sums, failures


def _pieces(seed: int, splits: list[str], tasks: list[str], count: int | None) -> Iterator[_Piece]:
    for split in splits:
        total = COUNTS[split] if count is None else count
        for first in range(0, total, _PIECE):
            yield from ((seed, split, task, first, min(first + _PIECE, total)) for task in tasks)


def _report(task: str, sums: Counter[str], failures: list[str]) -> None:
    frames = max(sums["frames"], 1)
    log.info(
        "%-10s %7d frames  %3d failures  %6.3f restarts a frame (most %d)  %5.2f ms a frame",
        task, sums["frames"], len(failures), sums["restarts"] / frames, sums["most"],
        sums["microseconds"] / 1000 / frames,
    )  # fmt: skip
    rules = sorted((-number, name) for name, number in sums.items() if name.startswith("refused"))
    for number, name in rules[:3]:
        log.info("           %s %.1f candidates a frame", name, -number / frames)


def main() -> int:
    """Run it; see the module."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=TASKS, action="append")
    parser.add_argument("--split", choices=SPLITS, action="append")
    parser.add_argument("--count", type=int, help="episodes a task and split [default: as published]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, help="[default: one a processor]")
    args = parser.parse_args()
    sums: dict[str, Counter[str]] = {task: Counter() for task in args.task or TASKS}
    failures: dict[str, list[str]] = {task: [] for task in sums}
    pieces = _pieces(args.seed, args.split or list(SPLITS), list(sums), args.count)
    with get_context("spawn").Pool(args.processes) as pool:
        for task, more, failed in pool.imap_unordered(lay_out, pieces):
            most = max(sums[task]["most"], more["most"])
            sums[task] += more
            sums[task]["most"] = most
            failures[task] += failed
    for task, total in sums.items():
        _report(task, total, failures[task])
        for line in failures[task][:20]:
            log.info("  failed: %s", line)
    failed_frames = sum(map(len, failures.values()))
    seconds = sum(total["microseconds"] for total in sums.values()) / 1e6
    log.info("%d episodes failed; %.1f CPU minutes", failed_frames, seconds / 60)
    return 1 if failed_frames else 0


if __name__ == "__main__":
    sys.exit(main())
