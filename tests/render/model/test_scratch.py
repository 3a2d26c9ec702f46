"""Where files that live for moments are."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from diorama.render.model.scratch import SCRATCH, scratch_folder


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
    monkeypatch.setattr("diorama.render.model.scratch._SHARED", str(tmp_path / "run"))
    assert scratch_folder().parent == tmp_path / "run"
