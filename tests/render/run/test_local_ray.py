"""Starting and finding Ray, without a running one."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
import ray
from ray._private import ray_constants
from ray._private import utils as ray_utils
from ray._private import worker as ray_worker

from diorama.render.machine.scratch import SCRATCH
from diorama.render.run.local_ray import _starting_workers, local_ray, ray_nodes
from diorama.scene_specs.errors import DeviceError, RenderError
from tests.marks import slow
from tests.render.run.conftest import Farm


def test_a_ray_that_does_not_start_is_reported_whatever_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def fail(**_: Any) -> None:
        tries.append(1)
        raise RuntimeError("")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", fail)
    monkeypatch.setattr("diorama.render.run.local_ray._LONGEST_FOLDER", 1000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(RenderError, match="Ray did not start on this machine: RuntimeError") as raised, local_ray():
        pass
    assert len(tries) == 2 and raised.value.exit_code == 5
    # Its logs stay, and the message names them.
    (kept,) = tmp_path.iterdir()
    assert f"{kept}/r/session_latest/logs" in str(raised.value)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(RenderError, match=r"No such file.*none.*Set TMPDIR"), local_ray():
        pass
    with pytest.raises(DeviceError, match=r"no Ray cluster answers there: RuntimeError\."), ray_nodes("far"):
        pass


HEADLESS = """
import signal, sys
import ray
from ray._private import services
from diorama.render.cli.batch import main

right, left = services.start_raylet, [int(sys.argv.pop(1))]

def started(*args, **options):
    # As if memory had run out just now.
    found = right(*args, **options)
    if left[0]:
        left[0] -= 1
        head.process.kill()
        head.process.wait()
    return found

def watched(*args, **options):
    global head
    head = begun(*args, **options)
    return head

