"""GPUs that fail: what is tried again and where, and which GPU leaves the run. test_gpu_faults.py has bpy."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, Mock

import pytest

from diorama.render.episode.time_limit import KERNEL_SECONDS
from diorama.render.run import cards, pool
from diorama.render.run.cards import LAST_STRIKES, STRIKES, TOO_LARGE, CardFaults
from diorama.render.run.estimate import Work
from diorama.render.run.last_status import read_status, status_text
from diorama.render.run.local_ray import local_ray
from diorama.render.run.loop import RenderLoop
from diorama.render.run.options import RunOptions
from diorama.render.run.pool import Pool
from diorama.render.run.recheck import may_take
from diorama.render.run.slot import QUEUE_SECONDS, Slot
from diorama.render.run.status import EventLog
from diorama.render.run.summary import Summary
from diorama.render.run.worker import Done, Failure, Ready, Task
from diorama.render.run.worker_plan import Node, WorkerPlan, plan_workers
from diorama.render.store import open_store
from diorama.scene_specs.errors import DeviceError
from tests.render.run.conftest import Farm

ROOT = Path(__file__).resolve().parents[3]


class Idle(Pool):
    """Workers that are never started, up since second 1."""

    def _launch_worker(self, slot: Slot) -> None:
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


@pytest.mark.parametrize(("failed", "first", "takes"), [(1, 0, 0), (0, 1, 1)])
def test_a_second_look_goes_on_where_the_only_other_card_failed(failed: int, first: int, takes: int) -> None:
    """Nobody might take it, so that the run waited for ever; now the GPU of the first look has the CPU decide."""
    pool = idle(2, 1)
    cards, again = CardFaults(pool), task("a")
    again.first, again.first_on = Done("a", b"", 1, looks=frozenset({"black cube"})), (first, pool.slots[first].card)
    cards.failed(pool.slots[failed], again)

    def takers() -> list[int]:
        slots = pool.slots
        return [slot.number for slot in slots if cards.may_take(slot, again, False) and may_take(slots, slot, again)]

    assert takers() == [takes]
    again.by_cpu = True
    assert takers() == [takes]
    # The check by the CPU itself failed: another GPU renders it again.
    again.failed_on = {("", first)}
    assert takers() == [1 - first]


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


class Answers:
    """A render loop on idle workers which are up. answers: what Ray returns for an episode or a start, all at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cards: int, each: int) -> None:
        self.answers: dict[Any, Any] = {}
        self.ray = Mock(get=lambda ref, **_: self.answers[ref], wait=lambda refs, **_: (list(refs), []))
        monkeypatch.setattr("diorama.render.run.loop.ray", self.ray)
        monkeypatch.setattr("diorama.render.run.pool.ray", self.ray)
        self.loop = RenderLoop(iter([]), Mock(), RunOptions(), Summary(), MagicMock(), EventLog(None))
        self.pool = self.loop._pool = idle(cards, each)
        self.loop._cards = CardFaults(self.pool)
        for slot in self.pool.slots:
            self.up(slot)
            self.pool.names["", slot.plan.card or 0] = f"GPU {slot.plan.card}"

    def up(self, slot: Slot) -> None:
        """Let a worker be up."""
        facts: Any = (socket.gethostname(), 1 << 30, (), 0, None, "/none", str(slot.plan.card))
        slot.info, slot.actor = Ready("CUDA Fast", *facts), Mock()

    def send(self, slot: Slot, name: str, kind: str) -> Task:
        """Give a worker an episode, which ends in an error of this kind; "" for none."""
        sent = task(name)
        sent.tries, sent.ref = 1, f"ref-{name}"
        sent.__dict__["work"] = Mock(cost=1.0)
        slot.in_flight.append(sent)
        done = Failure(name, kind, f"episode {name}: boom") if kind else Done(name, b"", 1)
        self.answers[sent.ref] = (done, 0)
        return sent

    @property
    def waiting(self) -> list[str]:
        """Ids of the episodes that wait."""
        return sorted(one.episode.id for one in self.loop._waiting if isinstance(one, Task))


