"""Kill parts of runs at random times and resume the runs.

    python -m tools chaos --runs 30                 # 60 fake episodes per run
    python -m tools chaos --runs 5 --real           # Blender, 32 x 24
    python -m tools chaos --runs 50 --cards 2       # Blender on simulated GPUs, which fail too

Each run starts `render-batch` as a process. At random times a worker, Ray's raylet or the driver is killed (SIGKILL);
the command is repeated until it ends with 0. Then every id must be in the store exactly once, undamaged by its digests
and equal to the result of an undisturbed run, and the summary of the last command must be right. With --cards, launches
fail or never return, memory runs out, copies hold zeros, ones or noise, and cards vanish as well; every record must
name a GPU as its device, and images must be of their Scenes and equal within the noise of GPUs. Exit code 1 at the
first failure.
"""

from __future__ import annotations

import json
import logging
import os
import random
import re
import signal
import subprocess
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from diorama.render.episode.plausibility import unusual_images
from diorama.render.run.recheck import difference
from diorama.render.store import open_store, peek
from diorama.scene_specs.errors import DeviceError
from tools import programs, simulated_gpu
from tools.programs import ROOT, children_of, positive, proc_text

log = logging.getLogger("chaos")

EPISODES = 60
# Kills per run; after them the command runs undisturbed.
KILLS = 4
# Seconds between two kills, drawn uniformly.
PAUSE = (0.5, 9.0)
COMMAND_SECONDS = 600.0
# Per image on a card. One takes a second, and three more in a new process.
TIMEOUT = 30
# In the titles of processes.
TARGETS = {"worker": "ray::.*Worker", "raylet": "raylet/raylet"}
# Kind -> rules of the simulated driver, of which each run with cards has one, in one or two processes after some calls.
FAULTS = {
    "launch": ("cuLaunchKernel=719", "cuStreamSynchronize=700", "cuMemcpyHtoD=702"),
    "memory": ("cuMemAlloc=2", "cuLaunchKernel=2"),
    "silent": ("zero=0", "0xff=0", "random=0", "hang=0"),
}
# Largest number of calls before a fault; an image takes about 130 launches, as does the test image before the first.
AFTER = {"launch": 300, "memory": 300, "silent": 600}


class ChaosError(Exception):
    """A broken promise."""


@dataclass
class Outcome:
    """What happened. killed: kills by target, and faults of the cards. codes: exit codes of render-batch in order.

    summary: of the last command. before: episodes stored when that began.
    """

    killed: Counter[str] = field(default_factory=Counter)
    summary: Any = None
    before: int = 0
    codes: list[int] = field(default_factory=list)
    seconds: float = 0.0