begun = services.start_gcs_server
services.start_raylet, services.start_gcs_server = started, watched
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("deaths", "code"), [(1, 0), (2, 5)])
def test_a_head_that_dies_while_ray_starts_costs_one_start(farm: Farm, deaths: int, code: int) -> None:
    options = ["--renderer", "fake", "--size", "32x24", "--json", "--out", farm.store]
    done = subprocess.run(
        [sys.executable, "-c", HEADLESS, str(deaths), farm.write("a"), *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert done.stderr.count("its head (gcs_server) ended with -9; trying once more") == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == (code > 0) and json.loads(done.stdout)["exit_code"] == code
    for folder in re.findall(r"logs in (/.*)/r/session_latest", done.stderr):
        shutil.rmtree(folder)


SEVERAL = """
import json, os, sys
from contextlib import suppress
import ray
from diorama.render.run.local_ray import local_ray

parts = ray._private.node.Node
TEMPORARY = os.environ["TMPDIR"]
print(json.dumps(os.listdir(TEMPORARY)))
for error in (None, ValueError, KeyboardInterrupt):
    before = dict(os.environ)
    try:
        with local_ray():
            token = os.environ["RAY_AUTH_TOKEN"]
            lines = []
            for pid in os.listdir("/proc"):
                with suppress(OSError):  # some end meanwhile
                    lines.append(open(f"/proc/{pid}/cmdline").read())
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
assert parts is ray._private.node.Node
print(json.dumps(os.listdir(TEMPORARY)))
"""


def test_an_unreachable_cluster_is_one_line_within_seconds(farm: Farm) -> None:
    with socket.socket() as taken:  # bound but not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        start = time.monotonic()
        found = farm.run(farm.write("a"), "--address", address, code=3)
    (line,) = found["stderr"].splitlines()
    assert line.startswith("error: --address ") and address in line and "Connection refused" in line
    assert time.monotonic() - start < 30


@pytest.mark.slow
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


def listening(pids: list[int]) -> set[str]:
    """The addresses on which processes accept TCP connections, as the kernel writes them."""
    sockets: dict[str, str] = {}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                # IPv4 addresses of IPv6 sockets are at the end.
                sockets[f"socket:[{fields[9]}]"] = fields[1].partition(":")[0][-8:]
    links = [str(path.readlink()) for pid in pids for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()]
    return {sockets[link] for link in links if link in sockets}


def catches_sigterm() -> bool:
    """Whether this process has a handler for SIGTERM, in Python or in C++."""
    caught = re.search(r"SigCgt:\s*(\w+)", Path("/proc/self/status").read_text())
    assert caught is not None
    return bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.slow
def test_the_names_that_are_set_inside_ray_still_have_their_effect(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """If this fails with another release of Ray, it no longer reads a name that `local_ray` sets."""
    caplog.set_level(logging.DEBUG, "diorama")
    # The measurement of coverage handles it, too.
    before, caught = signal.getsignal(signal.SIGTERM), catches_sigterm()
    with local_ray():
        node: Any = ray_worker._global_node
        # No autoscaler, dashboard or collection of logs.
        assert set(node.all_processes) == {"gcs_server", "raylet"}
        pids = [started.process.pid for part in node.all_processes.values() for started in part]
        assert listening([*pids, os.getpid()]) == {"0100007F"}  # 127.0.0.1
        # Neither Python nor C++ handles SIGTERM for Ray.
        assert signal.getsignal(signal.SIGTERM) is before
        assert catches_sigterm() == caught
        ray_utils.publish_error_to_driver("kind", "a worker died", gcs_client=node.get_gcs_client())
        end = time.monotonic() + 30
        while "a worker died" not in caplog.text and time.monotonic() < end:
            time.sleep(0.1)
    assert "a worker died" in caplog.text and "a worker died" not in capfd.readouterr().out


def test_what_ray_is_told_ends_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The logger, output, variables and handlers of a Ray that the user starts afterwards are its own."""

    def state() -> list[object]:
        disabled = ray_constants.RAY_DISABLE_FAILURE_SIGNAL_HANDLER
        return [logging.getLogger("ray").level, ray_worker.print_to_stdstream, dict(os.environ), disabled]

    def nothing(**_: Any) -> None:
        assert logging.getLogger("ray").level == logging.ERROR
        raise RuntimeError("told")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", nothing)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    before = state()
    with pytest.raises(RenderError, match="told") as raised, local_ray():
        pass
    shutil.rmtree(str(raised.value).split("the logs in ")[1].split("/r/session")[0])
    assert state() == before
    with pytest.raises(DeviceError, match="told"), ray_nodes("far"):
        pass
    assert state() == before


SIGNALED = """
import os, signal, sys, threading, time
import diorama.render.run.stopping
import ray
from ray._private import services
from diorama.render.cli.batch import main

def signaled():
    os.kill(os.getpid(), signal.SIGTERM)

module, name, after = {
    "begin": (ray, "init", 0.0),
    "daemon": (services, "start_gcs_server", 0.0),
    "connect": (ray._private.worker, "connect", 0.0),
    "inside": (ray._private.worker, "connect", 0.15),
    "late": (ray._private.worker, "connect", 0.4),
    "unnoticed": (ray._private.worker, "connect", 0.0),
}[moment := sys.argv.pop(1)]
if moment == "unnoticed":
    # As on a busy machine: Ray is interrupted while it connects, after which its C++ part can't be taken down.
    diorama.render.run.stopping._NOTICE_SECONDS = 0.05
right = getattr(module, name)

def called(*args, **more):
    threading.Timer(after, signaled).start() if after else signaled()
    return right(*args, **more)

setattr(module, name, called)
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["begin", "unnoticed", *slow("daemon", "connect", "inside", "late")])
def test_sigterm_while_ray_starts_ends_the_run_cleanly(farm: Farm, moment: str) -> None:
    specs = farm.write("a", "b")
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as folder:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SIGNALED, moment, specs, "--renderer", "fake", "--out", farm.store],
            env={**os.environ, "TMPDIR": folder, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == 130, done.stderr
        assert not list(Path(folder).iterdir())


@pytest.mark.slow
def test_scratch_folders_of_a_killed_worker_go_with_the_run() -> None:
    @ray.remote(max_retries=0)
    def killed() -> None:
        from diorama.render.machine.scratch import scratch_folder

        scratch_folder()
        os.kill(os.getpid(), signal.SIGKILL)

    with local_ray():
        folder = Path(os.environ[SCRATCH])
        with pytest.raises(ray.exceptions.WorkerCrashedError):
            ray.get(killed.remote())
        assert len(list(folder.glob("diorama-*"))) == 1
    assert not folder.exists() and SCRATCH not in os.environ


@pytest.mark.slow
def test_workers_that_start_as_their_raylet_is_killed_end_with_the_run() -> None:
    """Ray kills a raylet that takes more than a second to end."""

    class Needless:
        pass

    actor: Any = ray.remote(num_cpus=0)(Needless)
    with local_ray():
        node: Any = ray_worker._global_node
        folder = Path(os.environ["TMPDIR"]).parent
        actors, end = [], time.monotonic() + 200
        while not _starting_workers(folder):
            assert time.monotonic() < end
            actors.append(actor.remote())
            time.sleep(0.1)
        node.all_processes["raylet"][0].process.kill()
    assert not _starting_workers(folder) and not folder.exists()