@pytest.mark.parametrize("second", ["", "GpuError"])
def test_an_answer_that_comes_with_the_last_strike_counts_once(second: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 2, 2)
    run.loop._cards._failed["", 0] = {f"before-{k}" for k in range(STRIKES - 1)}
    for slot, kind in zip(on(run.pool, 0), ["GpuError", second], strict=True):
        run.send(slot, f"e{slot.number}", kind)
    run.loop._collect_answers()
    assert len(run.waiting) == 2 and len(set(run.waiting)) == 2, "each is rendered once, elsewhere"
    run.loop.sink.add.assert_not_called()  # type: ignore[attr-defined]
    assert run.pool.cards == [("", 1)]


def test_workers_that_hang_together_are_taken_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 2, 2)
    run.loop._cards._failed["", 0] = {f"before-{k}" for k in range(STRIKES - 1)}
    for slot in on(run.pool, 0):
        run.send(slot, f"e{slot.number}", "").started = -1e9
    monkeypatch.setattr(run.loop, "_time_limit", lambda _: 1.0)
    run.loop._replace_hung()
    assert len(run.waiting) == 2 and len(set(run.waiting)) == 2 and run.pool.cards == [("", 1)]


def test_a_look_that_another_device_confirmed_is_not_doubted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 1, 1)
    (slot,) = run.pool.slots

    def render(name: str, *looks: str) -> list[bool]:
        """Let an episode be rendered that looks so; for each answer whether the CPU gave it."""
        sent, by_cpu = run.send(slot, name, ""), list[bool]()
        sent.__dict__["work"] = Work()
        run.answers["ref"] = (Done(name, b"", 1, looks=frozenset(looks)), 0)
        while not by_cpu or run.waiting:
            if by_cpu:
                slot.actor.render.remote.return_value = "ref"
                run.loop._waiting.clear()
                run.loop._send_task(slot, sent)
            sent.ref = "ref"
            by_cpu.append(sent.by_cpu)
            run.loop._collect_answers()
        return by_cpu

    monkeypatch.setattr("diorama.render.run.loop.pack", lambda _: b"")
    added: Any = run.loop.sink.add
    assert render("a", "constant white-model") == [False, True] and added.call_count == 1
    assert render("b", "constant white-model") == [False] and added.call_count == 2
    assert render("c", "constant white-model", "constant other-model") == [False, True]
    assert render("d", "", "constant other-model") == render("e", "", "constant other-model") == [False, True]
    assert added.call_count == 5 and run.loop.summary.rechecked == 4


@pytest.mark.parametrize("right", [0, 1])
def test_the_cpu_decides_between_two_gpus(right: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 2, 1)
    monkeypatch.setattr("diorama.render.run.loop.pack", lambda _: b"")
    monkeypatch.setattr("diorama.render.run.loop.judge", lambda first, again: Failure("a", "Recheck", "differs"))
    doubted, other = run.pool.slots
    sent = run.send(doubted, "a", "")
    first = Done("a", b"doubted", 1, looks=frozenset({"black cube"}))
    answers: list[tuple[Done | Failure, Slot]] = [(first, doubted), (Done("a", b"other", 1), other)]
    answers.append((first if right == 0 else Failure("a", "ImplausibleError", "episode a: not of its scene"), doubted))
    for number, (answer, slot) in enumerate(answers):
        if number:
            assert [one for one in run.pool.slots if may_take(run.pool.slots, one, sent)] == [slot]
            slot.actor.render.remote.return_value = sent.ref = f"ref-{number}"
            run.loop._waiting.clear()
            run.loop._send_task(slot, sent)
        assert sent.by_cpu == (number == 2)
        run.answers[sent.ref] = (answer, 0)
        run.loop._collect_answers()
    added: Any = run.loop.sink.add
    if right == 0:
        added.assert_called_once_with(first)
    else:
        assert run.waiting == ["a"] and sent.first is None and sent.failed_on == {("", 0)} and sent.tries == 1
        assert run.pool.replaced == {"implausible": 1}


def too_large(run: Answers, count: int) -> None:
    """Let episodes run out of memory although they are alone on the GPU."""
    (slot,) = run.pool.slots
    for _ in range(count):
        run.up(slot)
        run.send(slot, f"huge-{len(run.loop.summary.failed)}", "").alone = True
        run.loop._replace(slot, "gpu_memory", "the GPU ran out of memory")


def test_episodes_too_large_for_a_card_cost_only_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 1, 1)
    too_large(run, TOO_LARGE - 1)
    run.loop._cards.succeeded(run.pool.slots[0])
    too_large(run, 4 * TOO_LARGE)
    assert len(run.loop.summary.failed) == 5 * TOO_LARGE - 1 and run.loop.summary.lost_gpus == {}


