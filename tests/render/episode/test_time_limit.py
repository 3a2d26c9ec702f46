"""The time limit of one episode, also in a process that has imported Blender."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import pytest

from render.episode.time_limit import run_within
from render.model.errors import RenderError


def _path() -> list[str]:
    return list(sys.path)


def test_the_limit_holds_where_blender_was_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    added = "/nowhere/bpy/4.5/scripts/modules"
    monkeypatch.setitem(sys.modules, "bpy", SimpleNamespace(__file__="/nowhere/bpy/__init__.so"))
    monkeypatch.syspath_prepend(added)
    assert added not in run_within(60, "episode a", _path)
    assert added in sys.path
    with pytest.raises(RenderError, match=r"episode a: rendering took longer than 0\.5 s"):
        run_within(0.5, "episode a", time.sleep, 60)
