"""Processes that are killed or race for one store. Each starts Python and Lance: few, with much in each."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from tests.factories import make_record

KILLS = 8
ROOT = Path(__file__).parents[4]


def start(url: Path, prefix: str, first: int, count: int, batch: int, compact_every: int = 0) -> subprocess.Popen[str]:
    numbers = [str(number) for number in (first, count, batch, compact_every)]
    command = [sys.executable, "-m", "tests.render.store.lance.writer", str(url), prefix, *numbers]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def check_intact(store: LanceStore, acknowledged: set[str]) -> None:
    """Nothing acknowledged lost, nothing twice, nothing torn; reading an episode checks its digests."""
    ids = [key for key, _ in store.ids()]
    assert len(ids) == len(set(ids)), "an episode is stored twice"
    lost = sorted(acknowledged - set(ids))
    assert not lost, f"{len(lost)} acknowledged episodes are lost, such as {lost[0]}"
    for start in range(0, len(ids), 64):
        for record in store.get_many(ids[start : start + 64]):
            number = int(record.episode_id.rpartition("/")[2])
            assert record == make_record(record.episode_id, seed=number % 5), f"{record.episode_id} is damaged"


@pytest.mark.slow
def test_kill_at_any_moment_loses_nothing_acknowledged(tmp_path: Path) -> None:
    url, random = tmp_path / "s.lance", Random(7)
    acknowledged: set[str] = set()
    interrupted = 0
    for kill in range(KILLS):
        # Far more than it has time for, compacting often, so that kills fall into commits and compactions alike.
        process = start(url, f"run-{kill}", first=0, count=100_000, batch=3, compact_every=4)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0.05, 0.9))
        process.kill()
        # A line without its end was cut off by the kill: not acknowledged.
        out, _ = process.communicate()
        acknowledged.update(line[:-1] for line in out.splitlines(keepends=True) if line.endswith("\n"))
        interrupted += process.returncode == -9
        store = LanceStore.open(str(url))
        check_intact(store, acknowledged)
    assert interrupted == KILLS
    assert len(acknowledged) > KILLS
    # What is left goes on: a killed run's last batch is put again by the next.
    last = sorted(key for key, _ in store.ids() if key.startswith("run-0/"))
    again = [make_record(key, seed=int(key.rpartition("/")[2]) % 5) for key in last]
    assert store.put(again).unchanged == len(last)
    store.compact()
    check_intact(store, acknowledged)


@pytest.mark.slow
def test_racing_processes_create_one_store_and_write_each_episode_once(tmp_path: Path) -> None:
    url = tmp_path / "s.lance"
    racers = [start(url, "same", first=0, count=60, batch=5) for _ in range(2)]
    racers.append(start(url, "other", first=0, count=60, batch=5, compact_every=4))
    for process in racers:
        out, _ = process.communicate(timeout=240)
        assert process.returncode == 0
        assert out.count("\n") == 61
    store = LanceStore.open(str(url))
    everything = {f"{prefix}/{number}" for prefix in ("same", "other") for number in range(60)}
    check_intact(store, everything)
    assert store.count() == len(everything)
