"""Kills parts of runs at random times and resumes them to the end: nothing may be lost, doubled or torn.

    python tools/chaos.py --runs 30                 # 60 fake episodes a run
    python tools/chaos.py --runs 5 --real           # Blender, 32 x 24

Each run: `render-batch` in a process of its own; at random times a worker, Ray's raylet or the driver is killed
(SIGKILL); the command is given again until it ends with 0. Then every id must be in the store once, whole by its
digests and equal to what an undisturbed run makes; what the last command said must fit. Exit code 1 at the first fault.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from render.store import open_store, peek

log = logging.getLogger("chaos")

EPISODES = 60
# Kills a run; after them the command is left alone.
KILLS = 4
# Seconds between two kills, drawn evenly.
PAUSE = (0.5, 9.0)
COMMAND_SECONDS = 600.0
ROOT = Path(__file__).resolve().parents[1]
TARGETS = {"worker": "ray::", "raylet": "raylet/raylet", "driver": ""}


class ChaosError(Exception):
    """A promise that was broken."""


@dataclass
class Outcome:
    """commands: how often render-batch was started. killed: what, how often. codes: exit codes in order."""

    commands: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    codes: list[int] = field(default_factory=list)
    seconds: float = 0.0


def write_specs(path: Path) -> list[str]:
    """Small episodes of one or two objects; their ids."""
    names = [f"chaos/{number:03d}" for number in range(EPISODES)]
    frames = [{"random_objects": {"count": 1 + number % 2}} for number in range(EPISODES)]
    specs = [
        {"version": 1, "id": name, "seed": 5, "frames": [frame]} for name, frame in zip(names, frames, strict=True)
    ]
    path.write_text("".join(json.dumps(spec) + "\n" for spec in specs))
    return names


def descendants(pid: int) -> list[int]:
    """Process numbers of everything below a process."""
    found, queue = [], [pid]
    while queue:
        try:
            children = Path(f"/proc/{queue[0]}/task/{queue[0]}/children").read_text().split()
        except OSError:
            children = []
        queue = queue[1:] + [int(child) for child in children]
        found += [int(child) for child in children]
    return found


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def kill_one(process: subprocess.Popen[bytes], what: str, rng: random.Random) -> bool:
    """Kill a worker, the raylet or the driver of a run; whether there was one."""
    if what == "driver":
        process.kill()
        return True
    below = [pid for pid in descendants(process.pid) if TARGETS[what] in _title(pid)]
    below = [pid for pid in below if what != "worker" or "Worker" in _title(pid)]
    if not below:
        return False
    try:
        os.kill(rng.choice(below), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def command(specs: Path, store: Path, real: bool) -> list[str]:
    """The command of a run."""
    batch = [sys.executable, "-c", "from render.cli.batch import main; main()", str(specs), "--out", str(store)]
    size = ["--size", "32x24", "--profile", "draft", "--device", "cpu", "--workers", "2", "--retries", "5", "--json"]
    return [*batch, *size, *([] if real else ["--renderer", "tools.chaos_renderer:Slow"])]


def disturbed(specs: Path, store: Path, real: bool, rng: random.Random, targets: list[str]) -> tuple[Outcome, Any]:
    """Run, kill, run again, until a command ends with 0; what happened, and what the last command said."""
    outcome = Outcome()
    start = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    while True:
        outcome.commands += 1
        if outcome.commands > 3 * KILLS:
            raise ChaosError(f"no end after {outcome.commands} commands: exit codes {outcome.codes}")
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                command(specs, store, real), stdout=subprocess.PIPE, stderr=said, env=environment, cwd=ROOT
            )
            while sum(outcome.killed.values()) < KILLS and process.poll() is None:
                _disturb(process, outcome, rng, targets)
            try:
                out, _ = process.communicate(timeout=COMMAND_SECONDS)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise ChaosError(f"a command hung; killed so far: {dict(outcome.killed)}") from error
            said.seek(0)
            log.debug("%s", said.read().decode(errors="replace"))
        outcome.codes.append(process.returncode)
        if process.returncode == 0:
            outcome.seconds = time.monotonic() - start
            return outcome, json.loads(out)
        time.sleep(0.5)


def _disturb(process: subprocess.Popen[bytes], outcome: Outcome, rng: random.Random, targets: list[str]) -> None:
    end = time.monotonic() + rng.uniform(*PAUSE)
    what = rng.choice(targets)
    while process.poll() is None:
        # A worker may not be up yet by then: it is killed as soon as it is.
        if time.monotonic() > end and kill_one(process, what, rng):
            outcome.killed[what] += 1
            log.debug("killed a %s", what)
            return
        time.sleep(0.05)


def truths(store: Path) -> dict[str, str]:
    """Id -> the truth and pictures of the record; raises where one is torn, or an id is there twice."""
    opened = open_store(str(store))
    names = [name for name, _ in opened.ids()]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ChaosError(f"twice in the store: {twice}")
    records = opened.get_many(names)  # raises DamagedError by the digests
    return {record.episode_id: json.dumps(record.truth, sort_keys=True) for record in records}


def check(names: list[str], store: Path, expected: dict[str, str], before: int, summary: dict[str, Any]) -> None:
    """Raise ChaosError where a run kept no promise. before: episodes stored when the last command began."""
    found = truths(store)
    if set(found) != set(names):
        raise ChaosError(f"lost: {sorted(set(names) - set(found))}; strange: {sorted(set(found) - set(names))}")
    torn = [name for name in names if found[name] != expected[name]]
    if torn:
        raise ChaosError(f"not what an undisturbed run makes: {torn}")
    said = (summary["rendered"], summary["skipped"], summary["failed"], summary["left"])
    if said != (len(names) - before, before, [], 0):
        raise ChaosError(f"the summary says {said} of {len(names)}, {before} of which were there")


def one(number: int, real: bool, targets: list[str], folder: Path, expected: dict[str, str]) -> Outcome:
    """One run with kills; raises ChaosError."""
    rng = random.Random(number)
    specs, store = folder / "specs.jsonl", folder / f"run-{number}.lance"
    names = write_specs(specs)
    outcome, summary = disturbed(specs, store, real, rng, targets)
    check(names, store, expected, summary["skipped"], summary)
    again = subprocess.run(command(specs, store, real), capture_output=True, check=True, cwd=ROOT)
    check(names, store, expected, len(names), json.loads(again.stdout))
    return outcome


def undisturbed(folder: Path, real: bool) -> dict[str, str]:
    """What the episodes are when nothing is killed."""
    specs, store = folder / "specs.jsonl", folder / "undisturbed.lance"
    write_specs(specs)
    if peek(str(store)) is None:
        subprocess.run(command(specs, store, real), check=True, capture_output=True, cwd=ROOT)
    return truths(store)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first run: the seed of its kills")
    parser.add_argument("--real", action="store_true", help="Blender instead of the fake renderer")
    parser.add_argument("--kill", default="worker,worker,raylet,driver", help="what, drawn from evenly")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.DEBUG if arguments.verbose else logging.INFO, format="%(message)s")
    with tempfile.TemporaryDirectory(prefix="chaos-") as name:
        expected = undisturbed(Path(name), arguments.real)
        for number in range(arguments.first, arguments.first + arguments.runs):
            try:
                outcome = one(number, arguments.real, arguments.kill.split(","), Path(name), expected)
            except ChaosError as error:
                log.error("run %d: %s", number, error)
                return 1
            log.info(
                "run %d: %d episodes, none lost, twice or torn; killed %s; %d commands, exit codes %s, %.0f s",
                number, len(expected), dict(outcome.killed), outcome.commands, outcome.codes, outcome.seconds,
            )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
