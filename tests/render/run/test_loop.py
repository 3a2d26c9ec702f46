"""A driver that was busy elsewhere for long takes what its workers have made, and calls none of them hung."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
import ray

from diorama.render.run.local_ray import local_ray
from diorama.render.run.loop import RenderLoop
from tests.render.run.conftest import Farm

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", autouse=True)
def one_ray() -> Iterator[None]:
    """A Ray of this file."""
    with patch.dict(os.environ, PYTHONPATH=str(ROOT)), local_ray():
        yield


@pytest.mark.slow
def test_who_is_ready_is_not_hung(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[int] = []
    right = RenderLoop._fill_workers

    def busy(self: RenderLoop) -> None:
        """As if giving out episodes took hours: by then everybody is ready, and longer than any limit ago."""
        right(self)
        waiting = list(self._pool.waited_for())
        if waiting:
            ray.wait(waiting, num_returns=len(waiting), timeout=240)
        turns.append(len(waiting))
        for slot in self._pool.slots:
            slot.since -= 1e5
            for task in slot.in_flight:
                task.started -= 1e5

    monkeypatch.setattr(RenderLoop, "_fill_workers", busy)
    names = [f"e{k}" for k in range(9)]
    found = farm.run(farm.write(*names), "--device", "cpu", "--workers", "3")
    assert max(turns) == 3, "never were several ready at once: the test tests nothing"
    assert (found["rendered"], found["retried"], found["replaced_why"]) == (9, 0, {})
    assert farm.stored() == names