def test_a_card_too_small_for_everything_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 1, 1)
    too_large(run, TOO_LARGE - 1)
    with pytest.raises(DeviceError, match="no GPU is left"):
        too_large(run, 1)
    assert len(run.loop.summary.failed) == TOO_LARGE - 1


def test_a_cpu_renderer_that_lacks_gpu_memory_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 1, 1)
    slot = run.pool.slots[0] = Slot(0, WorkerPlan("cpu", 1, 0, 1))
    run.up(slot)
    run.send(slot, "a", "GpuMemoryError")
    run.loop._collect_answers()
    assert run.waiting == ["a"] and run.pool.replaced == {"gpu": 1}


def begin(run: Answers, slot: Slot, ago: float, device: str = "CUDA Fast") -> None:
    """Let a worker have begun an episode of one small image this many seconds ago."""
    first = run.send(slot, f"e{slot.number}", "")
    first.settings, first.started = Mock(width=32, height=24), time.monotonic() - ago
    first.__dict__.update(samples=1, work=Mock(images=1.0, cost=1.0))
    assert slot.info is not None
    slot.info = replace(slot.info, device=device)


def test_only_the_first_image_of_a_model_may_wait_for_its_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 3, 2)
    for slot in run.pool.slots:
        begin(run, slot, 0.0, f"CUDA {'Fast' if slot.plan.card != 2 else 'Slow'}")
    run.loop._cards.succeeded(run.pool.slots[0])
    limits = {(slot.plan.card, run.loop._time_limit(slot) > KERNEL_SECONDS) for slot in run.pool.slots}
    assert limits == {(0, False), (1, False), (2, True)}


def test_cards_that_compile_together_have_the_usual_time_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 2, 1)
    for slot in run.pool.slots:
        begin(run, slot, 900.0)
    run.loop._cards.succeeded(run.pool.slots[0])
    assert 1020 < run.loop._time_limit(run.pool.slots[1]) < 1200
    run.loop._replace_hung()
    assert all(slot.in_flight for slot in run.pool.slots), "the second card is about to render, too"


def test_a_timeout_holds_for_the_first_image(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 2, 1)
    run.loop.options = RunOptions(timeout=10.0)
    for slot in run.pool.slots:
        begin(run, slot, 0.0)
        assert run.loop._time_limit(slot) == 10.0


def test_a_card_that_hangs_on_its_first_image_has_the_time_for_kernels_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 2, 1)
    begin(run, run.pool.slots[0], 2 * KERNEL_SECONDS)
    run.loop._replace_hung()
    assert run.waiting == ["e0"]
    run.up(run.pool.slots[0])
    begin(run, run.pool.slots[0], 0.0)
    assert run.loop._time_limit(run.pool.slots[0]) < KERNEL_SECONDS


def test_no_episode_waits_behind_a_late_one(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 2, 1)
    late, idle = run.pool.slots
    begin(run, late, QUEUE_SECONDS + 1)
    second = run.send(late, "second", "")
    run.loop._depth, run.loop.sink.full = 2, False  # type: ignore[misc]
    monkeypatch.setattr("diorama.render.run.loop.pack", Mock())
    run.loop._replace_hung()
    assert run.waiting == ["second"] and second.tries == 0
    run.ray.cancel.assert_called_once_with("ref-second")
    run.loop._fill_workers()
    assert [task.episode.id for task in idle.in_flight] == ["second"] and len(late.in_flight) == 1


