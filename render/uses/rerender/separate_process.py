"""Call a function in a separate process, which the system ends at a time limit."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable
from logging.handlers import QueueHandler
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from diorama.scene_specs.errors import DioramaError, RenderError
from diorama.scene_specs.language.registry import plugin_error

_Result = TypeVar("_Result")
# The system's timer takes no more than the seconds that fit into a C long.
_LONGEST_SECONDS = 1e9
# From Linux's sys/prctl.h.
_PR_SET_PDEATHSIG = 1


def run_within(seconds: float, what: str, function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call a function in a new process, and end the process at a time limit.

    Blender may hang in C code that holds the interpreter's lock, where no thread and no signal handler of Python runs,
    or when it exits.

    Args:
        seconds: the limit.
        what: begins the message.
        function: importable by its name.
        *arguments: of the function; they are pickled.

    Returns:
        What the function returns.

    Raises:
        RenderError: the limit was reached, or the process died.
        DioramaError: what the function raises.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    levels = {name: logging.getLogger(name).level for name in ("", "diorama")}
    child = context.Process(target=_send_result, args=(sender, seconds, levels, function, arguments), daemon=True)
    paths = list(sys.path)
    try:
        sys.path[:] = paths_without_blender(paths)
        child.start()
    finally:
        sys.path[:] = paths
    sender.close()
    try:
        while isinstance(answer := receiver.recv(), logging.LogRecord):
            logging.getLogger(answer.name).handle(answer)
    except (EOFError, OSError):
        child.join()
        late = child.exitcode == -signal.SIGALRM
        reason = f"took longer than {seconds:g} s" if late else f"ended its process with exit code {child.exitcode}"
        raise RenderError(f"{what}: rendering {reason}") from None
    finally:
        child.kill()
        child.join()
    if isinstance(answer, Exception):
        raise answer
    result: _Result = answer
    return result


def paths_without_blender(paths: list[str]) -> list[str]:
    """Leave out the folders that `import bpy` adds: a process that took them over would not find Blender."""
    file = getattr(sys.modules.get("bpy"), "__file__", None)
    if file is None:
        return paths
    # bpy replaces itself by .../bpy/<version>/scripts/modules/bpy; all of its folders are below `scripts`.
    scripts = next((folder for folder in Path(file).parents if folder.name == "scripts"), Path(file).parent)
    return [path for path in paths if not Path(path).is_relative_to(scripts)]


def send_answer(send: Callable[[Any], object], function: Callable[..., Any], *arguments: Any) -> None:
    """Send the result of a function to another process, or its error as a DioramaError."""
    try:
        send(function(*arguments))
    except DioramaError as error:
        send(error)
    except Exception as error:
        # It may not survive pickling, and only here is the traceback known.
        unexpected = RenderError(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
        send(plugin_error(error) or unexpected)


def _end_with_parent() -> None:
    """Let Linux kill this process when the thread that started it ends, which a signal may do without any cleanup."""
    parent = multiprocessing.parent_process()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is None or os.getppid() != parent.pid:
        os._exit(1)


def _send_result(
    sender: Connection, seconds: float, levels: dict[str, int], function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    """Call the function; send its log records, and its result or error."""
    # The parent ends this process when it is interrupted. SIGALRM has no handler: the system ends the process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, _LONGEST_SECONDS))
    _end_with_parent()
    queue: Any = SimpleNamespace(put_nowait=sender.send)
    logging.basicConfig(handlers=[QueueHandler(queue)])
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    send_answer(sender.send, function, *arguments)
    # The parent ends this process once it has the result: Blender may hang when it exits.
    signal.pause()
