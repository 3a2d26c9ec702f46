"""The warm process that reads models: `python -m diorama.render.ingest`, started by whoever lacks one.

Each line of its input is a `Reading` as JSON, and each line of its output the answer: `{}`, or an error in one line. It
forks for each model, so that whatever a model does (a crash, an endless loop, gigabytes), this process lives on. It
ends with its input, or at once where Blender is missing, and says so.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from diorama.render.ingest import confinement
from diorama.render.machine.blender_series import require_module
from diorama.scene_specs.errors import DioramaError, UsageError
from diorama.scene_specs.shapes.shapenet.loading import Reading

# Seconds until a model that uses no time, such as one that waits for a pipe, is given up.
_WAIT = 1.5 * confinement.SECONDS
# With 1, models are read also on systems that can't confine what reads them.
_OPTION = "DIORAMA_MODELS_UNCONFINED"
_UNCONFINED = os.environ.get(_OPTION) == "1"
_RAISED = re.compile(r"^[\w.]*(?:Error|Exception)\b")
_FORK = get_context("fork")


def _read_confined(reading: Reading, log: int) -> str:
    """Read a model, in a forked process; what went wrong in one line, or nothing."""
    import bpy

    from diorama.render.ingest.ingest import ingest

    folder = Path(reading.folder)
    bpy.context.preferences.filepaths.temporary_directory = str(folder)
    if not _UNCONFINED:
        confinement.limit()
        libraries = filter(Path.is_dir, (Path(prefix) / "lib" for prefix in (sys.base_prefix, sys.prefix)))
        devices = Path("/dev/null"), Path("/dev/urandom")
        confinement.confine([reading.root, Path(bpy.__file__).parent, *libraries, *devices], [folder])
    try:
        ingest(reading, folder, log)
    except DioramaError as error:
        return str(error)
    except BaseException as error:  # importers raise anything
        return f"can't be read as {reading.path.suffix[1:].upper()}: {_cause_in(str(error)) or type(error).__name__}"
    return ""


def _cause_in(text: str) -> str:
    """Return the line that says what went wrong; operators of Blender raise a whole traceback as their text."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Location:")]
    causes = [line for line in lines if _RAISED.match(line)] if "Traceback" in text else lines
    return (causes or lines or [""])[-1][:300]


def _run_child(reading: Reading, log: int, sender: Connection) -> None:
    try:
        # So that what it starts ends with it; the filter keeps that from leaving.
        os.setpgid(0, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sender.send_bytes(_read_confined(reading, log).encode()[:4000])
    finally:
        # Python's own end would run Blender's, which crashes.
        os._exit(3)


def _answer(reading: Reading) -> str:
    """Read a model in a process of its own; what went wrong in one line, or nothing."""
    receiver, sender = _FORK.Pipe(duplex=False)
    with tempfile.TemporaryFile() as log, receiver:
        child = _FORK.Process(target=_run_child, args=(reading, log.fileno(), sender))
        child.start()
        sender.close()
        late = not receiver.poll(_WAIT)
        # What it has sent stays; one that was taken over could wait with the rest.
        assert child.pid is not None
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.kill()
        child.join()
        with suppress(EOFError, OSError):
            return receiver.recv_bytes(4096).decode("utf-8", "replace").replace("\n", " ")
    if late or -(child.exitcode or 0) in (signal.SIGXCPU, signal.SIGKILL):
        return f"reading it took longer than {confinement.SECONDS} s"
    most = f"took more than {confinement.MEMORY >> 30} GB of memory"
    return f"reading it ended in a crash of Blender (exit code {child.exitcode}), or {most}"


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        require_module("bpy")
    except UsageError as error:
        answers.write(json.dumps({"missing": str(error)}))
        return
    from diorama.render.ingest import importing, ingest  # noqa: F401, what a confined process can no longer import

    importing.warm_up()
    for line in sys.stdin:
        asked = json.loads(line)
        reading = Reading(**asked | {key: Path(asked[key]) for key in ("path", "root", "folder")})
        if _UNCONFINED or confinement.is_supported():
            problem = _answer(reading)
        else:
            problem = f"this system can't confine what reads it ({_OPTION}=1 reads it anyway)"
        answers.write(json.dumps({"error": problem} if problem else {}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
