"""`--status`, and the file behind it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from diorama.render.cli.batch import main
from diorama.render.run.last_status import is_active, read_status, status_text
from diorama.render.run.status import Status, path_of


def asked(store: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["--status", store])
    return done.exit_code, done.output


def test_a_run_that_is_alive(tmp_path: Path) -> None:
    store = str(tmp_path / "a.lance")
    Status.here(store, total=100, done=20, failed=1, images=140, workers=4, rate=3.5, left=200.0).write()
    code, text = asked(store)
    assert code == 0
    for part in ("20 of 100", "1 failed", "3.50 images/s", "4 workers", "3 min"):
        assert part in text
    assert not list(tmp_path.glob("*.[0-9]*")), "nothing half written is left"


def test_a_run_that_ended_and_one_that_was_killed(tmp_path: Path) -> None:
    store = str(tmp_path / "a.lance")
    assert asked(store)[0] == 1 and "no active or recorded run" in asked(store)[1]
    status = Status.here(store, total=3, done=3, state="ended")
    status.write()
    assert asked(store)[0] == 1 and "ended" in asked(store)[1]
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    status.state, status.pid = "running", process.pid
    status.write()
    assert asked(store)[0] == 1 and "killed or died" in asked(store)[1]


def test_a_number_that_another_process_took_over_is_not_the_run(tmp_path: Path) -> None:
    status = Status.here(str(tmp_path / "a.lance"))
    status.born = "1"
    status.write()
    found = read_status(str(tmp_path / "a.lance"))
    assert found is not None and not is_active(found)


def test_remote_stores_have_theirs_in_the_runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    Status.here("s3://bucket/a.lance", total=7).write()
    assert path_of("s3://bucket/a.lance").parent == tmp_path
    found = read_status("s3://bucket/a.lance")
    assert found is not None and found.total == 7 and is_active(found)
    assert read_status("s3://bucket/b.lance") is None


def test_a_damaged_file_is_no_status(tmp_path: Path) -> None:
    store = str(tmp_path / "a.lance")
    wrong = [{"other": 1}, {"store": 1}, {"store": "a", "total": "x"}, {"store": "a", "done": 10**400}]
    texts = [json.dumps(one) for one in wrong] + ['{"store": "a", "rate": NaN}', '{"store": "a", "written": 1e999}']
    for text in ("", "{", *texts, '"' + "x" * 70_000):
        path_of(store).write_text(text)
        assert read_status(store) is None, text[:80]


def test_what_a_stranger_wrote_into_a_status_does_nothing_to_a_terminal(tmp_path: Path) -> None:
    store = str(tmp_path / "a.lance")
    path_of(store).write_text(json.dumps({"store": "a\x1b]0;x\x07", "state": "running", "total": 2**53, "done": 1}))
    found = read_status(store)
    assert found is not None and "\x1b" not in status_text(found) and "\x07" not in status_text(found)
