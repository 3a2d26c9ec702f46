"""Run Diorama's commands as processes, measure their memory, and print figures as a table."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from diorama.scene_specs.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]


def command(program: str, *arguments: object) -> list[str]:
    """Return the command line of `render-batch`, `render-export`, ... of this checkout."""
    module = f"diorama.render.cli.{program.removeprefix('render-')}"
    return [sys.executable, "-c", f"from {module} import main; main()", *map(str, arguments)]


def run_json(program: str, *arguments: object, timeout_s: float = 6 * 3600) -> Any:
    """Run a command with `--json` and return what it prints. Raises CalledProcessError if it fails."""
    line = command(program, *arguments, "--json")
    return json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE, timeout=timeout_s).stdout)


def run_measured(program: str, *arguments: object) -> tuple[str, float, float]:
    """Run a command; return its output, its seconds, and its peak memory in MB, summed over it and its children.

    Raises SystemExit if the command fails.
    """
    start, peak = time.perf_counter(), 0
    with subprocess.Popen(command(program, *arguments), stdout=subprocess.PIPE, text=True) as child:
        # Polled while it runs: what the kernel reports at the end includes this process, from which it was forked.
        while child.poll() is None:
            peak = max(peak, sum(map(peak_kilobytes, [child.pid, *children_of(child.pid)])))
            time.sleep(0.05)
        seconds = time.perf_counter() - start
        assert child.stdout is not None
        text = child.stdout.read()
    if child.returncode:
        raise SystemExit(f"{program} {' '.join(map(str, arguments))}: failed with exit code {child.returncode}")
    return text, seconds, peak / 1024


def git(folder: Path, *arguments: str, text: str = "") -> str:
    """Return what a git command prints in a checkout. text: its standard input. Raises UsageError if it fails."""
    line = ["git", "-C", str(folder), "-c", "core.quotePath=false", *arguments]
    done = subprocess.run(
        line, check=False, capture_output=True, encoding="utf-8", errors="replace", input=text, timeout=600
    )
    if done.returncode:
        raise UsageError(f"{folder}: git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def proc_text(pid: int, name: str) -> str:
    """Return a file of /proc about a process; "" if the process has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def children_of(pid: int) -> list[int]:
    """Return the ids of a process's direct children; none if the process has ended."""
    return [int(child) for child in proc_text(pid, f"task/{pid}/children").split()]


def peak_kilobytes(pid: int) -> int:
    """Return the peak resident memory of a process in KiB, 0 if the process has ended."""
    found = re.search(r"^VmHWM:\s+(\d+)", proc_text(pid, "status"), re.MULTILINE)
    return int(found[1]) if found else 0


def write_specs(path: Path, specs: Iterable[dict[str, Any]]) -> Path:
    """Write episode specs as JSON lines and return the path."""
    with path.open("w") as stream:
        stream.writelines(json.dumps(spec) + "\n" for spec in specs)
    return path


def print_figures(title: str, figures: Iterator[tuple[str, str]], created: Iterable[Path], keep: bool) -> None:
    """Print (measured, figure) rows as a Markdown table while they arrive; then delete `created` unless `keep`."""
    print(f"| {title} | |\n|---|---|")
    try:
        for row in figures:
            print("| {} | {} |".format(*row), flush=True)
    finally:
        if not keep:
            for path in created:
                shutil.rmtree(path, ignore_errors=True)


def size(text: str) -> tuple[int, int]:
    """Parse `320x240` to (width, height) in pixels. Raises ArgumentTypeError."""
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if match is None or min(int(side) for side in match.groups()) < 11 or max(map(int, match.groups())) > 16384:
        raise ArgumentTypeError(f"found {text!r}, expected WIDTHxHEIGHT of 11 to 16384 pixels, such as 320x240")
    return int(match[1]), int(match[2])


def positive(text: str) -> int:
    """Parse an integer from 1. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"found {text!r}, expected an integer of at least 1")
    return int(text)


def threads(text: str) -> int:
    """Parse a number of threads, 0 for all. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) > 1024:
        raise ArgumentTypeError(f"found {text!r}, expected 0 (all) to 1024")
    return int(text)
