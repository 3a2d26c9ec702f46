"""`python -m tools tampering`: a small run, and that it counts what passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import tampering
from tools.__main__ import main


@pytest.mark.slow
def test_changes_are_noticed_and_unchanged_places_are_not_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tampering", "iwisdm", "--changes", "4", "--seed", "5", "--keep", str(tmp_path)]) == 0
    output = capsys.readouterr()
    assert "refused unchanged" not in output.err
    assert "| iwisdm | all |  |  | 16 | 16 |" in output.out
    # What nobody looks at is a miss, and named.
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patch:
        patch.setattr(tampering, "commands", lambda *_: ())
        assert main(["tampering", "iwisdm", "--changes", "2", "--places", "specs", "--keep", str(tmp_path)]) == 1
    assert "| iwisdm | all |  |  | 2 | 0 |" in (said := capsys.readouterr().out)
    assert said.count("\n- iwisdm, specs: ") == 2
