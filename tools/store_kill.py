"""Kills a writing process at moments spread over commit, compaction, index and clean-up; the store must stay whole.

    python -m tools.store_kill --kills 60 --store /tmp/kill.lance
    python -m tools.store_kill --kills 15 --store s3://bucket/kill.lance      (see tools/store_s3.py)

After each kill: nothing acknowledged is lost, nothing torn, nothing twice, reading by id works. Ends with exit code 1
at the first breach, or if fewer than half of the kills fell inside what they were aimed at.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from render.store.lance.lance_store import LanceStore
from tests.factories import make_record
from tests.render.store.lance.cycler import PHASES

ROOT = Path(__file__).resolve().parents[1]
CALM_SECONDS = 120.0
log = logging.getLogger("store_kill")


@dataclass
class Campaign:
    """What was done so far."""

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
        """How long each phase takes, from two undisturbed cycles."""
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
        """Aim at a moment inside one phase, in turns."""
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
        # A line without its end was cut off by the kill: not said.
        said = [line.rstrip("\n") for line in lines if line.endswith("\n")]
        self.acknowledged.update(line.removeprefix("ack ") for line in said if line.startswith("ack "))
        last = next((line for line in reversed(said) if not line.startswith("ack ")), "")
        (self.inside if last == f"begin {aim}" else self.outside)[aim] += 1

    def check(self) -> None:
        """Raises AssertionError for a breach."""
        store = LanceStore.open(self.url)
        ids = [key for key, _ in store.ids()]
        assert len(ids) == len(set(ids)), "an episode is there twice"
        lost = self.acknowledged - set(ids)
        assert not lost, f"{len(lost)} acknowledged episodes are lost, such as {sorted(lost)[0]}"
        for start in range(0, len(ids), 64):
            for record in store.get_many(ids[start : start + 64]):
                expected = make_record(record.episode_id, seed=int(record.episode_id.rpartition("/")[2]) % 5)
                assert record == expected, f"{record.episode_id} is torn"
        for key in self.random.sample(ids, min(5, len(ids))):
            assert store.get(key).episode_id == key
        assert store.count() == len(ids)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--store", required=True, help="a place where nothing is yet")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    campaign = Campaign(options.store, Random(options.seed))
    campaign.calibrate()
    for number in range(options.kills):
        campaign.kill_once(number)
        campaign.check()
        log.info("kill %d: whole, %d episodes acknowledged", number + 1, len(campaign.acknowledged))
    inside = sum(campaign.inside.values())
    facts = {"kills": options.kills, "inside": dict(campaign.inside), "beside": dict(campaign.outside)}
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.exit(0 if inside * 2 >= options.kills else "fewer than half of the kills fell inside")


if __name__ == "__main__":
    main()
