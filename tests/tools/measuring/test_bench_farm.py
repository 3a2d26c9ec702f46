"""The bench of scheduling runs with and without a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diorama.render.run.local_ray import local_ray
from tools.__main__ import main as run_tool
from tools.measuring import bench_farm


@pytest.mark.slow
@pytest.mark.parametrize(("more", "stored"), [([], None), (["--store"], 10)])
def test_a_few_episodes_are_measured(
    more: list[str],
    stored: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(bench_farm.SECONDS, "0")
    words = ["bench-farm", "--episodes", "10", "--workers", "1", "--seconds", "0", "--folder", str(tmp_path), *more]
    with local_ray():
        assert run_tool(words) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["rendered"], figures["stored"]) == (10, stored)
