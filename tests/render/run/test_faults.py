"""What goes wrong in a long run: dying, hanging, growing workers, absent and false GPUs, stores that take nothing."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import ray

from diorama.render.run.cards import Tuner, tune
from diorama.render.run.local_ray import local_ray
from diorama.render.run.options import RunOptions
from diorama.render.run.pool import Pool
from diorama.render.run.slot import Slot
from diorama.render.run.status import EventLog
from diorama.render.run.worker import Ready
from diorama.render.run.worker_plan import Node, plan_workers
from diorama.render.store import open_store
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.errors import StoreError, UsageError
from tests.marks import slow
from tests.render.run.conftest import Farm

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", autouse=True)
def eight_gpus() -> Iterator[None]:
    """One Ray that believes in eight GPUs, for all runs of this file."""
    with patch.dict(os.environ, DIORAMA_LOGICAL_GPUS="8", PYTHONPATH=str(ROOT)), local_ray(gpus=8):
        yield


@pytest.mark.slow
@pytest.mark.parametrize(("cards", "each"), [*slow((8, 1)), (2, 2)])
def test_workers_see_the_card_they_were_given(cards: int, each: int) -> None:
    options = RunOptions(gpus=cards, workers_per_gpu=each, renderer="fake")
    pool = Pool(options, EventLog(None))
    try:
        pool.start(plan_workers(options, [Node("", 2, 8)], 100))
        devices = Counter(ready.device for ready in ray.get([slot.ready for slot in pool.slots]))
    finally:
        pool.close()
    assert devices == {f"GPU fake card {k}": each for k in range(cards)}


def test_the_device_is_recorded_with_each_episode(farm: Farm) -> None:
    found = farm.run(farm.write("a", "b"), "--gpus", "1", "--workers-per-gpu", "1")
    assert found["devices"] == ["GPU fake card 0"]
    assert {r.provenance.device for r in open_store(farm.store).get_many(["a", "b"])} == {"GPU fake card 0"}


@pytest.mark.slow
def test_a_cpu_that_poses_as_a_gpu_stops_the_run(farm: Farm) -> None:
    found = farm.run(farm.write("a", "b"), "--gpus", "2", renderer="OnTheCpu", code=3)
    assert "CPU Some Processor" in found["stderr"] and "requested a GPU" in found["stderr"]
    assert farm.stored() == [], "what the wrong device rendered is not kept"
    farm.run(farm.write("a", "b"), "--device", "cpu", renderer="OnTheCpu")


@pytest.mark.slow
def test_a_dead_or_hanging_renderers_last_words_are_told(farm: Farm) -> None:
    options = ("--device", "cpu", "--workers", "2", "--retries", "0", "--timeout", "20")
    found = farm.run(farm.write("a", "crash", "hang"), *options, renderer="Talks", code=1)
    messages = {failure["episode"]: failure["message"] for failure in found["failed"]}
    assert "Sample 7/64 of crash" in messages["crash"] and "Sample 7/64 of hang" in messages["hang"]
    assert "SIGSEGV" in messages["crash"]
    assert found["replaced_why"] == {"died": 1, "hung": 1}
    assert farm.stored() == ["a"]


@pytest.mark.slow
def test_workers_that_never_start_end_the_run(farm: Farm) -> None:
    found = farm.run(farm.write("a"), "--device", "cpu", renderer="NeverStarts", code=1)
    assert "did not start, 3 times in a row" in found["stderr"] and "render-doctor" in found["stderr"]


def test_a_renderer_that_is_not_there_is_named(farm: Farm) -> None:
    found = farm.run(farm.write("a"), "--device", "cpu", renderer="NoSuchClass", code=2)
    assert "NoSuchClass" in found["stderr"]


@pytest.mark.slow
def test_a_worker_that_grows_is_replaced_between_episodes(farm: Farm) -> None:
    names = [f"e{k:02d}" for k in range(24)]
    options = ("--device", "cpu", "--workers", "1", "--worker-memory", "450MB", "--retries", "0")
    found = farm.run(farm.write(*names), *options, renderer="Leaks")
    assert farm.stored() == names and found["failed"] == [] and found["retried"] == 0
    assert found["replaced_why"]["memory"] >= 1
    assert max(found["memory_peaks"]) < 1.5 * 450 * 2**20


def test_a_worker_that_starts_above_its_limit_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, slot = Pool(RunOptions(), EventLog(None)), Slot(0, plan_workers(RunOptions(), [Node("", 1, 0)], 1)[0])
    ready = Ready("CPU", "here", 1, (), memory=363 << 20, limit=280 << 20, output_file="")
    monkeypatch.setattr(ray, "get", lambda _: ready)
    with pytest.raises(UsageError, match="takes 363 MiB before its first image, and its limit is 280 MiB: pass fewer"):
        pool.start_ended(slot)


@pytest.mark.slow
def test_a_worker_that_grows_within_an_episode_is_ended(farm: Farm) -> None:
    options = ("--device", "cpu", "--workers", "2", "--worker-memory", "400MB", "--retries", "0")
    found = farm.run(farm.write("a", "bloat", "b"), *options, renderer="Bloats", code=1)
    assert [failure["episode"] for failure in found["failed"]] == ["bloat"]
    assert "its limit is 400 MiB" in found["failed"][0]["message"]
    assert farm.stored() == ["a", "b"]


@pytest.mark.slow
def test_stopping_at_failures(farm: Farm) -> None:
    names = [f"raise-{k}" for k in range(20)]
    specs = farm.write(*names)
    log = farm.folder / "log.jsonl"
    options = ("--device", "cpu", "--workers", "2")
    first = farm.run(specs, "--fail-fast", *options, "--json-log", str(log), renderer="CrashesAlways", code=1)
    end = json.loads(log.read_text().splitlines()[-1])
    assert {key: end[key] for key in ("event", "left", "exit_code")} == {
        "event": "end",
        "left": first["left"],
        "exit_code": 1,
    }
    assert 1 <= len(first["failed"]) < 10 and first["stopped"] == "failures" and first["left"] > 0
    some = farm.run(specs, "--max-failures", "5", *options, renderer="CrashesAlways", code=1)
    assert 5 <= len(some["failed"]) < 15 and some["left"] == 20 - len(some["failed"])


@pytest.mark.slow
def test_what_skip_broken_leaves_out_stops_nothing(farm: Farm, caplog: pytest.LogCaptureFixture) -> None:
    specs = Path(farm.write("a", "raise", "b"))
    objects = [{"shape": "model:none.obj"}]
    specs.write_text(
        json.dumps({"version": 1, "id": "broken", "frames": [{"objects": objects}]}) + "\n" + specs.read_text()
    )
    options = ("--skip-broken", "--device", "cpu", "--workers", "1")
    with caplog.at_level("INFO", "diorama"):
        found = farm.run(str(specs), *options, "--max-failures", "2", renderer="CrashesAlways", code=1)
    assert (found["stopped"], found["rendered"], found["left"]) == ("", 2, 0)
    assert {failure["episode"] for failure in found["failed"]} == {"broken", "raise"}
    assert "rendering: 4 of 4 episodes" in caplog.text


@pytest.mark.slow
def test_the_log_has_a_line_an_event(farm: Farm) -> None:
    log = farm.folder / "log.jsonl"
    specs = farm.write("a", "raise", "b")
    farm.run(specs, "--json-log", str(log), "--device", "cpu", renderer="CrashesAlways", code=1)
    events = [json.loads(line) for line in log.read_text().splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[0] == "start" and kinds[-1] == "end" and "worker-up" in kinds
    assert {event["episode"] for event in events if event["event"] == "episode-done"} == {"a", "b"}
    assert [event["episode"] for event in events if event["event"] == "episode-failed"] == ["raise"]
    assert sum(event["episodes"] for event in events if event["event"] == "commit") == 2
    assert events[-1]["exit_code"] == 1 and events[-1]["rendered"] == 2


def failing(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """Make the store refuse so many commits; the list has the size of each commit tried."""
    monkeypatch.setattr("diorama.render.run.commit._FIRST_WAIT", 0.1)
    tried: list[int] = []
    right = LanceStore.put_encoded

    def put_encoded(self: LanceStore, parts: Any) -> Any:
        tried.append(len(parts))
        if len(tried) <= times:
            raise StoreError("No space left on device")
        return right(self, parts)

    monkeypatch.setattr(LanceStore, "put_encoded", put_encoded)
    return tried


@pytest.mark.slow
def test_a_store_that_fails_for_a_while_costs_nothing(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = failing(monkeypatch, times=2)
    found = farm.run(farm.write("a", "b", "c"), "--device", "cpu", "--store-wait", "30")
    assert len(tried) >= 3 and found["rendered"] == 3 and farm.stored() == ["a", "b", "c"]
    assert "No space left" in found["stderr"]


@pytest.mark.slow
def test_a_store_that_fails_for_good_ends_the_run_and_nothing_is_called_stored(
    farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = farm.folder / "log.jsonl"
    with monkeypatch.context() as patch:
        failing(patch, times=1000)
        options = ("--device", "cpu", "--store-wait", "1", "--json-log", str(log))
        found = farm.run(farm.write("a", "b", "c"), *options, code=4)
    assert "run the same command again" in found["stderr"]
    end = json.loads(log.read_text().splitlines()[-1])
    assert (end["event"], end["rendered"]) == ("end", 0) and farm.stored() == []
    again = farm.run(farm.write("a", "b", "c"), "--device", "cpu")
    assert again["rendered"] == 3


@pytest.mark.slow
def test_a_machine_on_which_everything_dies_stops_the_run(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diorama.render.run.pool._LOSSES", 3)
    monkeypatch.setattr("diorama.render.run.pool._LOSSES_A_WORKER", 1)
    names = [f"e{k}" for k in range(20)]
    found = farm.run(farm.write(*names), "--device", "cpu", "--workers", "2", renderer="DiesAtAll", code=1)
    assert "one after the other" in found["stderr"]


@pytest.mark.slow
def test_workers_a_card_are_measured(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diorama.render.run.cards.SECONDS", 1.0)
    monkeypatch.setattr("diorama.render.run.cards.IMAGES", 3)
    monkeypatch.setattr("diorama.render.run.local_ray.cores_here", lambda: 4)
    # More than enough to measure with, however slowly a second worker starts; what is left then is not rendered.
    names = [f"e{k:03d}" for k in range(1000)]
    monkeypatch.setattr("diorama.render.run.loop.tune", _tune_and_interrupt)
    log = farm.folder / "log.jsonl"
    options = ("--gpus", "1", "--workers-per-gpu", "auto", "--json-log", str(log))
    found = farm.run(farm.write(*names), *options, renderer="SlowCard", code=130)
    assert len(farm.stored()) == found["rendered"] == len(names) - found["left"]
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert sum(event["event"] == "worker-up" for event in events) >= 2, "a second worker was tried on the card"
    (event,) = [event for event in events if event["event"] == "workers-per-gpu"]
    chosen, rates = event["chosen"], event["images_per_second"]
    assert found["workers_per_gpu"] == chosen and {"1", "2"} <= set(rates)
    assert max(rates.values()) <= 1.08 * rates[str(chosen)], "no more workers were worth their while"


def _tune_and_interrupt(pool: Pool, tuner: Tuner, now: float, images: int) -> int | None:
    """As `tune`, and Ctrl-C as soon as the number of workers a card is chosen."""
    chosen = tune(pool, tuner, now, images)
    if chosen is not None:
        os.kill(os.getpid(), signal.SIGINT)
    return chosen
