"""Runs that are killed at random and resumed (long series are in tools/), and a cluster that loses a node."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.render.run import cluster
from tools.measuring import chaos
from tools.programs import ROOT, proc_text


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chaos, "EPISODES", 24)
    monkeypatch.setattr(chaos, "KILLS", 2)
    monkeypatch.setattr(chaos, "PAUSE", (0.5, 3.0))


@pytest.mark.slow
def test_killed_runs_resume_to_the_same_store(tmp_path: Path) -> None:
    expected = chaos.undisturbed(tmp_path, real=False)
    outcome = chaos.run_once(2, False, ["worker", "driver"], tmp_path, expected)
    assert sum(outcome.killed.values()) > 0, "nothing was killed: the test tests nothing"
    _what_is_lost_or_wrong_is_noticed(tmp_path / "undisturbed.lance", expected)


def _what_is_lost_or_wrong_is_noticed(store: Path, expected: dict[str, str]) -> None:
    names, good = sorted(expected), {"rendered": 24, "skipped": 0, "failed": [], "left": 0}
    chaos.check(names, store, expected, 0, good)
    with pytest.raises(chaos.ChaosError, match="lost"):
        chaos.check([*names, "another"], store, expected, 0, good)
    with pytest.raises(chaos.ChaosError, match="undisturbed"):
        chaos.check(names, store, {**expected, names[3]: "{}"}, 0, good)
    with pytest.raises(chaos.ChaosError, match="instead of a GPU"):
        chaos.check_devices(names, store, store)
    with pytest.raises(chaos.ChaosError, match="summary"):
        chaos.check(names, store, expected, 0, {**good, "rendered": 23})


@pytest.mark.parametrize(
    ("code", "out", "killed", "right"),
    [
        (0, b"{}", False, True),
        (3, b"", False, True),
        (1, b'{"failed": [{"episode": "a"}]}', False, True),
        (1, b'{"failed": []}', False, False),
        (1, b"", False, False),
        (2, b"", False, False),
        (-signal.SIGKILL, b"", True, True),
        (-signal.SIGKILL, b"", False, False),
    ],
)
def test_only_some_ends_of_a_command_on_cards_are_right(code: int, out: bytes, killed: bool, right: bool) -> None:
    assert chaos.allowed(code, out, killed) == right


@pytest.mark.slow
def test_ctrl_c_twice_ends_at_once_and_leaves_a_whole_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chaos, "EPISODES", 1000)  # takes longer than it may take to end
    specs, store = tmp_path / "specs.jsonl", tmp_path / "out.lance"
    chaos.write_specs(specs)
    process = subprocess.Popen(chaos.command(specs, store, False), stderr=subprocess.PIPE, cwd=ROOT)
    deadline = time.monotonic() + 200
    while not (store / "_versions").exists() or not chaos.truths(store):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    time.sleep(random.Random(3).uniform(0.0, 0.05))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=240)
    assert process.returncode == 130 and b"press Ctrl-C again" in said
    chaos.truths(store)


@pytest.mark.slow
def test_a_lost_nodes_episodes_run_elsewhere(tmp_path: Path) -> None:
    summary = cluster.check(2, 200, tmp_path)
    assert summary["rendered"] == 200 and summary["replaced_workers"] >= 1


@pytest.mark.slow
def test_a_run_whose_raylet_dies_starts_ray_again_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chaos, "EPISODES", 160)
    specs, store = tmp_path / "specs.jsonl", tmp_path / "out.lance"
    names = chaos.write_specs(specs)
    process = subprocess.Popen(
        chaos.command(specs, store, False), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    )
    deadline = time.monotonic() + 200
    while not (store / "_versions").exists() or not chaos.truths(store):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    # Workers outlive their raylet by up to 20 s, but are no longer below the run.
    workers = [pid for pid in chaos.descendants(process.pid) if "Worker" in proc_text(pid, "cmdline")]
    assert workers and chaos.kill_one(process, "raylet", random.Random(1))
    for pid in workers:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    out, said = process.communicate(timeout=240)
    assert process.returncode == 0, said.decode()
    assert b"starting Ray again, 1 of 3" in said
    summary = json.loads(out)
    assert summary["rendered"] == len(names) == len(chaos.truths(store))
    assert summary["left"] == 0 and summary["failed"] == []
