"""The tables of documents that are made from the models."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from tools import docs_tables


def run(write: bool = False) -> int:
    return docs_tables.main(Namespace(write=write))


def test_the_page_is_up_to_date() -> None:
    assert run() == 0, "run `python -m tools docs-tables --write`"
    assert (docs_tables.DOCS / "images/materials.png").is_file()


def test_an_old_page_is_noticed_and_updated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = docs_tables.PAGES["materials"].read_text("utf-8")
    old = tmp_path / "fields.md"
    old.write_text(page.replace("| | `ior` | 1 to 4 | 1.1 |", "| | `ior` | 1 to 4 | 1.5 |"), "utf-8")
    monkeypatch.setitem(docs_tables.PAGES, "materials", old)
    assert run() == 1
    assert "| | `ior` | 1 to 4 | 1.1 |" in capsys.readouterr().out
    assert run(write=True) == 0
    assert old.read_text("utf-8") == page
