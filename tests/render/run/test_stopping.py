"""Runs that end in time: --until, Slurm's end of the job, signals, and what is committed then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diorama.render.run.batch import Batch
from diorama.render.run.loop import RenderLoop
from diorama.render.run.options import RunOptions
from diorama.render.run.pool import RayLostError
from diorama.render.run.run_batch import run_batch
from diorama.render.run.stopping import Deadline, Interrupts, job_end, parse_time
from diorama.render.run.summary import Summary
from diorama.render.run.worker_plan import Node
from diorama.scene_specs.errors import RayFailedError, UsageError
from diorama.scene_specs.reading.source import SpecSource
from tests.render.run.conftest import Farm
from tools.programs import children_of


def test_times_are_local_or_say_their_zone() -> None:
    assert parse_time("1763834400") == 1763834400
    assert parse_time("1970-01-02T00:00+00:00") == 86400
    assert parse_time("2026-11-22T18:00") == time.mktime((2026, 11, 22, 18, 0, 0, 0, 0, -1))
    with pytest.raises(ValueError, match="soon"):
        parse_time("soon")


def test_the_end_of_a_job_is_what_slurm_says(tmp_path: Path) -> None:
    squeue = tmp_path / "squeue"

    def answers(script: str) -> dict[str, str]:
        squeue.write_text(f"#!/bin/sh\n{script}\n")
        squeue.chmod(0o755)
        return {"SLURM_JOB_ID": "12", "PATH": f"{tmp_path}:/bin:/usr/bin"}

    # Left over from a job of which the rest is gone.
    assert job_end(answers('[ "$3" = 12 ] && echo 5') | {"SLURM_ARRAY_JOB_ID": "11"}) == 5
    assert job_end({}) is None and job_end({"SLURM_JOB_END_TIME": "5"}) is None
    assert job_end({"SLURM_JOB_ID": "12", "SLURM_JOB_END_TIME": "1763834400"}) == 1763834400
    assert (
        job_end(answers('[ "$*" = "-h -j 12 -o %e" ] && [ $SLURM_TIME_FORMAT = %s ] && echo 1763834400')) == 1763834400
    )
    # squeue answers to the number of the last task of an array with the ends of all tasks.
    array = {"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "3"}
    assert job_end(answers('[ "$3" = 12_3 ] && echo 5') | array) == 5
    assert job_end(answers("echo 1970-01-02T00:00:00+00:00")) == 86400
    for script in ("echo N/A", "exit 1", "true"):
        assert job_end(answers(script)) is None
    assert job_end({"SLURM_JOB_ID": "12", "PATH": str(tmp_path / "none")}) is None


def test_an_episode_is_begun_only_if_it_can_be_finished_and_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    deadline = Deadline(1100.0)
    assert deadline.enough(0.0) and not deadline.over(0.0)
    deadline.finished(89.0)
    assert deadline.enough(0.0)
    assert not deadline.enough(1.0) and not deadline.over(1.0)
    deadline.finished(91.0)
    assert not deadline.enough(0.0)
    # What took long once, far back, says nothing.
    for _ in range(64):
        deadline.finished(1.0)
    assert deadline.enough(0.0)
    assert deadline.over(30.0)
    never = Deadline(None)
    assert never.enough(1e9) and not never.over(1e9)


@pytest.fixture
def hangup() -> Iterator[None]:
    """SIGHUP as usual, also if the tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("number", "end", "reason"),
    [
        (signal.SIGINT, None, "interrupt"),
        (signal.SIGTERM, None, "interrupt"),
        (signal.SIGTERM, 2e9, "time"),
        (signal.SIGHUP, 2e9, "interrupt"),
        (signal.SIGUSR1, None, "time"),
    ],
)
def test_a_signal_says_why_it_stops(hangup: None, number: signal.Signals, end: float | None, reason: str) -> None:
    with Interrupts(Deadline(end)) as interrupts:
        os.kill(os.getpid(), number)
        assert interrupts.stopping == reason
        # Slurm may send it to the script and to the command.
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGHUP)
        assert interrupts.stopping == reason
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_run_that_does_not_notice_sigterm_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diorama.render.run.stopping._NOTICE_SECONDS", 0.2)
    before = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0] > 0
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            time.sleep(30)
        assert interrupts.terminated and not interrupts.gave_up
    assert before == (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0] > 0)
    with Interrupts() as interrupts, interrupts.undisturbed():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.5)
    monkeypatch.setattr("diorama.render.run.stopping._FINISH_SECONDS", 0.0)
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        assert not interrupts.gave_up, "Ctrl-C waits for what is in flight"


