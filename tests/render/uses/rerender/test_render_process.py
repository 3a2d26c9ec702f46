"""Rendering from threads and forks: one child process, which ends with its parent and is started again if it dies."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from diorama.render.renderers import make_renderer
from diorama.render.uses.rerender.render_process import call_in_child, may_render_here
from diorama.scene_specs.errors import PluginError, RenderError
from tests.test_docs import ROOT, blocks_of

SPEC = '{"version": 1, "id": "demo/%d", "seed": %d, "frames": [{"random_objects": {"count": 2}}]}'


def in_thread(call: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_all_threads_have_one_process_that_is_started_again_when_it_dies() -> None:
    assert may_render_here() and not in_thread(may_render_here)
    with ThreadPoolExecutor(4) as pool:
        (child,) = {*pool.map(lambda _: call_in_child(os.getpid), range(12))}
    assert child != os.getpid() and alive(child)
    os.kill(child, signal.SIGKILL)
    while alive(child):
        time.sleep(0.01)
    other = call_in_child(os.getpid)
    assert other not in (child, os.getpid())
    with pytest.raises(RenderError, match="exit code 3; the next call starts it again"):
        call_in_child(os._exit, 3)
    assert call_in_child(os.getpid) != other


def test_a_call_that_cannot_be_sent_is_an_error_and_the_next_one_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A folder that is gone hung every thread; arguments that can't be pickled failed the next call."""
    assert call_in_child(divmod, 7, 2) == (3, 1)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(FileNotFoundError):
        call_in_child(divmod, 7, 2)
    monkeypatch.chdir(tmp_path)
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        call_in_child(divmod, lambda: None, 2)
    assert call_in_child(divmod, 7, 2) == (3, 1)


def test_a_result_that_cannot_be_sent_is_an_error_of_a_process_that_lives_on() -> None:
    child = call_in_child(os.getpid)
    with pytest.raises(RenderError, match="cannot pickle"):
        call_in_child(threading.Lock)
    assert call_in_child(os.getpid) == child


def test_errors_and_the_environment_are_those_of_the_caller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="quick"):
        call_in_child(make_renderer, "quick")
    with pytest.raises(RenderError, match="ZeroDivisionError"):
        call_in_child(divmod, 1, 0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIORAMA_SHAPENET", "models")
    assert call_in_child(os.getenv, "DIORAMA_SHAPENET") == "models"
    assert call_in_child(os.getcwd) == str(tmp_path)


def run_script(text: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), 9)"])
def test_it_ends_with_its_parent(end: str) -> None:
    script = f"""
import os
from diorama.render.uses.rerender.render_process import call_in_child
print(call_in_child(os.getpid), flush=True)
{end}"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == (-9 if end else 0), done.stderr
    until = time.monotonic() + 20
    while alive(int(done.stdout)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(int(done.stdout))


@pytest.mark.slow
def test_a_render_in_the_main_thread_in_a_thread_and_in_a_fork() -> None:
    """Without the process, the thread crashed and the fork hung."""
    digests = run_script(f"""
import hashlib, os, threading
import diorama
def render():
    scene = diorama.compile_spec({SPEC % (1, 1)!r}, profile="draft", size=(64, 48))
    print(hashlib.sha256(diorama.render_scene(scene)[0].passes.color.tobytes()).hexdigest(), flush=True)
render()
threads = [threading.Thread(target=render) for _ in range(2)]
[one.start() for one in threads], [one.join() for one in threads]
if (pid := os.fork()) == 0:
    render()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
""")
    assert len(digests) == 4 and len({*digests}) == 1


@pytest.mark.slow
def test_the_server_of_the_page_renders_for_four_threads(tmp_path: Path) -> None:
    """50 requests: the images are those of serial ones, the exit code is 0, and no process is left."""
    (program,) = (block.text for block in blocks_of(ROOT / "docs/python.md") if "ThreadingHTTPServer" in block.text)
    ready = "print(server.server_port, flush=True); server.serve_forever()"
    (tmp_path / "server.py").write_text(program.replace("8000", "0").replace("server.serve_forever()", ready))
    command = [sys.executable, "server.py"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        address = f"http://127.0.0.1:{int(server.stdout.readline())}/"

        def image(seed: int) -> bytes:
            with urlopen(address, data=(SPEC % (seed, seed)).encode(), timeout=300) as reply:
                png: bytes = reply.read()
            return png

        serial = [image(seed) for seed in range(5)]
        assert len({*serial}) == 5 and all(png.startswith(b"\x89PNG") for png in serial)
        children = [int(pid) for task in Path(f"/proc/{server.pid}/task").iterdir()
                    for pid in (task / "children").read_text().split()]  # fmt: skip
        assert len(children) == 1
        with ThreadPoolExecutor(4) as pool:
            for number, png in enumerate(pool.map(image, [k % 5 for k in range(50)])):
                assert png == serial[number % 5]
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0
    assert not any(map(alive, children))
    assert threading.active_count() < 50
