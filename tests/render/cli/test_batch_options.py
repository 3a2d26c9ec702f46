"""Options of `render-batch`."""

from __future__ import annotations

import pytest

from diorama.render.cli.batch import parse_memory
from diorama.scene_specs.errors import UsageError


def test_memory_is_written_as_people_do() -> None:
    assert parse_memory("800MB") == 800 * 2**20
    assert parse_memory("1.5 GiB") == 3 * 2**29
    assert parse_memory("4g") == 4 * 2**30
    assert parse_memory("1000") == 1000
    for wrong in ("", "GB", "-1GB", "4 apples", "1e9", "0", "0.0GB", "0.5", "9" * 400, "9" * 300 + "T"):
        with pytest.raises(UsageError, match="memory"):
            parse_memory(wrong)
