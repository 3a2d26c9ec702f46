"""What follows from the options of a run alone."""

from __future__ import annotations

import pytest

from render.model.errors import UsageError
from render.run.limits import timeout_of
from render.run.options import RunOptions, parse_bytes


def test_time_outs_grow_with_the_work() -> None:
    small = timeout_of(RunOptions(), 24, 320, 240, 1)
    assert timeout_of(RunOptions(), 512, 320, 240, 1) > small
    assert timeout_of(RunOptions(), 24, 1280, 960, 1) > small
    assert timeout_of(RunOptions(), 24, 320, 240, 7) > small
    assert timeout_of(RunOptions(timeout=3.0), 24, 320, 240, 2) == 6.0


def test_memory_is_written_as_people_do() -> None:
    assert parse_bytes("800MB") == 800 * 2**20
    assert parse_bytes("1.5 GiB") == 3 * 2**29
    assert parse_bytes("4g") == 4 * 2**30
    assert parse_bytes("1000") == 1000
    for wrong in ("", "GB", "-1GB", "4 apples", "1e9", "0", "0.0GB", "0.5", "9" * 400, "9" * 300 + "T"):
        with pytest.raises(UsageError, match="memory"):
            parse_bytes(wrong)