@pytest.mark.slow
@pytest.mark.parametrize("when", ["start", "worker-up"])
def test_sigterm_ends_a_run_that_hangs_within_ten_seconds(farm: Farm, when: str) -> None:
    specs, log = farm.write("hang-1", "hang-2"), farm.folder / "log.jsonl"
    line = [sys.executable, "-c", "from diorama.render.cli.batch import main; main()", specs, "--out", farm.store]
    options = ["--renderer", "tests.render.run.renderers:CrashesAlways", "--size", "32x24", "--workers", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [*line, *options, "--json-log", str(log)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 200
        while not log.exists() or f'"{when}"' not in log.read_text():
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        process.terminate()
        assert process.wait(10) == 130


def test_what_nohup_ignores_stays_ignored(hangup: None) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGHUP)
        assert not interrupts.stopping


def test_more_to_do_has_its_own_exit_code() -> None:
    assert Summary(stopped="time", left=3).exit_code == 75
    assert Summary(stopped="time", left=0).exit_code == 0
    assert "stopped in time with 3 episodes left" in str(Summary(stopped="time", left=3))


@pytest.mark.slow
def test_a_run_ends_before_its_time_and_another_continues(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diorama.render.run.stopping._LEAST_SECONDS", 40.0)
    # More than could be rendered in the 35 seconds before those for the end of the run.
    specs = farm.write(*(f"e{number:03d}" for number in range(500)))
    end = int(time.time()) + 75
    found = farm.run(specs, "--until", str(end), "--workers", "1", renderer="Slow", code=75)
    assert found["stopped"] == "time" and time.time() < end
    assert found["rendered"] + found["left"] == 500 and len(farm.stored()) == found["rendered"]
    # Those that are in flight are finished, because they take less than what is left.
    assert found["rendered"] > 0 and not found["retried"]


def test_a_ray_that_ended_with_its_job_is_not_started_again(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[int] = []

    @contextmanager
    def nodes(*_: object) -> Iterator[list[Node]]:
        starts.append(1)
        os.kill(os.getpid(), signal.SIGUSR1)
        yield [Node("", 1, 0)]

    def lost(*_: object) -> None:
        raise RayLostError("lost")

    monkeypatch.setattr("diorama.render.run.batch.ray_nodes", nodes)
    monkeypatch.setattr(RenderLoop, "go", lost)
    found = farm.run(farm.write("a"), code=75)
    assert found["stopped"] == "time" and found["left"] == 1 and len(starts) == 1


def test_a_ray_that_is_lost_has_its_own_exit_code(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[int] = []

    @contextmanager
    def nodes(*_: object) -> Iterator[list[Node]]:
        starts.append(1)
        if len(starts) == 9:
            raise RayFailedError("Ray did not start")
        yield [Node("", 1, 0)]

    def lost(*_: object) -> None:
        raise RayLostError("lost")

    monkeypatch.setattr("diorama.render.run.batch.ray_nodes", nodes)
    monkeypatch.setattr(RenderLoop, "go", lost)
    found = farm.run(farm.write("a"), code=5)
    assert (found["stopped"], found["exit_code"], found["left"], len(starts)) == ("ray", 5, 1, 4)
    assert found["stderr"].count("error: lost") == 1 and "Traceback" not in found["stderr"]
    assert farm.run(farm.write("a"), "--address", "auto", code=5)["left"] == 1 and len(starts) == 5
    starts += [1, 1, 1]
    found = farm.run(farm.write("a"), code=5)
    assert found["exit_code"] == 5 and "error: Ray did not start" in found["stderr"] and len(starts) == 9


@pytest.mark.slow
def test_a_head_that_dies_is_noticed_before_ray_ends_the_process(farm: Farm) -> None:
    specs, log = farm.write(*(f"e{number:03d}" for number in range(150))), farm.folder / "log.jsonl"
    line = [sys.executable, "-c", "from diorama.render.cli.batch import main; main()", specs, "--out", farm.store]
    options = ["--renderer", "tests.render.run.renderers:Slow", "--size", "32x24", "--workers", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [*line, *options, "--json-log", str(log)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 200
        while not log.exists() or '"episode-done"' not in log.read_text():
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        (head,) = [pid for pid in children_of(process.pid) if "gcs_server" in Path(f"/proc/{pid}/cmdline").read_text()]
        os.kill(head, signal.SIGKILL)
        _, text = process.communicate(timeout=200)
    assert process.returncode == 0 and "has not answered" in text and "Traceback" not in text, text
    assert len(farm.stored()) == 150


@pytest.mark.slow
def test_the_run_after_a_killed_one_leaves_nothing(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> None:
    specs, log = farm.write("a", "b", "hang-1"), farm.folder / "log.jsonl"
    line = [sys.executable, "-c", "from diorama.render.cli.batch import main; main()"]
    options = ["--renderer", "tests.render.run.renderers:CrashesAlways", "--size", "32x24", "--workers", "1"]
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as folder:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": folder}
        command = [*line, specs, "--out", farm.store, *options, "--json-log", str(log)]
        with subprocess.Popen(command, env=environment) as process:
            deadline = time.monotonic() + 200
            while not log.exists() or '"episode-done"' not in log.read_text():
                assert time.monotonic() < deadline and process.poll() is None
                time.sleep(0.05)
            process.kill()
        assert {path.name.partition("-")[0] for path in Path(folder).iterdir()} == {"ray", "diorama"}
        again = [*line, farm.write("a", "b"), "--out", farm.store, *options, "--replace", "--profile", "draft"]
        subprocess.run(again, env=environment, check=True, timeout=200)
        assert list(Path(folder).iterdir()) == []


def test_a_shell_left_over_from_a_job_is_told_so(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    monkeypatch.setenv("SLURM_JOB_END_TIME", "1000")
    with pytest.raises(UsageError, match=r"which is over: .*unset SLURM_JOB_ID"):
        run_batch(Batch(SpecSource([farm.write("a")]), farm.store, RunOptions(renderer="fake")))
    assert not Path(farm.store).exists()


@pytest.mark.slow
def test_what_is_in_flight_at_the_end_is_given_up(farm: Farm) -> None:
    specs = farm.write("a", "hang-1", "hang-2")
    start = time.time()
    found = farm.run(specs, "--until", str(int(start) + 30), "--workers", "1", renderer="CrashesAlways", code=75)
    assert found["rendered"] + found["left"] == 3 and found["left"] >= 2
    assert time.time() - start < 120


@pytest.mark.slow
def test_sigusr1_commits_what_is_finished(farm: Farm) -> None:
    specs = farm.write(*(f"e{number:03d}" for number in range(300)))
    line = [sys.executable, "-c", "from diorama.render.cli.batch import main; main()", specs, "--out", farm.store]
    options = ["--renderer", "tests.render.run.renderers:Slow", "--size", "32x24", "--workers", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([*line, *options], env=environment, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 200
        while not (Path(farm.store).exists() and farm.stored()) and time.monotonic() < deadline:
            time.sleep(0.3)
        process.send_signal(signal.SIGUSR1)
        out, _ = process.communicate(timeout=240)
    assert process.returncode == 75, out
    assert f"rendered {len(farm.stored())} episodes" in out and "left; run the same command again" in out
