"""A child process that renders for threads and forks, where Blender would crash or hang.

Blender works in one thread, and neither in a fork nor beside a thread that ends with the interpreter. So calls from
other threads than the main one, or after a fork of a process with Blender, go to a process of their own. It is started
with the first such call, ends with this process, and is started again if it dies.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from logging.handlers import QueueHandler
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from diorama.render.uses.rerender.separate_process import paths_without_blender, send_answer
from diorama.scene_specs.errors import RenderError

_Result = TypeVar("_Result")
# An idle process ends at once; one that renders is not waited for longer.
_END_SECONDS = 2.0


class _Child:
    def __init__(self, forked: bool = False) -> None:
        """Start nothing yet.

        Args:
            forked: whether this process is a fork of one with Blender.
        """
        self.forked = forked
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def call(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            assert self._connection is not None and self._process is not None
            folder = str(Path.cwd())
            try:
                self._connection.send((function, arguments, {**os.environ}, folder))
                while isinstance(answer := self._connection.recv(), logging.LogRecord):
                    logging.getLogger(answer.name).handle(answer)
            except (EOFError, OSError):
                self._process.kill()
                code = self._process.wait()
                message = f"rendering ended its process with exit code {code}; the next call starts it again"
                raise RenderError(message) from None
            except BaseException:
                # The answer would be that of the next call.
                self._process.kill()
                self.end()
                raise
        if isinstance(answer, Exception):
            raise answer
        result: _Result = answer
        return result

    def _start(self) -> None:
        self.end()
        ours, theirs = socket.socketpair()
        # Not multiprocessing, which would run the caller's script again.
        code = f"import sys; sys.path[:] = {paths_without_blender(sys.path)!r}; "
        code += f"from {__name__} import serve; serve({theirs.fileno()})"
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )
        self._connection = Connection(ours.detach())

    def end(self) -> None:
        """End the process."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


_child = _Child()


def _after_fork() -> None:
    global _child
    # That of the parent stays the parent's; its lock may be held.
    if _child._connection is not None:
        _child._connection.close()
    _child = _Child(forked=_child.forked or "bpy" in sys.modules)


os.register_at_fork(after_in_child=_after_fork)
atexit.register(lambda: _child.end())


def may_render_here() -> bool:
    """Whether Blender can work in this thread of this process."""
    return threading.current_thread() is threading.main_thread() and not _child.forked


def call_in_child(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call a function, importable by its name, in the child process; calls of several threads wait for each other.

    Raises:
        RenderError: the process died.
        DioramaError: what the function raises.
    """
    return _child.call(function, *arguments)


def _call_as_caller(
    function: Callable[..., Any], arguments: tuple[Any, ...], environment: dict[str, str], folder: str
) -> Any:
    """Call a function with the environment and in the folder of the calling process."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    return function(*arguments)


def serve(descriptor: int) -> None:
    """Answer calls until the other end is closed, which it also is if the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(descriptor)
    queue: Any = SimpleNamespace(put_nowait=connection.send)
    logging.basicConfig(handlers=[QueueHandler(queue)])
    try:
        while True:
            send_answer(connection.send, _call_as_caller, *connection.recv())
    except (EOFError, OSError):
        # Blender may hang when it exits.
        os._exit(0)
