"""The gallery's bench, as far as its own files go: what it measures needs a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.__main__ import main as run_tool
from tools.measuring import bench_gallery

NAMES = ("bench.lance", "gallery")


def call(monkeypatch: pytest.MonkeyPatch, folder: Path, *options: str) -> int:
    def measure(inside: Path, *_: object) -> Iterator[tuple[str, str]]:
        for name in NAMES:
            (inside / name).mkdir(exist_ok=True)
            (inside / name / "made").touch()
        yield "what", "figure"

    monkeypatch.setattr(bench_gallery, "measure", measure)
    return run_tool(["bench-gallery", "--folder", str(folder), *options])


def test_it_removes_what_it_made_and_keeps_it_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").touch()
    call(monkeypatch, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    call(monkeypatch, tmp_path, "--keep")
    assert sorted(path.name for path in tmp_path.iterdir()) == [*NAMES, "mine"]


def test_playwright_is_looked_for_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_gallery, "find_spec", lambda _name: None)
    assert run_tool(["bench-gallery", "--folder", str(tmp_path), "--episodes", "1"]) == 2
    assert "the package playwright is missing" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_there_already_is_refused_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine").touch()
    assert call(monkeypatch, tmp_path) == 2
    assert f"{name} is there already" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == [tmp_path / name, tmp_path / name / "mine"]
