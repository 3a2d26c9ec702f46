"""Kill parts of runs at random times and resume the runs.

    python -m tools chaos --runs 30                 # 60 fake episodes per run
    python -m tools chaos --runs 5 --real           # Blender, 32 x 24

Each run starts `render-batch` as a process. At random times a worker, Ray's raylet or the driver is killed (SIGKILL);
the command is repeated until it ends with 0. Then every id must be in the store exactly once, undamaged by its digests
and equal to the result of an undisturbed run, and the summary of the last command must be right. Exit code 1 at the
first failure.
"""

from __future__ import annotations

import json
import logging
import os
import random
import signal
import subprocess
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from render.store import open_store
from tools import programs
from tools.programs import ROOT, children_of

log = logging.getLogger("chaos")

EPISODES = 60
# Kills per run; after them the command runs undisturbed.
KILLS = 4
# Seconds between two kills, drawn uniformly.
PAUSE = (0.5, 9.0)
COMMAND_SECONDS = 600.0
TARGETS = {"worker": "ray::", "raylet": "raylet/raylet", "driver": ""}


class ChaosError(Exception):
    """A broken promise."""


@dataclass
class Outcome:
    """What happened. killed: kills by target. codes: exit codes of render-batch in order."""

    killed: Counter[str] = field(default_factory=Counter)
    codes: list[int] = field(default_factory=list)
    seconds: float = 0.0


def write_specs(path: Path) -> list[str]:
    """Write small episodes of one or two objects; return their ids."""
    names = [f"chaos/{number:03d}" for number in range(EPISODES)]
    frames = [{"random_objects": {"count": 1 + number % 2}} for number in range(EPISODES)]
    specs = ({"version": 1, "id": name, "seed": 5, "frames": [one]} for name, one in zip(names, frames, strict=True))
    programs.write_specs(path, specs)
    return names


