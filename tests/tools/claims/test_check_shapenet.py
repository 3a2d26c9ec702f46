"""`tools/claims/check_shapenet.py` on a small library with one broken model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scene_specs.shapes.shapenet.trees import Tree, obj
from tools.__main__ import main as run_tool


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    # What the tool sets in the environment is taken back with these.
    for name in ("DIORAMA_SHAPENET", "DIORAMA_SHAPENET_UP", "DIORAMA_SHAPENET_FRONT"):
        monkeypatch.setenv(name, "")
    root = tmp_path / "library"
    Tree(root, obj(), identity="good").write()
    Tree(root, obj(), mtl=None, identity="grey").write()
    Tree(root, obj(), category="my_things", identity="other").write()
    return root


def run(*arguments: object) -> int:
    return run_tool(["check-shapenet", *map(str, arguments)])


def test_every_model_is_read_and_what_is_wrong_is_said(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(library) == 0
    Tree(library, "v 0 0 0\n", identity="broken").write()
    report = tmp_path / "report.json"
    assert run(library, "--json", report) == 1
    said = capsys.readouterr().out
    assert "03001627 chair: 2 read, 1 broken" in said
    assert "1 x is not there" in said
    assert "broken: shapenet:03001627/broken: model" in said
    assert sorted(json.loads(report.read_text())) == ["broken", "notes", "read"]
    assert run(library, "--category", "my_things") == 0
    assert run(library / "gone") == 2
