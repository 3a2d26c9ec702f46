"""`render-store compact --drop-older-than` rejects ages that are not a number of days."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from diorama.render.cli.store import main
from diorama.render.store.lance.lance_store import LanceStore


@pytest.mark.parametrize(("days", "code"), [("nan", 2), ("inf", 2), ("1e10", 2), ("36501", 2), ("36500", 0)])
def test_how_old_dropped_versions_are_is_a_number_of_days(tmp_path: Path, days: str, code: int) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    done = CliRunner().invoke(main, ["compact", store.url, "--drop-older-than", days])
    assert done.exit_code == code, done.output
    assert ("expected a number" in done.output) == (code == 2)
