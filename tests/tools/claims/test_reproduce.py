"""`python -m tools reproduce`: figures of hand-made files, and a reason where there is none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools.__main__ import main
from tools.claims import reproduce

ROOT = Path(__file__).resolve().parents[3]


def described(*texts: str) -> dict[str, Any]:
    """Descriptions of one tangram, each of the same two parts."""
    part = {str(piece): "head" if piece < 3 else "body" for piece in range(1, 8)}
    return {"annotations": [{"whole": {"wholeAnnotation": text}, "part": part} for text in texts]}


def theirs(benchmark: str, row: int, checkout: Path) -> str:
    """A figure from the files of a checkout."""
    compute = reproduce.FIGURES[benchmark][row].theirs
    assert not isinstance(compute, str)
    return compute(checkout)


@pytest.mark.parametrize(
    ("texts", "figures"),
    [(("a bird", "the birds"), "0.000, 0.000, 7.000"), (("cat", "dog"), "1.000, 0.000, 7.000")],
)
def test_naming_is_that_of_the_files(tmp_path: Path, texts: tuple[str, str], figures: str) -> None:
    (tmp_path / "dataset").mkdir()
    (tmp_path / "dataset/dense.json").write_text(json.dumps({"page1-1": described(*texts)}))
    assert theirs("kilogram", 0, tmp_path) == figures


def test_answers_are_counted_and_an_absent_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "data/pos/dataset"
    folder.mkdir(parents=True)
    (folder / "test.json").write_text(
        json.dumps({"questions": [{"answer": answer} for answer in ("yes", "no", "no", "no")]})
    )
    assert theirs("malevic", 4, tmp_path) == "25.0 of 4"
    assert theirs("malevic", 2, tmp_path).startswith("data-hard/pos-hard/annotation/test_annotation.json is absent")


def test_without_checkouts_every_row_has_a_figure_or_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproduce, "ITEMS", 8)
    assert main(["reproduce"]) == 0
    page, stored = capsys.readouterr().out, (ROOT / "docs/reproduce.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    assert len(rows) > 15 and all(cell.strip("| ") for row in rows for cell in row)
    assert page.count("not computed: no checkout was given") == sum(
        not isinstance(figure.theirs, str) for figures in reproduce.FIGURES.values() for figure in figures
    )
    # The page has the same rows, all of them computed.
    assert [row[0] for row in rows] == [line.split(" | ")[0] for line in stored.splitlines() if line.startswith("| ")]
    assert "no checkout" not in stored and len(re.findall(r"^Commit \w{7}\.$", stored, re.MULTILINE)) == 5
