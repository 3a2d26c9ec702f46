"""The warm process that reads models: `python -m diorama.render.ingest`, started by whoever lacks one.

Each line of its input is a `Reading` as JSON, and each line of its output the answer: `{}`, or an error in one line. It
forks for each model, so that whatever a model does (a crash, an endless loop, gigabytes), this process lives on. It
ends with its input.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from diorama.render.ingest import confinement
from diorama.render.machine.blender_series import require_module
from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.shapes.shapenet.loading import READING, Reading

# Seconds until a model that uses no time, such as one that waits for a pipe, is given up.
_WAIT = 1.5 * confinement.SECONDS
# With 1, models are read also on systems that can't confine what reads them.
_OPTION = "DIORAMA_MODELS_UNCONFINED"
_UNCONFINED = os.environ.get(_OPTION) == "1"
_RAISED = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception)\b")
_FORK = get_context("fork")
_Ingest = Callable[[Reading, Path, int], None]


def _folders_read(root: Path) -> list[Path]:
    import bpy

    libraries = [Path(prefix) / "lib" for prefix in (sys.base_prefix, sys.prefix)]
    return [root, Path(bpy.__file__).parent, *filter(Path.is_dir, libraries), Path("/dev/null"), Path("/dev/urandom")]


def _read_confined(ingest: _Ingest, reading: Reading, log: int) -> str:
    """Read a model, in a forked process; what went wrong in one line, or nothing."""
    import bpy

    confinement.end_with_parent()
    folder = Path(reading.folder)
    bpy.context.preferences.filepaths.temporary_directory = str(folder)
    if not _UNCONFINED:
        confinement.limit()
        confinement.confine(_folders_read(reading.root), [folder])
    try:
        ingest(reading, folder, log)
    except DioramaError as error:
        return str(error) if reading.path.name in str(error) else f"model {reading.path}: {error}"
    except BaseException as error:  # importers raise anything
        kind = reading.path.suffix[1:].upper()
        return f"model {reading.path}: can't be read as {kind}: {_cause_in(str(error)) or type(error).__name__}"
    return ""


def _cause_in(text: str) -> str:
    """Return the line that says what went wrong; operators of Blender raise a whole traceback as their text."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Location:")]
    causes = [line for line in lines if _RAISED.match(line)] if "Traceback" in text else lines
    return (causes or lines or [""])[-1][:300]


def _run_child(ingest: _Ingest, reading: Reading, log: int, sender: Connection) -> None:
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        sender.send_bytes(_read_confined(ingest, reading, log).encode()[:4000])
    finally:
        # Python's own end would run Blender's, which crashes.
        os._exit(3)


def _answer(ingest: _Ingest, reading: Reading) -> str:
    """Read a model in a process of its own; what went wrong in one line, or nothing."""
    receiver, sender = _FORK.Pipe(duplex=False)
    with tempfile.TemporaryFile() as log, receiver:
        child = _FORK.Process(target=_run_child, args=(ingest, reading, log.fileno(), sender))
        child.start()
        sender.close()
        late = not receiver.poll(_WAIT)
        # What it has sent stays; one that was taken over could wait with the rest.
        child.kill()
        child.join()
        with suppress(EOFError, OSError):
            return receiver.recv_bytes(4096).decode("utf-8", "replace").replace("\n", " ")
    cause = f"took longer than {_WAIT:g} s" if late else _cause_of(child.exitcode or 0)
    return f"model {reading.path}: reading it {cause}"


def _cause_of(code: int) -> str:
    match -code:
        case signal.SIGXCPU | signal.SIGKILL:
            return f"took longer than {confinement.SECONDS} s"
        case signal.SIGSEGV | signal.SIGABRT | signal.SIGBUS:
            return f"ended in a crash of Blender, or took more than {confinement.MEMORY >> 30} GB of memory"
        case _:
            return f"ended with exit code {code}"


def main() -> int:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        require_module("bpy")
        from diorama.render.ingest.importing import warm_up
        from diorama.render.ingest.ingest import ingest
    except DioramaError as error:
        answers.write(json.dumps({"missing": str(error)}) + "\n")
        return 1
    warm_up()
    for line in sys.stdin:
        reading = READING.validate_json(line)
        if _UNCONFINED or confinement.is_supported():
            problem = _answer(ingest, reading)
        else:
            problem = f"model {reading.path}: this system can't confine what reads it ({_OPTION}=1 reads it anyway)"
        answers.write(json.dumps({"error": problem} if problem else {}) + "\n")
        answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
