from __future__ import annotations

import pytest

from diorama.scene_specs.benchmarks.mewl.generate import TASKS
from tools.mewl_layout import lay_out


@pytest.mark.parametrize("task", TASKS)
def test_every_frame_of_a_piece_is_laid_out(task: str) -> None:
    name, sums, failures = lay_out((0, "test", task, 3, 5))
    assert name == task
    assert failures == []
    assert (sums["episodes"], sums["frames"]) == (2, 14)
