"""Kill a process while it writes to a store.

    python -m tools store-kill --kills 60 --store /tmp/kill.lance
    python -m tools store-kill --kills 15 --store s3://bucket/kill.lance

Kills during commit, compaction, index and clean-up. After each kill no acknowledged episode may be lost, no episode
damaged or stored twice, and reading by id must work. Exit code 1 at the first failure, or if fewer than half of the
kills hit the phase that they aimed at.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from diorama.render.store.lance.lance_store import LanceStore
from tests.render.store.lance.cycler import PHASES
from tests.render.store.lance.test_crash import check_intact
from tools.programs import ROOT, positive

CALM_SECONDS = 120.0
log = logging.getLogger("store_kill")


@dataclass
class Campaign:
    """The state of all kills so far."""

    url: str
    random: Random
    typical: dict[str, float] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    inside: Counter[str] = field(default_factory=Counter)
    outside: Counter[str] = field(default_factory=Counter)

    def start(self, prefix: str, cycles: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.render.store.lance.cycler", self.url, prefix, str(cycles)]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)

    def calibrate(self) -> None:
        """Measure how long each phase takes in two undisturbed cycles."""
        found: dict[str, list[float]] = {}
        with self.start("calm", 2) as process:
            out, _ = process.communicate(timeout=CALM_SECONDS)
        if process.returncode:
            raise SystemExit("the undisturbed writer failed")
        for line in out.splitlines():
            word, _, rest = line.partition(" ")
            if word == "end":
                name, _, seconds = rest.partition(" ")
                found.setdefault(name, []).append(float(seconds))
            elif word == "ack":
                self.acknowledged.add(rest)
        self.typical = {name: sorted(values)[len(values) // 2] for name, values in found.items()}
        log.info("typical seconds: %s", {name: round(value, 3) for name, value in self.typical.items()})

    def kill_once(self, number: int) -> None:
        """Kill the writer at a moment inside a phase; phases alternate."""
        aim = PHASES[number % len(PHASES)]
        wait_for = self.random.randint(1, 3)
        lines: list[str] = []
        with self.start(f"kill-{number}", 1000) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                if line == f"begin {aim}\n":
                    wait_for -= 1
                    if not wait_for:
                        break
            time.sleep(self.random.uniform(0.0, self.typical[aim]))
            process.kill()
            lines += process.stdout.readlines()
        # The kill cut off a line without its end: it doesn't count.
        complete = [line.rstrip("\n") for line in lines if line.endswith("\n")]
        self.acknowledged.update(line.removeprefix("ack ") for line in complete if line.startswith("ack "))
        last = next((line for line in reversed(complete) if not line.startswith("ack ")), "")
        (self.inside if last == f"begin {aim}" else self.outside)[aim] += 1

    def check(self) -> None:
        """Raise AssertionError if the store broke a promise."""
        store = LanceStore.open(self.url)
        check_intact(store, self.acknowledged)
        ids = sorted(key for key, _ in store.ids())
        for key in self.random.sample(ids, min(5, len(ids))):
            assert store.get(key).episode_id == key
        assert store.count() == len(ids)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--kills", type=positive, default=60)
    parser.add_argument("--store", required=True, help="URL or path where nothing is stored yet")
    parser.add_argument("--seed", type=int, default=1)


def main(options: Namespace) -> int:
    """Kill and check. Raises AssertionError if the store broke a promise."""
    campaign = Campaign(options.store, Random(options.seed))
    campaign.calibrate()
    for number in range(options.kills):
        campaign.kill_once(number)
        campaign.check()
        log.info("kill %d: store undamaged, %d episodes acknowledged", number + 1, len(campaign.acknowledged))
    inside = sum(campaign.inside.values())
    print(json.dumps({"kills": options.kills, "inside": dict(campaign.inside), "beside": dict(campaign.outside)}))
    if inside * 2 < options.kills:
        log.error("fewer than half of the kills hit the phase that they aimed at")
        return 1
    return 0
