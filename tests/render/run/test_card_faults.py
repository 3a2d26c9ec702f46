"""GPUs that fail: what is tried again and where, and which GPU leaves the run. test_gpu_faults.py has bpy."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from render.run.card_faults import LAST_STRIKES, STRIKES, CardFaults
from render.run.events import EventLog
from render.run.local_ray import local_ray
from render.run.options import RunOptions
from render.run.pool import Pool, Slot
from render.run.status import read_status
from render.run.worker import Task
from render.run.worker_plan import Node, plan_workers
from render.store import open_store
from tests.render.run.conftest import Farm

ROOT = Path(__file__).resolve().parents[3]


class Idle(Pool):
    """Workers that are never started, up since second 1."""

    def _launch(self, slot: Slot) -> None:
        slot.since = 1.0


def idle(cards: int, each: int) -> Idle:
    """A pool of workers on GPUs."""
    options = RunOptions(gpus=cards, workers_per_gpu=each)
    pool = Idle(options, EventLog(None))
    for plan in plan_workers(options, [Node("", 8, cards)], 100):
        pool.add(plan)
    return pool


def task(name: str) -> Task:
    """An episode of this name."""
    return Task(Mock(id=name), Mock(), Mock())


def on(pool: Pool, card: int) -> list[Slot]:
    """The workers that stay on a GPU."""
    return [slot for slot in pool.slots if slot.plan.card == card and not slot.leaving]


def test_a_card_leaves_after_different_episodes_in_a_row() -> None:
    pool = idle(2, 1)
    cards, slot = CardFaults(pool), pool.slots[0]
    for number in range(STRIKES - 1):
        slot.since = 1e9 + number
        assert not cards.failed(slot, task(f"e{number}"))
    cards.succeeded(slot)
    leaves = []
    for number in range(STRIKES):
        slot.since = 2e9 + number
        leaves.append(cards.failed(slot, task(f"f{number}")))
    assert leaves == [0] * (STRIKES - 1) + [STRIKES]
    pool.slots = [slot]
    assert not cards.failed(slot, task("g")), "more is needed to give up the last GPU"


def test_one_episode_that_always_fails_does_not_cost_the_card() -> None:
    pool = idle(1, 1)
    cards, evil = CardFaults(pool), task("evil")
    for number in range(2 * LAST_STRIKES):
        pool.slots[0].since = 1e9 + number
        assert not cards.failed(pool.slots[0], evil)


def test_workers_that_fail_together_count_once() -> None:
    pool = idle(2, 2 * STRIKES)
    cards = CardFaults(pool)
    assert not any(cards.failed(slot, task(f"e{number}")) for number, slot in enumerate(pool.slots))


def test_an_episode_is_tried_again_on_another_card() -> None:
    pool = idle(2, 1)
    cards, again = CardFaults(pool), task("a")
    cards.failed(pool.slots[0], again)
    assert [cards.may_take(slot, again, choosy=False) for slot in pool.slots] == [False, True]
    cards.failed(pool.slots[1], again)
    assert all(cards.may_take(slot, again, choosy=False) for slot in pool.slots), "it has failed on all of them"
    assert not any(cards.may_take(slot, again, choosy=True) for slot in pool.slots), "others come first"
    cards.succeeded(pool.slots[1])
    assert [cards.may_take(slot, again, choosy=True) for slot in pool.slots] == [False, True]


def test_out_of_memory_empties_the_card_and_halves_the_workers() -> None:
    pool = idle(2, 4)
    cards, slot, big = CardFaults(pool), on(pool, 0)[2], task("big")
    assert cards.reserve(slot, big) == 2
    assert on(pool, 0) == [slot] and len(on(pool, 1)) == 2
    other = on(pool, 1)[0]
    assert cards.take_alone(slot) is None, "others are still on the GPU"
    # The others run out of memory too before they have left: that is the same event.
    late = next(one for one in pool.slots if one.leaving and one.plan.card == 0)
    assert cards.reserve(late, task("big-2")) == 2
    pool.slots = [slot, other]
    slot.in_flight.append(cards.take_alone(slot) or task("none"))
    assert slot.in_flight[0] is big
    assert cards.release() == [] and 0 in {card for _, card in cards.reserved}
    slot.in_flight.clear()
    cards.reserved["", 0].clear()
    assert cards.release() == [] and not cards.reserved
    assert len(on(pool, 0)) == 2, "then it has half of its workers"


def test_episodes_of_a_card_that_is_gone_go_elsewhere() -> None:
    pool = idle(2, 1)
    cards, big = CardFaults(pool), task("big")
    assert cards.reserve(pool.slots[0], big) == 1
    pool.slots = pool.slots[1:]
    assert cards.release() == [big] and not big.alone


@pytest.fixture(scope="module")
def gpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One Ray that believes in four GPUs; the folder in which renderers remember."""
    before, folder = dict(os.environ), tmp_path_factory.mktemp("cards")
    os.environ |= {"DIORAMA_LOGICAL_GPUS": "4", "PYTHONPATH": str(ROOT), "DIORAMA_TEST_FOLDER": str(folder)}
    with local_ray(gpus=4):
        yield folder
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(autouse=True)
def forget(request: pytest.FixtureRequest) -> None:
    """Let renderers forget what they did in another test."""
    if "gpus" in request.fixturenames:
        for mark in request.getfixturevalue("gpus").iterdir():
            mark.unlink()


