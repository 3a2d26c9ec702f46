"""Where files that live for moments are."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from diorama.render.machine.scratch import SCRATCH, find_abandoned, owned_folder, scratch_folder


def test_scratch_is_where_the_job_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv(SCRATCH, raising=False)
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert scratch_folder().parent == tmp_path
    monkeypatch.setenv(SCRATCH, str(tmp_path / "run"))
    assert scratch_folder().parent == tmp_path / "run"
    monkeypatch.delenv("TMPDIR")
    monkeypatch.delenv(SCRATCH)
    monkeypatch.setattr("diorama.render.machine.scratch._SHARED", str(tmp_path / "run"))
    assert scratch_folder().parent == tmp_path / "run"


def test_only_scratch_that_nobody_uses_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, age in (("diorama-old", 90_000), ("diorama-new", 60), ("other", 90_000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "view.exr").touch()
        os.utime(tmp_path / name, (time.time() - age, time.time() - age))
    (tmp_path / "diorama-link").symlink_to(tmp_path / "other")
    os.utime(tmp_path / "diorama-link", (0, 0), follow_symlinks=False)
    for name in (SCRATCH, "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("diorama.render.machine.scratch._SHARED", str(tmp_path))
    made = scratch_folder()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["diorama-link", "diorama-new", "other", made.name]
    )
    assert (tmp_path / "other" / "view.exr").exists()


def test_what_a_killed_process_leaves_is_swept_and_nothing_of_a_live_one(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from diorama.render.machine.scratch import owned_folder
print(owned_folder(Path({str(tmp_path)!r}), "diorama-"), flush=True)
input()"""
    mine = owned_folder(tmp_path, "diorama-")
    os.utime(mine, (0, 0))
    line = [sys.executable, "-c", code]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        theirs = Path(process.stdout.readline().strip())
        assert theirs.parent == tmp_path and find_abandoned(tmp_path, "diorama-", 1.0) == []
        process.kill()
        process.wait()
    assert find_abandoned(tmp_path, "diorama-") == [theirs] and find_abandoned(tmp_path, "ray-") == []