def test_a_late_worker_is_named_with_its_card(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 2, 1)
    for slot, ago in zip(run.pool.slots, (30, 185), strict=True):
        begin(run, slot, ago)
        slot.info = Ready("CUDA Fast", "node7", 1, (), 0, None, "", str(slot.number), uuid="GPU-abc")
    run.loop._tick_second(time.monotonic())
    told = "worker 1 (GPU 1, GPU-abc, node7) has been on episode e1 for 3 min 5 s"
    assert run.loop.progress.tick.call_args.args[3:] == ([told], [])  # type: ignore[attr-defined]
    first, second = run.pool.slots
    first.ready, first.since, second.since = "start", time.monotonic() - 125, time.monotonic() - 125
    run.loop._tick_second(time.monotonic())
    assert run.loop.progress.tick.call_args.args[4] == [f"{first.where} has been starting for 2 min 5 s"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("others", [0, 1])
def test_a_worker_that_does_not_start_again_costs_the_card_only_if_it_was_alone(
    others: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Answers(monkeypatch, 2, 1 + others)
    slot, before = run.pool.slots[0], len(run.pool.slots)
    for _ in range(pool._START_TRIES):
        slot.ready, slot.info = "start", None
        run.answers["start"] = Failure("", "OSError", "no file handle is left. Close some")
        run.pool.start_ended(slot)
    assert bool(slot.broken) == (not others)
    assert len(run.pool.slots) == before - others and len(run.pool.cards) == 2


def test_the_message_counts_gpus_that_were_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers(monkeypatch, 8, 1)
    run.pool.slots, run.pool.names = run.pool.slots[:1], {("", 0): "GPU 0"}
    with pytest.raises(DeviceError, match=r"7 other GPUs.*CUDA_VISIBLE_DEVICES"):
        run.pool.remove(("", 0), "it broke")


def test_a_card_is_empty_once_the_processes_of_its_killed_workers_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.kill", lambda actor: None)
    pool = idle(2, 1)
    (slot,) = on(pool, 0)
    with subprocess.Popen(["sleep", "600"]) as process:
        slot.info = Ready("", socket.gethostname(), process.pid, (), 0, None, "")
        for _ in range(2):
            pool.lose(slot, "gpu_memory", "too large", "a")
        assert not pool.emptied(("", 0)) and pool.emptied(("", 1))
        process.kill()
    assert pool.emptied(("", 0)) and not pool._ending
    slot.info = Ready("", socket.gethostname(), os.getpid(), (), 0, None, "")
    monkeypatch.setattr("diorama.render.run.pool._END_SECONDS", 0.0)
    pool.lose(slot, "gpu_memory", "too large", "a")
    assert pool.emptied(("", 0)), "a process that does not end keeps no GPU for ever"


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


@pytest.mark.slow
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
    assert status is not None and "1 GPU left the run" in status_text(status)


@pytest.mark.slow
@pytest.mark.usefixtures("gpus")
def test_a_card_that_is_gone_leaves_and_the_last_one_ends_the_run(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [*(f"gone-{k}" for k in range(6)), "wait-0", "wait-1"]
    found = run(farm, names, "--gpus", "2", "--workers-per-gpu", "1")
    assert farm.stored() == names and found["failed"] == []
    ((name, reason),) = found["lost_gpus"].items()
    assert name.startswith("GPU 1 (") and "finds no GPU" in reason
    evil = [f"evil-{k}" for k in range(9)]
    log = farm.folder / "log.jsonl"
    monkeypatch.setattr("diorama.render.run.cards.LAST_STRIKES", 3)
    options = ("--gpus", "1", "--workers-per-gpu", "1", "--json-log", str(log))
    last = run(farm, [*names, "new-1", *evil], *options, code=3)
    found = {name: last[name] for name in ("rendered", "left", "stopped", "exit_code")}
    assert found == {"rendered": 1, "left": len(evil), "stopped": "device", "exit_code": 3} and last["lost_gpus"]
    assert "no GPU is left" in last["stderr"] and "GPU 0" in last["stderr"] and "same command" in last["stderr"]
    assert farm.stored() == sorted([*names, "new-1"]), "what was rendered is stored"
    end = json.loads(log.read_text().splitlines()[-1])
    assert (end["failed"], end["left"]) == ([], len(evil)), "no episode is blamed"


@pytest.mark.slow
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
def test_a_card_too_small_for_everything_fails_few_episodes(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "TOO_LARGE", 4)
    options, names = ("--gpus", "1", "--workers-per-gpu", "1"), [f"huge-{k:02d}" for k in range(9)]
    found = run(farm, names, *options, code=3)
    assert "out of memory" in found["stderr"] and "--size" in found["stderr"]
    assert (len(found["failed"]), found["left"]) == (3, 6) and found["lost_gpus"]
    found = run(farm, [*names[:3], "small"], *options, code=1)
    assert (found["rendered"], len(found["failed"])) == (1, 3) and not found["lost_gpus"], "the others are rendered"
    assert run(farm, names, *options, "--max-failures", "2", code=1)["left"] == 7
