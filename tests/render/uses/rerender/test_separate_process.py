"""The time limit of a separate process, also where this one has imported Blender."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from diorama.render.uses.rerender.separate_process import run_within
from diorama.scene_specs.errors import RenderError


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


def test_a_limit_may_be_longer_than_any_timer() -> None:
    assert run_within(1e18, "episode a", len, "abc") == 3


def _tell_and_wait(fifo: str) -> None:
    with Path(fifo).open("w") as stream:
        stream.write("up")
        stream.flush()
        time.sleep(240)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_the_process_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    call = f"t.run_within(240, 'episode a', t._tell_and_wait, {fifo!r})"
    command = [sys.executable, "-c", f"import {__name__} as t; {call}"]
    told = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}) as parent:
        assert select.select([told], [], [], 200)[0] and os.read(told, 9) == b"up"
        parent.terminate()
    # It has its end open as long as it lives.
    assert select.select([told], [], [], 200)[0] and os.read(told, 9) == b""
    os.close(told)
