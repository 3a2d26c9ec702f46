"""The notebooks of the documentation run, and only read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from tests.render.store.rendered import rendered
from tests.test_docs import ROOT

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_and_changes_nothing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    LanceStore.create(str(tmp_path / "store.lance"), fsync=False).put([rendered("demo/a"), rendered("demo/b")])
    replies = [{"id": "demo/a#0", "reply": "yes"}, {"id": "demo/b#0", "reply": "Answer: no"}]
    (tmp_path / "replies.jsonl").write_text("".join(f"{json.dumps(reply)}\n" for reply in replies))
    for name, path in (
        ("STORE", "store.lance"),
        ("REPLIES", "replies.jsonl"),
        ("PAGE", str(ROOT / "docs/reproduce.md")),
    ):
        monkeypatch.setenv(name, path)
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    cells = json.loads(file.read_text("utf-8"))["cells"]
    assert all(not cell.get("outputs") for cell in cells)
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), file.name, "exec"), names)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert capsys.readouterr().out
