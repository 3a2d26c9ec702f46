"""Starting and finding Ray, without a running one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
import ray

from render.model.errors import DeviceError, RenderError
from render.run.local_ray import local_ray, ray_nodes
from tests.render.run.conftest import Farm


def test_a_ray_that_does_not_start_is_reported_whatever_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", fail)
    monkeypatch.setattr("render.run.local_ray._LONGEST_FOLDER", 1000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(RenderError, match="Ray did not start on this machine: RuntimeError") as raised, local_ray():
        pass
    # Its logs stay, and the message names them.
    (kept,) = tmp_path.iterdir()
    assert f"{kept}/r/session_latest/logs" in str(raised.value)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(RenderError, match=r"No such file.*none.*Set TMPDIR"), local_ray():
        pass
    with pytest.raises(DeviceError, match=r"no Ray cluster answers there: RuntimeError\."), ray_nodes("far"):
        pass


SEVERAL = """
import json, os, sys
import ray
from ray._private.node import Node
from render.run.local_ray import local_ray

parts = (Node.start_raylet, Node.start_monitor, Node.start_api_server)
TEMPORARY = os.environ["TMPDIR"]
print(json.dumps(os.listdir(TEMPORARY)))
for error in (None, ValueError, KeyboardInterrupt):
    before = dict(os.environ)
    try:
        with local_ray():
            token = os.environ["RAY_AUTH_TOKEN"]
            lines = [open(f"/proc/{pid}/cmdline").read() for pid in os.listdir("/proc") if pid.isdigit()]
            (folder,) = [name for name in os.listdir(TEMPORARY) if name.startswith("ray-")]
            used = ray.get(ray.remote(lambda: __import__("tempfile").gettempdir()).remote())
            assert used == os.path.join(TEMPORARY, folder, "t"), used
            answer = ray.get(ray.remote(lambda: 7).remote())
            unused = [line for line in lines if folder in line and ("monitor.py" in line or "dashboard.py" in line)]
            print(json.dumps([answer, len(token), any(token in line for line in lines), len(unused)]))
            if error:
                raise error
    except (ValueError, KeyboardInterrupt):
        pass
    assert {name for name in os.environ if "AUTH" in name} == {name for name in before if "AUTH" in name}
assert parts == (Node.start_raylet, Node.start_monitor, Node.start_api_server)
print(json.dumps(os.listdir(TEMPORARY)))
"""


def test_an_unreachable_cluster_is_one_line_within_seconds(farm: Farm) -> None:
    with socket.socket() as taken:  # bound but not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        start = time.monotonic()
        found = farm.run(farm.write("a"), "--address", address, code=3)
    (line,) = found["stderr"].splitlines()
    assert f"error: --address {address}: no Ray cluster answers there: [Errno 111] Connection refused. Check" in line
    assert time.monotonic() - start < 30


def test_ray_starts_and_ends_repeatedly_and_leaves_nothing() -> None:
    """Also where the home folder has a token of Ray's, and after errors and Ctrl-C."""
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as folder:
        (Path(folder) / ".ray").mkdir()
        (Path(folder) / ".ray" / "auth_token").write_text("f" * 64)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SEVERAL],
            env={**os.environ, "HOME": folder, "TMPDIR": folder, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, timeout=200, check=False, cwd="/",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        first, *runs, last = (json.loads(line) for line in done.stdout.splitlines())
        assert runs == [[7, 64, False, 0]] * 3
        assert first == last == [".ray"]
        assert (Path(folder) / ".ray" / "auth_token").read_text() == "f" * 64