def write_specs(path: Path, cards: int = 0) -> list[str]:
    """Write small episodes of one or two objects, fewer if Blender is to render them on cards; return their ids."""
    names = [f"chaos/{number:03d}" for number in range(EPISODES // 3 if cards else EPISODES)]
    frames = ([{"random_objects": {"count": 1 + number % 2}}] for number in range(len(names)))
    about = {"version": 1, "seed": 5}
    programs.write_specs(path, ({**about, "id": k, "frames": frame} for k, frame in zip(names, frames, strict=True)))
    return names


def descendants(pid: int) -> list[int]:
    """Return the ids of all processes below a process."""
    found = children_of(pid)
    for child in found:
        found += children_of(child)
    return found


def kill_one(process: subprocess.Popen[bytes], target: str, rng: random.Random) -> bool:
    """Kill a worker, the raylet or the driver of a run; return whether there was one."""
    if target == "driver":
        process.kill()
        return True
    below = [pid for pid in descendants(process.pid) if re.search(TARGETS[target], proc_text(pid, "cmdline"))]
    with suppress(ProcessLookupError):
        if below:
            os.kill(rng.choice(below), signal.SIGKILL)
            return True
    return False


def command(specs: Path, store: Path, real: bool, cards: int = 0, each: int = 1) -> list[str]:
    """Return the command of a run. each: workers per card."""
    gpu, cpu = ["--gpus", cards, "--workers-per-gpu", each, "--timeout", TIMEOUT], ["--device", "cpu", "--workers", 2]
    settings = ["--size", "32x24", "--profile", "draft", "--retries", 5, "--json", *(gpu if cards else cpu)]
    renderer = [] if real or cards else ["--renderer", "tests.render.run.renderers:Slow"]
    return programs.command("render-batch", specs, "--out", store, *settings, *renderer)


def machine(cards: int, log_file: Path | None = None, rng: random.Random | None = None) -> dict[str, str]:
    """Return the environment of a run: with simulated cards, and with faults of their driver drawn by `rng`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if not cards:
        return environment
    rules = []
    if rng:
        for kind, functions in FAULTS.items():
            card, processes, after = rng.randrange(cards), rng.randint(1, 2), rng.randint(2, AFTER[kind])
            rules.append(f"{rng.choice(functions)}:{after}@{card}x{processes}")
    return environment | simulated_gpu.environment(cards, level=2, fail=",".join(rules), log=log_file)


def faults(log_file: Path) -> Counter[str]:
    """Count the processes in which the simulated driver failed, by kind of fault."""
    lines = log_file.read_text().splitlines() if log_file.exists() else []
    found = {(line.split()[0], line.split()[-1]) for line in lines if " fault " in line}
    return Counter(kind for _, rule in found for kind, rules in FAULTS.items() if rule in rules)


def disturbed(specs: Path, store: Path, real: bool, rng: random.Random, targets: list[str], cards: int = 0) -> Outcome:
    """Run, kill and resume until a command ends with 0; return what happened."""
    outcome = Outcome()
    start = time.monotonic()
    driver_log = store.with_suffix(".driver")
    environment = machine(cards, driver_log, rng)
    line = command(specs, store, real, cards, rng.randint(1, 2))
    while True:
        if len(outcome.codes) >= 3 * KILLS:
            raise ChaosError(f"no end after {len(outcome.codes)} commands: exit codes {outcome.codes}")
        stored = peek(str(store))
        outcome.before = 0 if stored is None else stored.count()
        deadline = time.monotonic() + COMMAND_SECONDS
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd=ROOT)
        while sum(outcome.killed.values()) < KILLS and process.poll() is None and time.monotonic() < deadline:
            _disturb(process, deadline, outcome, rng, targets, driver_log)
        try:
            out, _ = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.wait()
            raise ChaosError(f"a command hung; killed so far: {dict(outcome.killed)}") from error
        outcome.codes.append(process.returncode)
        if cards and not allowed(process.returncode, out, outcome.killed["driver"] > 0):
            raise ChaosError(f"a command on cards ended with exit code {process.returncode}; all: {outcome.codes}")
        if process.returncode == 0:
            outcome.seconds = time.monotonic() - start
            outcome.killed += faults(driver_log)
            outcome.summary = json.loads(out)
            return outcome
        # As if the machine had been restarted.
        for mark in store.parent.glob(f"{driver_log.name}.vanished-*"):
            mark.unlink()
        time.sleep(0.5)


def allowed(code: int, out: bytes, killed: bool) -> bool:
    """Return whether a command on failing cards may end so. out: its --json. killed: whether its driver was."""
    if code == 1:
        return out.startswith(b"{") and bool(json.loads(out)["failed"])
    return code in (0, DeviceError.exit_code) or (killed and code == -signal.SIGKILL)


def _vanish(driver_log: Path, rng: random.Random) -> bool:
    """Let a card vanish that is in use; return whether there was one."""
    lines = driver_log.read_text().splitlines() if driver_log.exists() else []
    used = sorted({line.split()[2] for line in lines if " runs " in line})
    marks = [driver_log.with_name(f"{driver_log.name}.vanished-{card}-0") for card in used]
    if present := [mark for mark in marks if not mark.exists()]:
        rng.choice(present).touch()
    return bool(present)


def _disturb(
    process: subprocess.Popen[bytes], deadline: float, outcome: Outcome, rng: random.Random, targets: list[str],
    driver_log: Path,
) -> None:  # fmt: skip
    end = time.monotonic() + rng.uniform(*PAUSE)
    target = rng.choice(targets)
    disturb = partial(_vanish, driver_log) if target == "vanish" else partial(kill_one, process, target)
    while process.poll() is None and time.monotonic() < deadline:
        # The target may not have started yet: then it is killed as soon as it has.
        if time.monotonic() > end and disturb(rng):
            outcome.killed[target] += 1
            return
        time.sleep(0.05)


def truths(store: Path) -> dict[str, str]:
    """Return the truth and images of each record by id. Raises if one is damaged, or an id is stored twice."""
    opened = open_store(str(store))
    names = [name for name, _ in opened.ids()]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ChaosError(f"stored twice: {twice}")
    records = opened.get_many(names)  # raises DamagedError by the digests
    found = {record.episode_id: record.truth for record in records}
    for record in records:
        for image in found[record.episode_id]["images"] if record.provenance.device.startswith("CUDA") else ():
            del image["sha256"]  # A pixel may differ by 1 of 255: see `check_devices`.
    return {key: json.dumps(truth, sort_keys=True) for key, truth in found.items()}


def check(names: list[str], store: Path, expected: dict[str, str], before: int, summary: dict[str, Any]) -> None:
    """Raise ChaosError if a run broke a promise. before: episodes stored when the last command began."""
    found = truths(store)
    if set(found) != set(names):
        raise ChaosError(f"lost: {sorted(set(names) - set(found))}; unexpected: {sorted(set(found) - set(names))}")
    if torn := [name for name in names if found[name] != expected[name]]:
        raise ChaosError(f"different from an undisturbed run: {torn}")
    reported = (summary["rendered"], summary["skipped"], summary["failed"], summary["left"])
    if reported != (len(names) - before, before, [], 0):
        raise ChaosError(f"the summary reports {reported} for {len(names)} episodes, {before} of them stored before")


def check_devices(names: list[str], store: Path, undisturbed: Path) -> None:
    """Raise ChaosError for what was not rendered on a GPU, can't be of its Scene, or is not as in another store."""
    records = open_store(str(store)).get_many(names)
    if wrong := {record.provenance.device for record in records} - {f"CUDA {simulated_gpu.NAME}"}:
        raise ChaosError(f"rendered on {sorted(wrong)} instead of a GPU")
    if problems := [f"{record.episode_id}: {text}" for record in records for text in unusual_images(record)]:
        raise ChaosError(f"not of their scenes: {problems}")
    before = open_store(str(undisturbed)).get_many(names)
    if other := [text for pair in zip(before, records, strict=True) if (text := difference(*pair))]:
        raise ChaosError(f"different from an undisturbed run: {other}")


def run_once(
    number: int, real: bool, targets: list[str], folder: Path, expected: dict[str, str], cards: int = 0
) -> Outcome:
    """Do one run with kills. Raises ChaosError."""
    rng = random.Random(number)
    specs, store = folder / "specs.jsonl", folder / f"run-{number}.lance"
    names = write_specs(specs, cards)
    outcome = disturbed(specs, store, real, rng, targets, cards)
    check(names, store, expected, outcome.before, outcome.summary)
    if cards:
        check_devices(names, store, folder / "undisturbed.lance")
    check(names, store, expected, len(names), json.loads(_run(command(specs, store, real, cards), cards).stdout))
    return outcome


def _run(line: list[str], cards: int) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(line, capture_output=True, check=True, cwd=ROOT, env=machine(cards), timeout=COMMAND_SECONDS)


def undisturbed(folder: Path, real: bool, cards: int = 0) -> dict[str, str]:
    """Return the episodes of a run without kills."""
    specs, store = folder / "specs.jsonl", folder / "undisturbed.lance"
    write_specs(specs, cards)
    _run(command(specs, store, real, cards), cards)
    return truths(store)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--runs", type=positive, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first run: the seed of its kills")
    parser.add_argument("--real", action="store_true", help="Blender instead of the fake renderer")
    parser.add_argument("--cards", type=int, default=0, help="simulated GPUs that fail too, with Blender (0: CPU)")


def main(options: Namespace) -> int:
    """Do all runs; 1 at the first broken promise."""
    targets = ["worker", "vanish"] if options.cards else ["worker", "worker", "raylet", "driver"]
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="chaos-") as name:
        expected = undisturbed(Path(name), options.real, options.cards)
        for number in range(options.first, options.first + options.runs):
            try:
                outcome = run_once(number, options.real, targets, Path(name), expected, options.cards)
            except ChaosError as error:
                log.error("run %d: %s", number, error)
                return 1
            total += outcome.killed
            log.info(
                "run %d: %d episodes, none lost, duplicated or damaged; killed %s; %d GPUs left; exit codes %s, %.0f s",
                number, len(expected), dict(outcome.killed), len(outcome.summary["lost_gpus"]), outcome.codes,
                outcome.seconds,
            )  # fmt: skip
    log.info("%d runs of %d episodes: no promise broken; killed %s", options.runs, len(expected), dict(total))
    return 0