def run(farm: Farm, names: list[str], *options: str, code: int = 0) -> dict[str, Any]:
    """A run of these episodes on faulty cards."""
    return farm.run(farm.write(*names), *options, renderer="FaultyCards", code=code)


@pytest.mark.usefixtures("gpus")
def test_a_gpu_error_costs_a_worker_and_a_broken_card_leaves(farm: Farm) -> None:
    names = [*(f"a-wait-{k}" for k in range(5)), *(f"e{k}" for k in range(6)), "launch-once"]
    log = farm.folder / "log.jsonl"
    found = run(farm, names, "--gpus", "4", "--workers-per-gpu", "1", "--json-log", str(log))
    assert farm.stored() == names and found["failed"] == [] and found["rendered"] == len(names)
    ((name, reason),) = found["lost_gpus"].items()
    assert name.startswith("GPU 3 (") and "Launch failed" in reason and name in found["stderr"]
    # Two on the broken GPU, whose third failure ends its use, and one that failed once.
    assert found["replaced_why"] == {"gpu": STRIKES} and found["retried"] == STRIKES + 1
    devices = {record.provenance.device for record in open_store(farm.store).get_many(names)}
    assert devices == {f"GPU number {k}" for k in range(3)}
    kinds = Counter(json.loads(line)["event"] for line in log.read_text().splitlines())
    assert kinds["gpu-left"] == 1
    status = read_status(farm.store)
    assert status is not None and "1 GPU left the run" in status.line()


@pytest.mark.slow
@pytest.mark.usefixtures("gpus")
def test_a_card_that_is_gone_leaves_and_the_last_one_ends_the_run(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [*(f"e{k}" for k in range(4)), "gone-0", "gone-1", "wait-0", "wait-1"]
    found = run(farm, names, "--gpus", "2", "--workers-per-gpu", "1")
    assert farm.stored() == names and found["failed"] == []
    ((name, reason),) = found["lost_gpus"].items()
    assert name.startswith("GPU 1 (") and "finds no GPU" in reason
    evil = [f"evil-{k}" for k in range(9)]
    log = farm.folder / "log.jsonl"
    monkeypatch.setattr("render.run.card_faults.LAST_STRIKES", 3)
    options = ("--gpus", "1", "--workers-per-gpu", "1", "--json-log", str(log))
    last = run(farm, [*names, "new-1", *evil], *options, code=3)
    assert "no GPU is left" in last["stderr"] and "GPU 0" in last["stderr"] and "same command" in last["stderr"]
    assert farm.stored() == sorted([*names, "new-1"]), "what was rendered is stored"
    end = json.loads(log.read_text().splitlines()[-1])
    assert (end["failed"], end["left"]) == ([], len(evil)), "no episode is blamed"


@pytest.mark.usefixtures("gpus")
def test_out_of_memory_is_tried_again_alone(farm: Farm) -> None:
    names = sorted(["big-1", "big-2", *(f"e{k:02d}" for k in range(12)), "huge"])
    found = run(farm, names, "--gpus", "1", "--workers-per-gpu", "4", code=1)
    assert farm.stored() == names[:-1], "big episodes fit a GPU that they have to themselves"
    (failure,) = found["failed"]
    assert failure["episode"] == "huge" and "--size" in failure["message"] and "alone" in failure["message"]
    assert found["workers_per_gpu"] in (1, 2) and found["gpu_memory_short"] and found["lost_gpus"] == {}


@pytest.mark.slow
@pytest.mark.usefixtures("gpus")
def test_a_card_too_small_for_everything_fails_few_episodes(farm: Farm) -> None:
    log = farm.folder / "log.jsonl"
    names = [f"huge-{k:02d}" for k in range(20)]
    found = run(farm, names, "--gpus", "1", "--workers-per-gpu", "1", "--json-log", str(log), code=3)
    assert "out of memory" in found["stderr"] and "--size" in found["stderr"]
    end = json.loads(log.read_text().splitlines()[-1])
    assert len(end["failed"]) < STRIKES and end["left"] > 0 and end["lost_gpus"]
