"""A published way that can't be begun ends, with all that it started."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from pathlib import Path

import pytest

from diorama.scene_specs.errors import RenderError
from tests.factories import make_scene
from tools.claims.quality import published
from tools.claims.quality.published import published_renderer


def hang(*_: object) -> None:
    """In place of `prepare`, in the new process."""
    time.sleep(600)


def die(*_: object) -> None:
    """In place of `prepare`, in the new process."""
    os._exit(7)


@pytest.mark.slow
@pytest.mark.parametrize(("work", "patience"), [(hang, 1.0), (die, 600.0)])
def test_a_process_that_hangs_or_dies_at_the_start_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, work: object, patience: float
) -> None:
    monkeypatch.setattr(published, "prepare", work)
    monkeypatch.setattr(published, "_START_S", patience)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(multiprocessing.active_children())
    with pytest.raises(RenderError, match=r"demo/0001.*published renderer"), published_renderer(make_scene()):
        pass
    assert set(multiprocessing.active_children()) <= before
    assert not list(tmp_path.iterdir())
