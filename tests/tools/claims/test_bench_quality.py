"""The measure from end to end, with tiny renders: references, profiles, the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.__main__ import main as run_tool
from tools.claims.quality.references import scenes

SMALL = ["--limit", "1", "--size", "32x24"]


def call(folder: Path, *arguments: str) -> int:
    places = ["--references", str(folder / "references"), "--results", str(folder / "results")]
    return run_tool(["bench-quality", *arguments, *places])


@pytest.mark.slow
def test_references_candidates_and_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["run", "standard", "draft", *SMALL]
    # Without references it measures all the same, and says so.
    assert call(tmp_path, *asked) == 0
    assert capsys.readouterr().out == ""
    assert call(tmp_path, "references", *SMALL, "--samples", "64") == 0
    (facts,) = (json.loads(path.read_text()) for path in (tmp_path / "references").glob("*.json"))
    assert facts["samples"] == 64 and 25 < facts["own_psnr"] < 60
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert call(tmp_path, *asked, "--plot", str(tmp_path / "p.svg")) == 0
    assert call(tmp_path, "references", *SMALL, "--samples", "64") == 0
    assert all(path.stat().st_mtime_ns == then for path, then in written.items()), "nothing is measured twice"
    text = capsys.readouterr().out
    assert "Boxes and masks: the same in 2 candidates" in text
    assert (tmp_path / "p.svg").read_text().count("<circle") == 2
    assert call(tmp_path, "report", "--json") == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    standard, draft = (data["candidates"][name][scenes(1)[0].name] for name in ("standard", "draft"))
    assert standard["psnr"] > draft["psnr"]
    # Sampling of so small an image can take less than the hundredth of a second that Cycles reports.
    assert standard["seconds"]["sampling"] >= 0 and standard["cpu"] > 0


def test_wrong_options_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(tmp_path, "run", "standrad") == 2
    assert "did you mean 'standard'" in capsys.readouterr().err
    assert call(tmp_path, "references", "--samples", "9") == 2
    assert call(tmp_path, "report") == 2
    (tmp_path / "references").mkdir()
    facts = {"scene": scenes(1)[0].digest(), "size": [320, 240], "samples": 1, "own_psnr": 1.0, "settings": {}}
    (tmp_path / "references" / f"{scenes(1)[0].name}.json").write_text(json.dumps(facts))
    (tmp_path / "references" / f"{scenes(1)[0].name}.png").touch()
    assert call(tmp_path, "run", "draft", *SMALL) == 2
    assert "[320, 240] pixels, asked for [32, 24]" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stopped:
        call(tmp_path, "run", "draft", "--size", "big")
    assert stopped.value.code == 2
    assert not (tmp_path / "results").exists()
