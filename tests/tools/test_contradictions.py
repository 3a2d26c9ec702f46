"""`python -m tools contradictions`: a small version of the proof, and that it counts what passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import contradictions
from tools.__main__ import main


@pytest.mark.parametrize("name", contradictions.KINDS)
def test_invented_contradictions_are_refused_and_clean_items_are_not(name: str, tmp_path: Path) -> None:
    row = contradictions.count(name, tmp_path, invented=10, clean=10, seed=7)
    assert row == (name, 10, 10, 10, 0, "")


def test_what_passes_and_what_is_clean_and_refused_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = contradictions.KINDS["icca"]
    for read, expected in ((lambda _: "", "| icca | 3 | 0 | 2 | 0 |"), (lambda _: "no", "| icca | 3 | 3 | 2 | 2 |")):
        monkeypatch.setitem(contradictions.KINDS, "icca", kind._replace(read=read))
        assert main(["contradictions", "icca", "--invented", "3", "--clean", "2"]) == 1
        assert expected in capsys.readouterr().out
