"""Progress on a terminal, without one, and with --quiet."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from diorama.render.cli.batch import main
from diorama.render.cli.command import set_up_logging
from diorama.render.run import status
from diorama.render.run.last_status import read_status, status_text
from diorama.render.run.status import Progress
from diorama.render.run.summary import Summary
from tests.render.run.conftest import Farm


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(status, "time", clock)
    return clock


@pytest.fixture(autouse=True)
def levels() -> Iterator[None]:
    set_up_logging()
    yield
    set_up_logging()


def play(clock: Clock) -> list[float | None]:
    """Ten episodes, of which the last five cost three times as much, on one worker; the ETA after each."""
    found, progress = [], Progress(Summary(todo=10), 20.0, dry_run=True)
    clock.now += 7  # Ray starts
    for cost in [1.0] * 5 + [3.0] * 5:
        for second in range(int(4 * cost)):
            progress.tick(1, "running", [(cost, float(second))])
            clock.now += 1
        progress.advance(2, cost, 4 * cost)
        progress.tick(1)
        found.append(progress.status.left)
    progress.close()
    return found


def test_without_a_terminal_a_line_comes_every_30_seconds_and_at_the_end(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    lefts = play(clock)
    assert lefts == [pytest.approx(left) for left in (76, 72, 68, 64, 60, 48, 36, 24, 12, 0)]
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "compiling: 5 of 10 episodes, 0.42 images/s, about 56 s left, 1 worker"
    assert len(lines) == 3
    assert lines[-1] == "compiling: 10 of 10 episodes, 0.25 images/s"


def test_quiet_shows_nothing(clock: Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up_logging(-1)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    play(clock)
    assert not caplog.records and not terminal.getvalue()
    assert logging.getLogger("diorama.render").isEnabledFor(logging.WARNING)


def test_a_terminal_shows_a_bar_with_one_rate(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    play(clock)
    shown = terminal.getvalue()
    assert "5/10 [" in shown and "about 1 min 0 s left, 1 worker" in shown
    assert "images/s" in shown and "ep/s" not in shown and "s/ep" not in shown


def test_the_status_file_has_the_same_estimate(clock: Clock, tmp_path: Path) -> None:
    store = str(tmp_path / "a.lance")
    progress = Progress(Summary(todo=2, store=store), 4.0)
    progress.advance(1, 1.0, 10.0)
    clock.now += 10
    progress.tick(1, "running", [(3.0, 10.0)])
    found = read_status(store)
    assert found is not None and found.left == pytest.approx(20.0)
    progress.close()
    found = read_status(store)
    assert found is not None and found.left is None


def test_a_run_that_stalls_does_not_end_soon(clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = str(tmp_path / "a.lance")
    progress = Progress(Summary(todo=2, store=store), 2.0)
    progress.advance(1, 1.0, 1.0)
    late = ["worker 1 (GPU 1, GPU-abc, node7) has been on episode e1 for 3 min 0 s"]
    for seconds in (31, 62, 180):
        clock.now += seconds
        progress.tick(2, "running", [(1.0, float(seconds))], late if seconds == 180 else [])
    assert len(caplog.records) == 3 and " 0 s left" not in caplog.text
    assert caplog.records[-1].getMessage().endswith(f"2 workers, {late[0]}")
    found = read_status(store)
    assert found is not None and found.left is None
    assert status_text(found).splitlines()[1] == late[0]


def test_quiet_and_the_next_command(farm: Farm) -> None:
    specs = farm.write("a")
    options = [specs, "--renderer", "fake", "--size", "32x24", "--out", farm.store]
    dry = CliRunner().invoke(main, [*options, "--dry-run"])
    assert "would render 1 episode into" in dry.stdout and "estimate: " in dry.stdout and "MiB" in dry.stdout
    assert dry.stderr == "compiling: 1 of 1 episode\n"
    done = CliRunner().invoke(main, [*options, "--quiet"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("rendered 1 episode (1 image)")
    assert done.stdout.endswith(f"next: render-gallery {farm.store} --out gallery\n")