def descendants(pid: int) -> list[int]:
    """Return the ids of all processes below a process."""
    found = children_of(pid)
    for child in found:
        found += children_of(child)
    return found


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def kill_one(process: subprocess.Popen[bytes], target: str, rng: random.Random) -> bool:
    """Kill a worker, the raylet or the driver of a run; return whether there was one."""
    if target == "driver":
        process.kill()
        return True
    below = [pid for pid in descendants(process.pid) if TARGETS[target] in _title(pid)]
    below = [pid for pid in below if target != "worker" or "Worker" in _title(pid)]
    if not below:
        return False
    try:
        os.kill(rng.choice(below), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def command(specs: Path, store: Path, real: bool) -> list[str]:
    """Return the command of a run."""
    settings = ["--size", "32x24", "--profile", "draft", "--device", "cpu", "--workers", 2, "--retries", 5, "--json"]
    renderer = [] if real else ["--renderer", "tools.chaos_renderer:Slow"]
    return programs.command("render-batch", specs, "--out", store, *settings, *renderer)


def disturbed(specs: Path, store: Path, real: bool, rng: random.Random, targets: list[str]) -> tuple[Outcome, Any]:
    """Run, kill and resume until a command ends with 0; return what happened, and the last command's summary."""
    outcome = Outcome()
    start = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    while True:
        if len(outcome.codes) >= 3 * KILLS:
            raise ChaosError(f"no end after {len(outcome.codes)} commands: exit codes {outcome.codes}")
        with tempfile.TemporaryFile() as messages:
            process = subprocess.Popen(
                command(specs, store, real), stdout=subprocess.PIPE, stderr=messages, env=environment, cwd=ROOT
            )
            while sum(outcome.killed.values()) < KILLS and process.poll() is None:
                _disturb(process, outcome, rng, targets)
            try:
                out, _ = process.communicate(timeout=COMMAND_SECONDS)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise ChaosError(f"a command hung; killed so far: {dict(outcome.killed)}") from error
            messages.seek(0)
            log.debug("%s", messages.read().decode(errors="replace"))
        outcome.codes.append(process.returncode)
        if process.returncode == 0:
            outcome.seconds = time.monotonic() - start
            return outcome, json.loads(out)
        time.sleep(0.5)


def _disturb(process: subprocess.Popen[bytes], outcome: Outcome, rng: random.Random, targets: list[str]) -> None:
    end = time.monotonic() + rng.uniform(*PAUSE)
    target = rng.choice(targets)
    while process.poll() is None:
        # The target may not have started yet: then it is killed as soon as it has.
        if time.monotonic() > end and kill_one(process, target, rng):
            outcome.killed[target] += 1
            log.debug("killed a %s", target)
            return
        time.sleep(0.05)


def truths(store: Path) -> dict[str, str]:
    """Return the truth and images of each record by id. Raises if one is damaged, or an id is stored twice."""
    opened = open_store(str(store))
    names = [name for name, _ in opened.ids()]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ChaosError(f"stored twice: {twice}")
    records = opened.get_many(names)  # raises DamagedError by the digests
    return {record.episode_id: json.dumps(record.truth, sort_keys=True) for record in records}


def check(names: list[str], store: Path, expected: dict[str, str], before: int, summary: dict[str, Any]) -> None:
    """Raise ChaosError if a run broke a promise. before: episodes stored when the last command began."""
    found = truths(store)
    if set(found) != set(names):
        raise ChaosError(f"lost: {sorted(set(names) - set(found))}; unexpected: {sorted(set(found) - set(names))}")
    torn = [name for name in names if found[name] != expected[name]]
    if torn:
        raise ChaosError(f"different from an undisturbed run: {torn}")
    reported = (summary["rendered"], summary["skipped"], summary["failed"], summary["left"])
    if reported != (len(names) - before, before, [], 0):
        raise ChaosError(
            f"the summary reports {reported} for {len(names)} episodes, {before} of which were stored before"
        )


def run_once(number: int, real: bool, targets: list[str], folder: Path, expected: dict[str, str]) -> Outcome:
    """Do one run with kills. Raises ChaosError."""
    rng = random.Random(number)
    specs, store = folder / "specs.jsonl", folder / f"run-{number}.lance"
    names = write_specs(specs)
    outcome, summary = disturbed(specs, store, real, rng, targets)
    check(names, store, expected, summary["skipped"], summary)
    again = subprocess.run(command(specs, store, real), capture_output=True, check=True, cwd=ROOT)
    check(names, store, expected, len(names), json.loads(again.stdout))
    return outcome


def undisturbed(folder: Path, real: bool) -> dict[str, str]:
    """Return the episodes of a run without kills."""
    specs, store = folder / "specs.jsonl", folder / "undisturbed.lance"
    write_specs(specs)
    subprocess.run(command(specs, store, real), check=True, capture_output=True, cwd=ROOT)
    return truths(store)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first run: the seed of its kills")
    parser.add_argument("--real", action="store_true", help="Blender instead of the fake renderer")
    parser.add_argument("--kill", default="worker,worker,raylet,driver", help="targets, drawn uniformly")
    parser.add_argument("-v", "--verbose", action="store_true")


def main(options: Namespace) -> int:
    """Do all runs; 1 at the first broken promise."""
    log.setLevel(logging.DEBUG if options.verbose else logging.INFO)
    with tempfile.TemporaryDirectory(prefix="chaos-") as name:
        expected = undisturbed(Path(name), options.real)
        for number in range(options.first, options.first + options.runs):
            try:
                outcome = run_once(number, options.real, options.kill.split(","), Path(name), expected)
            except ChaosError as error:
                log.error("run %d: %s", number, error)
                return 1
            log.info(
                "run %d: %d episodes, none lost, duplicated or damaged; killed %s; %d commands, exit codes %s, %.0f s",
                number, len(expected), dict(outcome.killed), len(outcome.codes), outcome.codes, outcome.seconds,
            )  # fmt: skip
    return 0
